"""Cost models: presets, models of a user's own, and what a model may not do."""

from __future__ import annotations

import math
import runpy
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

import tilesat
from tests.inference.texts import body_of, kernel
from tests.optimal.texts import OPERANDS, place
from tilesat.extract.cost import Frequency, Moves, Traffic, cost_model
from tilesat.extract.count import count_program
from tilesat.extract.transfer import Transfer, TransferKind
from tilesat.ir.hardware import hardware
from tilesat.ir.types import MemorySpace

EXAMPLE = Path(__file__).parents[2] / "examples" / "cost_model.py"
PRODUCT = OPERANDS + "m = pl.matmul(at, bt)\nr = pl.store(m, [0, 0], o)\nreturn r\n"
LOOP = OPERANDS + "for i in pl.range(n):\n    m = pl.matmul(at, bt)\n    pl.store(m, [0, 0], o)\nreturn o\n"


def load(size: int) -> Transfer:
    return Transfer(TransferKind.LOAD, MemorySpace.DDR, MemorySpace.Mat, size)


def move(source: MemorySpace, target: MemorySpace, size: int = 4096) -> Transfer:
    return Transfer(TransferKind.MOVE, source, target, size)


# ------------------------------------------------------------------------------------ presets


def test_traffic_orders_transfers_as_the_hardware_does() -> None:
    """Design, section 6: global memory dearest, then pushes to the other core, then moves inside a core."""
    for chip in ("910b", "950"):
        model = Traffic(hardware(chip) or pytest.fail("no such chip"))
        on_core = model.transfer(move(MemorySpace.Mat, MemorySpace.Left))
        push = model.transfer(move(MemorySpace.Acc, MemorySpace.Vec))
        assert on_core < push < model.transfer(load(4096))


def test_traffic_prefers_fewer_and_smaller_transfers() -> None:
    model = Traffic()
    assert 2 * model.transfer(load(2048)) > model.transfer(load(4096)) > model.transfer(load(2048))


def test_a_push_on_the_950_stays_on_chip() -> None:
    """On the 910B it goes through a buffer in global memory. Peer behaviour, section 9."""
    old, new = (Traffic(hardware(chip) or pytest.fail("no such chip")) for chip in ("910b", "950"))
    push = move(MemorySpace.Acc, MemorySpace.Vec)
    assert new.transfer(push) < old.transfer(push)


def test_moves_counts_moves_first_then_loads_then_bytes() -> None:
    model = Moves()
    one_move = model.transfer(move(MemorySpace.Mat, MemorySpace.Left, 1))
    one_load = model.transfer(load(1))
    assert one_move > 1000 * one_load
    assert one_load > model.transfer(load(1 << 20)) / 2
    assert model.transfer(load(2048)) > one_load


@pytest.mark.parametrize(("trips", "expected"), [(8.0, 8.0), (100.0, 100.0), (0.0, 0.0)])
def test_how_often_loops_run_is_settable(trips: float, expected: float) -> None:
    """Bounds that are not constant count 8 trips; a model may know better."""
    frequency = Frequency(dynamic_trips=trips)
    assert count_program(kernel(LOOP), frequency).stored_bytes == expected * 16 * 32 * 4
    result = tilesat.infer_tile_memory_space(kernel(LOOP), rules="optimal", cost=Traffic(frequency=frequency))
    assert result.cost is not None
    assert (result.cost < 90_000) == (trips == 0.0)


def test_how_often_a_branch_is_taken_is_settable() -> None:
    """Where both arms nearly always run, so to speak, a copy above the ``if`` pays off even for one arm."""
    body = OPERANDS + "if n == 0:\n    m = pl.matmul(at, bt)\n    pl.store(m, [0, 0], o)\nreturn o\n"
    rare, often = (Traffic(frequency=Frequency(branch=share)) for share in (0.01, 1.5))
    assert body_of(place(body, cost=rare)).index("if n") < body_of(place(body, cost=rare)).index("tile.move")
    assert body_of(place(body, cost=often)).index("if n") > body_of(place(body, cost=often)).index("tile.move")


def test_the_cost_of_a_result_is_what_its_transfers_cost() -> None:
    """Two loads, two moves and a store, by hand."""
    result = place(PRODUCT, cost="traffic", hardware="910b")
    loads = 8 * (16 * 64 * 2 + 512) + 8 * (64 * 32 * 2 + 512)
    moves = (16 * 64 * 2 + 64) + (64 * 32 * 2 + 64)
    store = 8 * (16 * 32 * 4 + 512)
    statements = 7
    assert result.cost == loads + moves + store + statements / 64


# ------------------------------------------------------------------------------ a user's models


@dataclass(frozen=True)
class OnlyLoads:
    """Moves are free."""

    name: str = "only-loads"
    frequency: Frequency = field(default_factory=Frequency)

    def transfer(self, transfer: Transfer) -> float:
        return 1.0 if transfer.kind is TransferKind.LOAD else 0.0

    def statement(self) -> float:
        return 0.0


def test_a_class_an_instance_and_a_function_are_models() -> None:
    by_class, by_instance = place(PRODUCT, cost=OnlyLoads), place(PRODUCT, cost=OnlyLoads())
    by_function = place(PRODUCT, cost=lambda t: float(t.kind is TransferKind.LOAD))
    assert by_class.cost == by_instance.cost == 2.0
    assert by_function.cost == pytest.approx(2.0, abs=1e-3)


def test_prices_may_be_any_real_number() -> None:
    assert place(PRODUCT, cost=lambda _: Fraction(1, 3)).cost == pytest.approx(5 / 3, abs=1e-3)


def test_a_file_holds_a_model(tmp_path: Path) -> None:
    """Under the name ``cost_model``."""
    path = tmp_path / "mine.py"
    path.write_text("def cost_model(transfer):\n    return 2 if transfer.touches_global_memory else 1\n")
    assert place(PRODUCT, cost=str(path)).cost == pytest.approx(8, abs=1e-3)
    assert place(PRODUCT, cost=path).cost == pytest.approx(8, abs=1e-3)


def test_the_example_file_is_a_model() -> None:
    result = place(PRODUCT, cost=EXAMPLE, hardware="910b")
    assert result.status == "optimal"
    assert cost_model(EXAMPLE, None).name == "latency"
    assert cost_model(EXAMPLE, None).frequency.dynamic_trips == 32


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["traffic", "moves", "only_cross_core", "Latency"]


# ----------------------------------------------------------------------------- what models may not do


def raising(_: Transfer) -> float:
    raise ZeroDivisionError("no bytes")


@pytest.mark.parametrize(
    ("price", "said"),
    [
        (lambda _: -1.0, "is -1.0"),
        (lambda _: math.nan, "is nan"),
        (lambda _: math.inf, "is inf"),
        (lambda _: 10**400, "is 1000"),
        (lambda _: "cheap", "is 'cheap'"),
        (lambda _: None, "is None"),
        (lambda _: True, "is True"),
        (lambda _: 1j, "is 1j"),
        (raising, "raised ZeroDivisionError: no bytes"),
        (lambda: 1.0, "raised TypeError"),
        (lambda t: t.colour, "raised AttributeError"),
    ],
)
def test_nonsense_is_named(price: object, said: str) -> None:
    """The message says which model, what it was asked, and what it answered."""
    with pytest.raises(tilesat.CostModelError) as caught:
        tilesat.infer_tile_memory_space(kernel(PRODUCT), rules="optimal", cost=price)  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert getattr(price, "__name__", "") in str(caught.value)
    assert "transfer(Transfer(kind=" in str(caught.value)


class NoStatement:
    name = "half-done"
    frequency = Frequency()

    def transfer(self, _: Transfer) -> float:
        return 1.0


class NegativeStatement(NoStatement):
    name = "paid-for-statements"

    def statement(self) -> float:
        return -0.5


class OddFrequency(NegativeStatement):
    name = "odd"
    frequency = Frequency(branch=-1.0)


class RaisingFrequency(NegativeStatement):
    name = "raising"

    @property
    def frequency(self) -> Frequency:  # type: ignore[override]
        raise ValueError("not known yet")


class NeedsArguments:
    def __init__(self, speed: float) -> None:
        self.speed = speed


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (NoStatement, "cost model 'half-done' has no 'statement'"),
        (NegativeStatement(), "'paid-for-statements': statement() is -0.5"),
        (OddFrequency, "'odd': frequency.branch is -1.0"),
        (RaisingFrequency, "'raising': frequency raised ValueError: not known yet"),
        (NeedsArguments, "'NeedsArguments' cannot be made: TypeError"),
        (7, "cost model 'int' has no 'transfer'"),
        ("speed", "unknown cost model 'speed'"),
    ],
)
def test_a_model_that_lacks_a_part_is_refused_before_anything_is_done(model: object, said: str) -> None:
    with pytest.raises(tilesat.CostModelError) as caught:
        cost_model(model, None)  # type: ignore[arg-type]
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def cost_model(t):\n  retrun 1", "is no Python"),
        ("import nosuchmodule", "raised ModuleNotFoundError"),
        ("price = 1", "defines no 'cost_model'"),
        ("cost_model = 3", "has no 'transfer'"),
        ("def cost_model(t):\n    return -1", "mine.py: cost_model"),
    ],
)
def test_a_file_that_is_no_model_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(tilesat.CostModelError) as caught:
        tilesat.infer_tile_memory_space(kernel(PRODUCT), rules="optimal", cost=path)
    assert said in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(tilesat.CostModelError, match=r"there is no cost model file .*gone\.py"):
        cost_model(tmp_path / "gone.py", None)


@pytest.mark.parametrize("options", [{"time_limit": 0}, {"time_limit": math.nan}, {"time_limit": "1"}, {"seed": 0.5}])
def test_options_of_the_search_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(tilesat.SolveError, match=next(iter(options)).replace("_", " ")):
        tilesat.infer_tile_memory_space(kernel(PRODUCT), rules="optimal", **options)  # type: ignore[arg-type]
