"""Random kernels for orchestration: straight, block by block, carried, gathering, in place, windowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from textwrap import dedent

from tilesat.lab.choices import Choices

SMALL, LARGE, HALF = "pl.Tensor[[8, 16], pl.FP32]", "pl.Tensor[[16, 32], pl.FP32]", "pl.Tensor[[4, 16], pl.FP32]"
SHAPES = {SMALL: "[8, 16]", LARGE: "[16, 32]", HALF: "[4, 16]"}
TASK = "pl.Scalar[pl.TASK_ID]"
INDEX = "pl.Scalar[pl.INDEX]"
_INCORE = "@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)"


@dataclass(frozen=True)
class KernelText:
    """A kernel: its text, its parameters as (direction, type), the types it returns."""

    name: str
    lines: tuple[str, ...]
    params: tuple[tuple[str, str], ...]
    returns: tuple[str, ...]


_WORDS = {
    "S": SMALL,
    "L": LARGE,
    "H": HALF,
    "B": "pl.Tensor[[64, 96], pl.FP32]",
    "T": "pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec]",
    "N": INDEX,
    "TASK": TASK,
    "NEW": "pl.tensor.create([8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
    "NEW_L": "pl.tensor.create([16, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
}
_WORD = re.compile(r"\b(" + "|".join(_WORDS) + r")\b")


def spelled(text: str) -> str:
    """``text`` with short names of types spelled out: ``S`` a small tensor, ``L`` a large, ``H`` half a small one,
    ``B`` one larger than all, ``T`` a tile of a small tensor, ``N`` an index; ``NEW`` and ``NEW_L`` make tensors.
    """
    return _WORD.sub(lambda match: _WORDS[match.group()], text)


def written_kernel(name: str, header: str, body: str, *, windowize: bool = False, options: str = "") -> KernelText:
    """A kernel written by hand: ``header`` is ``(parameters) -> results``, types in the short spelling.

    ``options`` are further options of its decorator.
    """
    lines = [_INCORE[:-1] + options + ")", f"def {name}{spelled(header)}:"]
    if windowize:
        lines.append('    pl.func_attr({"windowize": True})')
    lines += [f"    {line}" for line in dedent(spelled(body)).strip("\n").splitlines()]
    return KernelText(name, tuple(lines), (), ())


@dataclass
class _Body:
    choices: Choices
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def tile(self, rows: int, value: str, columns: int = 16) -> str:
        name = self.name("t")
        self.add(f"{name}: pl.Tile[[{rows}, {columns}], pl.FP32, pl.Mem.Vec] = {value}")
        return name

    def load(self, tensor: str, offset: str, rows: int, columns: int = 16) -> str:
        shape = f"[{rows}, {columns}]"
        return self.tile(rows, f"pl.tile.load({tensor}, {offset}, {shape}, {shape}, target_memory=pl.Mem.Vec)", columns)

    def combine(self, a: str, b: str, rows: int, columns: int = 16) -> str:
        op = self.choices.pick(("add", "sub", "mul"))
        return self.tile(rows, f"pl.tile.{op}({a}, {b})", columns)

    def store(self, tile: str, offset: str, tensor: str, type_: str) -> str:
        name = self.name("r")
        self.add(f"{name}: {type_} = pl.tile.store({tile}, {offset}, {tensor})")
        return name


# ----------------------------------------------------------------------------------- kernels


def _kernel(
    name: str,
    body: _Body,
    params: list[tuple[str, str, str]],
    results: list[tuple[str, str]],
    *,
    windowize: bool = False,
) -> KernelText:
    shown = ", ".join(f"{p}: {t if d == 'In' else f'pl.{d}[{t}]'}" for p, d, t in params)
    returns = [t for _, t in results]
    declared = returns[0] if len(returns) == 1 else f"tuple[{', '.join(returns)}]"
    lines = [_INCORE, f"def {name}({shown}) -> {declared}:"]
    if windowize:
        lines.append('    pl.func_attr({"windowize": True})')
    lines += [f"    {line}" for line in body.lines]
    lines.append(f"    return {', '.join(r for r, _ in results)}")
    return KernelText(name, tuple(lines), tuple((d, t) for _, d, t in params), tuple(returns))


def _straight(choices: Choices, name: str) -> KernelText:
    """Loads and stores of wholes and halves in any order; one or two outputs."""
    body = _Body(choices)
    outs = ["o", "p"][: choices.integer(1, 2)]
    params = [("x", "In", SMALL), ("y", "In", SMALL), *((o, "Out", SMALL) for o in outs)]
    whole = [body.load("x", "[0, 0]", 8)]
    results: dict[str, str] = {}
    pending = list(outs)
    for _ in range(choices.integer(0, 4)):
        action = choices.pick(("whole", "combine", "store", "half"))
        if action == "whole":
            whole.append(body.load(choices.pick(("y", "x")), "[0, 0]", 8))
        elif action == "combine":
            whole.append(body.combine(choices.pick(whole), choices.pick(whole), 8))
        elif action == "store":
            out = choices.pick(outs)
            results[out] = body.store(whole[-1], "[0, 0]", out, SMALL)
            pending = [o for o in pending if o != out]
        else:
            half = body.load(choices.pick(("x", "y")), choices.pick(("[0, 0]", "[4, 0]")), 4)
            out = choices.pick(outs)
            results[out] = body.store(half, choices.pick(("[0, 0]", "[4, 0]")), out, SMALL)
    for out in pending:
        results[out] = body.store(whole[-1], "[0, 0]", out, SMALL)
    return _kernel(name, body, params, [(results[o], SMALL) for o in outs])


def _blocks(choices: Choices, name: str) -> KernelText:
    """A loop that stores block by block, reading here or elsewhere."""
    body = _Body(choices)
    read = choices.pick(("r", "4 - r", "0"))
    write = choices.pick(("r", "4 - r", "0"))
    kind = choices.pick(("range", "parallel"))
    body.add(f"for j, (c,) in pl.{kind}(2, init_values=(o,)):")
    inner = _Body(choices, count=10)
    inner.add(f"r: {INDEX} = j * 4")
    inner.add(f"at: {INDEX} = {read}")
    tile = inner.load("x", "[at, 0]", 4)
    if choices.chance(2):
        tile = inner.combine(tile, inner.load("y", "[r, 0]", 4), 4)
    stored = inner.store(tile, f"[{write}, 0]", "c", SMALL)
    inner.add(f"f: {SMALL} = pl.yield_({stored})")
    body.lines += [f"    {line}" for line in inner.lines]
    params = [("x", "In", SMALL), ("y", "In", SMALL), ("o", "Out", SMALL)]
    return _kernel(name, body, params, [("f", SMALL)])


def _carried(choices: Choices, name: str) -> KernelText:
    """An input that goes as a whole through a loop."""
    body = _Body(choices)
    first, second = body.load("x", "[0, 0]", 8), body.load("y", "[0, 0]", 8)
    body.add(f"for k, (s,) in pl.range({choices.integer(1, 3)}, init_values=({first},)):")
    inner = _Body(choices, count=10)
    tile = inner.combine("s", second if choices.chance(2) else inner.load(choices.pick(("y", "x")), "[0, 0]", 8), 8)
    inner.add(f"e: pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec] = pl.yield_({tile})")
    body.lines += [f"    {line}" for line in inner.lines]
    stored = body.store("e", "[0, 0]", "o", SMALL)
    params = [("x", "In", SMALL), ("y", "In", SMALL), ("o", "Out", SMALL)]
    return _kernel(name, body, params, [(stored, SMALL)])


def _gathered(choices: Choices, name: str) -> KernelText:
    """Blocks gathered in a tile: filled or empty, covered or not, nested, guarded, read again, stored at an offset."""
    body = _Body(choices)
    large = choices.chance(3)
    type_, offset = (LARGE, choices.pick(("[0, 0]", "[8, 16]"))) if large else (SMALL, "[0, 0]")
    tile = "pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec]"
    init = choices.pick(
        (
            "pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
            "pl.tile.full([8, 16], dtype=pl.FP32, value=0.5)",
        )
    )
    body.add(f"z: {tile} = {init}")
    rows = choices.pick((4, 2))
    trips = choices.integer(1, 2) if rows == 4 else choices.integer(3, 4)
    body.add(f"for j, (acc,) in pl.range({trips}, init_values=(z,)):")
    inner = _Body(choices, count=10)
    inner.add(f"r: {INDEX} = j * {rows}")
    block = inner.load("x", "[r, 0]", rows)
    place = choices.pick(("[r, 0]", f"[{8 - rows} - r, 0]" if trips * rows == 8 else "[r, 0]", "[0, 0]"))
    if choices.chance(4):
        inner.add("if j == 0:")
        inner.add(f"    n0: {tile} = pl.tile.assemble(acc, {block}, {place})")
        inner.add(f"    n: {tile} = pl.yield_(n0)")
        inner.add("else:")
        inner.add(f"    n: {tile} = pl.yield_(acc)")
    else:
        inner.add(f"n: {tile} = pl.tile.assemble(acc, {block}, {place})")
    inner.add(f"f: {tile} = pl.yield_(n)")
    body.lines += [f"    {line}" for line in inner.lines]
    if choices.chance(5):
        other = body.tile(8, "pl.tile.exp(f)")
        body.store(other, offset, "o", type_)
    if choices.chance(5):
        body.load("x", "[0, 0]", 8)
    stored = body.store("f", offset, "o", type_)
    return _kernel(name, body, [("x", "In", SMALL), ("o", "Out", type_)], [(stored, type_)])


def _inout(choices: Choices, name: str) -> KernelText:
    body = _Body(choices)
    at = choices.pick(("[0, 0]", "[4, 0]"))
    total = body.combine(body.load("x", "[0, 0]", 4), body.load("s", at, 4), 4)
    stored = body.store(total, choices.pick(("[0, 0]", "[4, 0]")), "s", SMALL)
    return _kernel(name, body, [("x", "In", SMALL), ("s", "InOut", SMALL)], [(stored, SMALL)])


def _placed(choices: Choices, name: str) -> KernelText:
    """A small block computed from a window of a large tensor, for an assemble."""
    body = _Body(choices)
    tile = body.load("x", "[r, 0]", 8)
    stored = body.store(tile, "[0, 0]", "o", SMALL)
    return _kernel(name, body, [("x", "In", LARGE), ("r", "In", INDEX), ("o", "Out", SMALL)], [(stored, SMALL)])


def _window(choices: Choices, name: str) -> KernelText:
    """A kernel that writes one window of a large tensor, straight or in a loop, dense or in pieces."""
    body = _Body(choices)
    direction = choices.pick(("Out", "InOut"))
    column = choices.pick(("0", "16"))
    form = choices.pick(("final", "dense", "pieces", "gaps"))
    source = choices.pick(("r", "0"))
    if form == "final":
        tile = body.load("x", f"[{source}, {column}]", 4)
        if direction == "InOut":
            tile = body.combine(tile, body.load("o", f"[{choices.pick(('r', '0'))}, {column}]", 4), 4)
        result = body.store(tile, f"[r, {column}]", "o", LARGE)
        if choices.chance(3):
            result = "o"
    else:
        step = {"dense": 2, "pieces": 3, "gaps": 1}[form]
        base = "r + " if form == "dense" else ""
        body.add(f"for j, (c,) in pl.range({choices.integer(2, 3)}, init_values=(o,)):")
        inner = _Body(choices, count=10)
        inner.add(f"at: {INDEX} = {base}j * {step}")
        tile = inner.load("x", f"[at, {column}]", 2)
        if choices.chance(4):
            tile = inner.combine(tile, inner.load("c", f"[at, {column}]", 2), 2)
        stored = inner.store(tile, f"[at, {column}]", "c", LARGE)
        inner.add(f"f: {LARGE} = pl.yield_({stored})")
        body.lines += [f"    {line}" for line in inner.lines]
        result = "f"
    params = [("x", "In", LARGE), ("r", "In", INDEX), ("o", direction, LARGE)]
    return _kernel(name, body, params, [(result, LARGE)], windowize=True)


def _reader(choices: Choices, name: str) -> KernelText:
    """A windowed input and a whole output."""
    body = _Body(choices)
    tile = body.load("x", f"[r, {choices.pick(('0', '16'))}]", 8)
    stored = body.store(tile, "[0, 0]", "o", SMALL)
    params = [("x", "In", LARGE), ("r", "In", INDEX), ("o", "Out", SMALL)]
    return _kernel(name, body, params, [(stored, SMALL)], windowize=True)


KERNELS: tuple[Callable[[Choices, str], KernelText], ...] = (
    _straight,
    _blocks,
    _carried,
    _gathered,
    _inout,
    _placed,
    _window,
    _reader,
)
