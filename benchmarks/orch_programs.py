"""Whole programs of a given size in which every pattern of the orchestration pass has work to do."""

from __future__ import annotations

from itertools import pairwise

from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse

SMALL, LARGE, INDEX = "pl.Tensor[[8, 16], pl.FP32]", "pl.Tensor[[16, 32], pl.FP32]", "pl.Scalar[pl.INDEX]"
TILE = "pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec]"
_INCORE = "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)"
_ORCH = "    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)"
_OPS = ("add", "sub", "mul", "maximum", "minimum")
FUNCTIONS_PER_GROUP = 5


def grouped(functions: int = 250, lines: int = 20_000) -> Program:
    """``functions`` functions in groups: four kernels and the orchestration function that launches them."""
    groups = functions // FUNCTIONS_PER_GROUP
    each = lines // functions
    text: list[str] = []
    for group in range(groups):
        text += _kernels(group, each)
        text += _main(f"main{group}", [group], rounds=max(1, (each - 4) // _LINES_PER_ROUND))
    return _program(text)


def single(functions: int = 250, lines: int = 20_000) -> Program:
    """The same kernels, all launched by one orchestration function of thousands of lines."""
    groups = (functions - 1) // (FUNCTIONS_PER_GROUP - 1)
    each = lines // functions
    text: list[str] = []
    for group in range(groups):
        text += _kernels(group, each // 2)
    rest = lines - len(text)
    text += _main("main", list(range(groups)), rounds=max(1, rest // _LINES_PER_ROUND))
    return _program(text)


def _program(body: list[str]) -> Program:
    return parse(
        "\n".join(["# pypto.program: Scale", "import pypto.language as pl", "", "@pl.program", "class Scale:", *body])
    )


def _padding(count: int, group: int) -> list[str]:
    """``count`` operations on tiles, from ``t0`` to the tile ``last``."""
    lines = []
    for number in range(1, count + 1):
        op = _OPS[(number + group) % len(_OPS)]
        lines.append(f"        t{number}: {TILE} = pl.tile.{op}(t{number - 1}, t{max(0, number - 3)})")
    return lines


def _kernels(group: int, lines: int) -> list[str]:
    count = max(1, lines - 6)
    load = f"        t0: {TILE} = pl.tile.load(x, [0, 0], [8, 16], [8, 16], target_memory=pl.Mem.Vec)"
    last = f"t{count}"
    half = "pl.Tile[[4, 16], pl.FP32, pl.Mem.Vec]"
    window = f"        t0: {TILE} = pl.tile.load(x, [r, 0], [8, 16], [8, 16], target_memory=pl.Mem.Vec)"
    gather = [
        f"        z: {TILE} = pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
        "        for j, (acc,) in pl.range(2, init_values=(z,)):",
        f"            row: {INDEX} = j * 4",
        f"            b: {half} = pl.tile.load(x, [row, 0], [4, 16], [4, 16], target_memory=pl.Mem.Vec)",
        *_halves(max(1, lines - 10), half),
        f"            n: {TILE} = pl.tile.assemble(acc, h{max(1, lines - 10)}, [row, 0])",
        f"            f: {TILE} = pl.yield_(n)",
        f"        out: {SMALL} = pl.tile.store(f, [0, 0], o)",
        "        return out",
    ]
    return [
        _INCORE,
        f"    def carry{group}(x: {SMALL}, o: pl.Out[{SMALL}]) -> {SMALL}:",
        load,
        *_padding(count, group),
        f"        out: {SMALL} = pl.tile.store({last}, [0, 0], o)",
        "        return out",
        _INCORE,
        f"    def part{group}(x: {SMALL}, o: pl.Out[{SMALL}]) -> {SMALL}:",
        load,
        *_padding(count, group + 1),
        f"        out: {SMALL} = pl.tile.store({last}, [0, 0], o)",
        "        return out",
        _INCORE,
        f"    def gather{group}(x: {SMALL}, o: pl.Out[{SMALL}]) -> {SMALL}:",
        *gather,
        _INCORE,
        f"    def window{group}(x: {LARGE}, r: {INDEX}, o: pl.Out[{LARGE}]) -> {LARGE}:",
        '        pl.func_attr({"windowize": True})',
        window,
        *_padding(count - 1, group + 2),
        f"        out: {LARGE} = pl.tile.store(t{count - 1}, [r, 0], o)",
        "        return out",
    ]


def _halves(count: int, tile: str) -> list[str]:
    names = ["b", *(f"h{number}" for number in range(1, count + 1))]
    return [f"            {new}: {tile} = pl.tile.exp({old})" for old, new in pairwise(names)]


_LINES_PER_ROUND = 17


def _main(name: str, groups: list[int], rounds: int) -> list[str]:
    """An orchestration function: carried loops, blocks placed in a parent, gathers, and windows, over and over."""
    params = f"a: {SMALL}, big: {LARGE}, res: pl.Out[{LARGE}], win: pl.Out[{LARGE}]"
    lines = [_ORCH, f"    def {name}(self, {params}) -> tuple[{LARGE}, {LARGE}]:"]
    parent, windows = "res", "win"
    for r in range(rounds):
        g = groups[r % len(groups)]
        lines += [
            f"        st{r}: {SMALL} = pl.tensor.create([8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
            f"        first{r}: {SMALL} = self.part{g}(sl{r}, st{r})",
            f"        for i{r}, (c{r},) in pl.range(4, init_values=(first{r},)):",
            f"            buf{r}: {SMALL} = pl.tensor.create([8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
            f"            new{r}: {SMALL} = self.carry{g}(c{r}, buf{r})",
            f"            fin{r}: {SMALL} = pl.yield_(new{r})",
            f"        gt{r}: {SMALL} = pl.tensor.create([8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
            f"        got{r}: {SMALL} = self.gather{g}(fin{r}, gt{r})",
            f"        pb{r}: {SMALL} = pl.tensor.create([8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
            f"        pl{r}: {SMALL} = self.carry{g}(got{r}, pb{r})",
            f"        up{r}: {LARGE} = pl.tensor.assemble({parent}, pl{r}, [{8 * (r % 2)}, 0])",
            f"        for k{r}, (w{r},) in pl.range(2, init_values=({windows},)):",
            f"            row{r}: {INDEX} = k{r} * 8",
            f"            wn{r}: {LARGE} = self.window{g}(big, row{r}, w{r})",
            f"            wf{r}: {LARGE} = pl.yield_(wn{r})",
        ]
        lines.insert(len(lines) - 15, f"        sl{r}: {SMALL} = pl.tensor.slice(big, [8, 16], [{8 * (r % 2)}, 16])")
        parent, windows = f"up{r}", f"wf{r}"
    lines.append(f"        return {parent}, {windows}")
    return lines
