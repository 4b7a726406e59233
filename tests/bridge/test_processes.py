"""Functions solved in other processes: what comes back is what one process makes of them, errors included."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner

import tilesat
from tests.bridge.asking import HEAD, JOBS, assert_same, dear, infer, watch_processes
from tests.corpus import DATA, cases
from tilesat import errors
from tilesat.bridge import placing, processes, request
from tilesat.bridge.decisions import Decision
from tilesat.bridge.placing import PlacementTask, SearchOptions
from tilesat.bridge.processes import solve_in_processes
from tilesat.bridge.request import Request
from tilesat.bridge.sending import packed
from tilesat.bridge.work import PlacementWork, StageRules
from tilesat.bridge.workers import FEWEST_TASKS
from tilesat.cli import main
from tilesat.extract.cost import Traffic, cost_model
from tilesat.extract.transfer import Transfer
from tilesat.ir.hardware import CHIPS
from tilesat.ir.nodes import Function, Program
from tilesat.ir_terms.session import Clock, Syntax
from tilesat.lab.firing import firings
from tilesat.lab.scale import many_functions
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import Rule


@pytest.fixture(scope="module")
def many() -> Program:
    """As many different functions as other processes are worth."""
    return many_functions(FEWEST_TASKS, 8, FEWEST_TASKS)


UNKNOWN = (
    HEAD
    + """
    @pl.function(type=pl.FunctionType.InCore)
    def NAME(
        self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        a = pl.load(x, [0, 0], [16, 16])
        NAME_tile: pl.Tile[[16, 16], pl.FP32] = pl.tile.unheard_of(a)
        out_0 = pl.store(NAME_tile, [0, 0], out)
        return out_0
"""
)


def executor() -> Any:
    """What runs the processes that are kept."""
    return processes._kept[os.getpid()].executor


def worker_ids() -> set[int]:
    return set(executor()._processes)


# ------------------------------------------------------------------------------- the same result


@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_the_result_is_that_of_one_process(many: Program, rules: str) -> None:
    """Program, decisions, diagnostics, cost, bound and status."""
    together = infer(many, rules=rules)
    assert_same(together, infer(many, 1, rules=rules))
    assert together.decisions


def test_the_processes_stay_for_the_next_program(few: Program) -> None:
    infer(few, rules="reference")
    before = worker_ids()
    assert 1 <= len(before) <= JOBS
    infer(few, rules="reference")
    assert worker_ids() == before


def test_both_passes_and_explanations(few: Program) -> None:
    """The waterfall places with one rule set after the other, each in the processes."""
    alone, together = (
        tilesat.optimize(few, rules="optimal", hardware="950", cost="moves", explain=True, jobs=jobs)
        for jobs in (1, JOBS)
    )
    assert_same(together, alone)
    assert together.waterfall


def test_progress_is_told_function_by_function_in_order(few: Program) -> None:
    """The fifth function is one of the four under another name: it is solved once."""
    seen: list[tuple[int, str]] = []
    infer(few, progress=lambda done, name: seen.append((done, name)))
    assert seen == [(number, f"kernel{number}") for number in range(4)]


def test_who_looks_on_sees_everything(few: Program) -> None:
    """The laboratory draws its placements from what it is shown, which happens in its own process only."""
    seen: list[str] = []
    token = placing.OBSERVER.set(lambda before, after, places: seen.append(before.name))
    try:
        infer(few)
    finally:
        placing.OBSERVER.reset(token)
    assert len(seen) == 4
    with firings() as found:
        infer(few, rules="reference")
    assert found.fired("fixed-output")


# ------------------------------------------------------------------------------------ cost models


def by_bytes(transfer: Transfer) -> float:
    """A function that other processes find by its name."""
    return float(transfer.bytes or 1)


def test_a_cost_model_that_can_be_imported(few: Program) -> None:
    assert_same(infer(few, cost=by_bytes), infer(few, 1, cost=by_bytes))


def test_a_cost_model_of_a_chip(few: Program) -> None:
    """The tables of a chip are views of dictionaries, which pickle does not know."""
    model = Traffic(CHIPS["950"])
    assert_same(infer(few, cost=model), infer(few, 1, cost=model))


def test_a_cost_model_in_a_file_is_read_again_for_every_pass(
    few: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when its path is relative and this process has changed its folder since the others were started."""
    infer(few)
    monkeypatch.chdir(tmp_path)
    path = Path("price.py")
    for price in (1.0, 2.0):
        path.write_text(f"def cost_model(transfer):\n    return {price}\n")
        together, alone = infer(few, cost=path), infer(few, 1, cost=path)
        assert_same(together, alone)
        assert together.cost is not None
        assert together.cost >= price


@pytest.mark.parametrize("number", [4, 1])
def test_a_cost_model_that_cannot_be_sent_is_refused(few: Program, number: int) -> None:
    """Whether or not the program has functions enough."""
    program = replace(few, functions=few.functions[:number])
    with pytest.raises(tilesat.TilesatError, match="cost model '<lambda>' cannot be sent to another process") as found:
        infer(program, cost=lambda transfer: 1.0)
    assert "jobs=1, or a cost model in a file of its own" in str(found.value)
    assert infer(program, cost=lambda transfer: 1.0, jobs=1).cost is not None


def test_a_cost_model_that_is_not_found_there_is_refused(few: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a function typed in at a prompt: it has a name, but in this process only."""

    def typed_in(transfer: Transfer) -> float:
        return float(transfer.bytes or 1)

    typed_in.__qualname__ = "typed_in"
    monkeypatch.setitem(globals(), "typed_in", typed_in)
    with pytest.raises(tilesat.TilesatError, match=r"cannot be sent to another process: AttributeError: .*typed_in"):
        infer(few, cost=typed_in)


def test_a_rule_need_not_be_sent_with_its_statement_of_soundness(few: Program) -> None:
    """A lambda, as users write it; with a rule that nobody has vouched for."""
    rule = Rule(
        name="users-own",
        family="own",
        phase="placement",
        meaning="Offers nothing.",
        text="(rule ((tile v) (tile w) (!= v w)) ())",
        sound=lambda random: True,
    )
    rules = preset("optimal") + rule
    assert_same(infer(few, rules=rules), infer(few, 1, rules=rules))


def test_the_time_limit_is_one_for_all_processes() -> None:
    """It ends at one time, however late a process begins."""
    clock, chip = Clock(), CHIPS["910b"]
    rules, model = StageRules.of(preset("optimal"), "placement", clock), cost_model("moves", chip)
    here = PlacementWork(rules, chip, "moves", model, SearchOptions(time_limit=50.0))
    earliest = time.time()
    there = pickle.loads(packed(here.sent(), "the work"))
    assert here.deadline is None
    assert earliest <= there.deadline - 50.0 <= time.time()
    late = replace(there, deadline=earliest - 7.0).received()
    for work, most in ((here, 50.0), (late, -7.0)):
        with work.opened(clock) as solve:
            left = solve.__self__._deadline - time.monotonic()  # type: ignore[attr-defined]
        assert most - 20.0 < left <= most


# ----------------------------------------------------------------------------------------- errors


def raised(program: Program, jobs: int, **more: Any) -> tilesat.TilesatError:
    with pytest.raises(tilesat.TilesatError) as found:
        infer(program, jobs, **more)
    return found.value


def with_unknown_op(name: str) -> Function:
    return tilesat.parse(UNKNOWN.replace("NAME", name)).functions[0]


def test_the_error_of_the_first_function_that_fails(few: Program) -> None:
    """Two call an op that the table lacks, and no rule says where its result is."""
    functions = (few.functions[0], with_unknown_op("first"), few.functions[1], with_unknown_op("second"))
    program, rules = replace(few, functions=functions), preset("optimal").without("unknown-op")
    together, alone = raised(program, JOBS, rules=rules), raised(program, 1, rules=rules)
    assert type(together) is type(alone) is tilesat.SolveError
    assert str(together) == str(alone)
    assert "no rule gives tile 'first_tile' a memory space" in str(together)


def test_errors_of_a_cost_model(few: Program) -> None:
    together, alone = raised(few, JOBS, cost=dear), raised(few, 1, cost=dear)
    assert type(together) is type(alone) is tilesat.CostModelError
    assert str(together) == str(alone)


@pytest.mark.parametrize(
    "kind",
    [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, tilesat.TilesatError)],
)
def test_every_error_can_come_back(kind: type[tilesat.TilesatError]) -> None:
    error = kind("what", location=errors.Location("file.py", 3, 5, "f"), hint="what would be right")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.message, again.location, again.hint) == (error.message, error.location, error.hint)
    assert str(again) == str(error) == "file.py:3:5 in function 'f': what (what would be right)"


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True, "2", None])
def test_jobs_is_a_number_of_processes(few: Program, jobs: Any) -> None:
    for run in (tilesat.infer_tile_memory_space, tilesat.optimize):
        with pytest.raises(tilesat.TilesatError, match=r"jobs is .*an integer of at least 1"):
            run(few, jobs=jobs)


# -------------------------------------------------------------------------------- lost processes


@dataclass(frozen=True)
class Halves:
    """Halves even numbers; an odd one ends the process."""

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[Callable[[Sequence[int]], list[int]]]:
        def solve(numbers: Sequence[int]) -> list[int]:
            if any(number % 2 for number in numbers):
                os._exit(1)
            return [number // 2 for number in numbers]

        clock.seconds["halve"] = 1.0
        yield solve

    def size(self, task: int) -> int:
        return 1

    def sent(self) -> Self:
        return self

    def received(self) -> Self:
        return self


def test_a_process_that_ends_in_the_middle() -> None:
    """The cure is named, and the next call has new processes."""
    clock = Clock()
    assert solve_in_processes(list(range(0, 40, 2)), Halves(), clock, JOBS) == list(range(20))
    assert clock.seconds["halve"] == 10.0, "batches of two, since every worker should get several"
    before = worker_ids()
    with pytest.raises(tilesat.TilesatError, match="a worker process ended without an answer") as found:
        solve_in_processes([0, 2, 4, 5], Halves(), Clock(), JOBS)
    assert "jobs=1" in str(found.value)
    assert solve_in_processes([2, 4], Halves(), Clock(), JOBS) == [1, 2]
    assert not before & worker_ids()


def test_processes_that_end_between_two_calls() -> None:
    """Ctrl-C at a prompt does that: nobody needs to hear of it."""
    assert solve_in_processes([2, 4], Halves(), Clock(), JOBS) == [1, 2]
    notices = executor()._executor_manager_thread
    for worker in list(executor()._processes.values()):
        worker.kill()
    notices.join(timeout=30)
    assert solve_in_processes([2, 4], Halves(), Clock(), JOBS) == [1, 2]


# ----------------------------------------------------------------------------------- what is sent


def test_programs_survive_the_way() -> None:
    for program in [case.before for case in cases()]:
        again = pickle.loads(packed(program, "a program"))
        assert again == program
        assert str(again) == str(program)


def test_decisions_survive_the_way(few: Program) -> None:
    decisions = infer(few, 1).decisions
    assert pickle.loads(packed(decisions, "decisions")) == decisions
    assert all(isinstance(decision, Decision) for decision in decisions)


def test_a_task_goes_without_its_syntax(few: Program) -> None:
    function = few.functions[0]
    task = PlacementTask(function, frozenset({"a"}), frozenset({"b"}), {"a": frozenset({0})}, Syntax.of(function))
    again = pickle.loads(packed(task, "a task"))
    assert again == task
    assert again.syntax is None


@pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)
def test_chips_survive_the_way(chip: Any) -> None:
    assert pickle.loads(packed(chip, "a chip")) == chip


# ------------------------------------------------------------------------------- the command line

SOURCE = str(DATA / "cases" / "I07" / "before.py")


def test_the_command_asks_for_processes(few: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "many.py"
    source.write_text(str(few))
    asked: list[int] = []
    watch_processes(monkeypatch, lambda one: asked.append(one.jobs))
    arguments = ["opt", str(source), "--rules", "optimal", "--hardware", "910b"]
    alone, together = (CliRunner().invoke(main, [*arguments, *more]) for more in ((), ("--jobs", str(JOBS))))
    assert together.exit_code == 0
    assert (together.stdout, together.stderr) == (alone.stdout, alone.stderr)
    assert asked == [JOBS], "inference and placement at once"


def test_the_command_takes_all_processors_where_that_pays_off(few: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "processors", lambda: 6)
    monkeypatch.setattr(request, "WORTH_PROCESSES", sum(len(f.body) for f in few.functions))
    assert Request("infer", "optimal").jobs_for(few) == 6
    assert Request("infer", "optimal", jobs=2).jobs_for(few) == 2, "as told"
    assert Request("infer", "reference").jobs_for(few) == 1, "little to do"
    assert Request("infer", "optimal", cost=lambda transfer: 1.0).jobs_for(few) == 1, "cannot be sent"
    assert Request("infer", "optimal").jobs_for(replace(few, functions=few.functions[1:])) == 1, "too few statements"
    monkeypatch.setattr(request, "processors", lambda: 64)
    assert Request("infer", "optimal").jobs_for(few) == request.MOST_JOBS
    assert request.MOST_JOBS < 64


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--jobs", "0"), "--jobs"),
        (("--jobs", "all"), "--jobs"),
        (("--jobs", "2", "--pass", "orch"), "--jobs is about functions solved one by one"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], said: str) -> None:
    """One message, exit status 2, no program."""
    done = CliRunner().invoke(main, ["opt", SOURCE, *arguments])
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.output


def test_processes_are_no_question_of_choice() -> None:
    """The reference rules leave nothing to choose, and there is as much to do."""
    Request("infer", "reference", jobs=JOBS).check()
    Request("all", "reference", jobs=JOBS).check()
