"""Generated programs full of loads that might be resident: loops, writes, overlapping windows, all kinds of callers.

Tensors are 32 x 32 windows of storages of 48 x 48, at offsets that overlap; tiles are 16 x 16. Kernels load through
In and InOut parameters and write through InOut and Out parameters (and once in a while through In ones).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tilesat.lab.choices import Choices, Weighted

# What keeps loads in their loops, or would do harm if it did not. A program has few of them.
HAZARDS = (
    *("overlap", "external", "unknown", "submit", "wrapper", "other launch", "written In", "InOut source"),
    *(
        "manual",
        "slice",
        "alias",
        "assemble",
        "branch",
        "effect",
        "parallel",
        "pipeline",
        "dynamic",
        "empty",
        "backwards",
    ),
    *("store first", "outer panel"),
)
MOST_HAZARDS = 3
TENSOR, STORAGE, TILE = "pl.Tensor[[32, 32], pl.FP32]", "pl.Tensor[[48, 48], pl.FP32]", "[16, 16]"
WINDOWS = ("[0, 0]", "[16, 0]", "[0, 16]", "[8, 8]")
MOST_TENSORS = 4


@dataclass
class Kernel:
    """A kernel's text and what a caller has to know of it."""

    name: str
    directions: list[str]
    lines: list[str]

    def text(self, indent: str) -> list[str]:
        wrapped = {"In": TENSOR, "InOut": f"pl.InOut[{TENSOR}]", "Out": f"pl.Out[{TENSOR}]"}
        params = [f"t{k}: {wrapped[direction]}" for k, direction in enumerate(self.directions)]
        head = f"def {self.name}({', '.join([*params, 'rows: pl.Scalar[pl.INDEX]'])}):"
        return [
            f"{indent}@pl.function(type=pl.FunctionType.InCore)",
            f"{indent}{head}",
            *(f"{indent}    {line}" for line in self.lines),
        ]


@dataclass
class _Body:
    """The statements of a kernel as they are made."""

    choices: Choices
    directions: list[str]
    hazards: frozenset[str]
    lines: list[str] = field(default_factory=list)
    indent: str = ""
    panels: list[str] = field(default_factory=list)
    """Mat tiles in scope."""
    offsets: list[str] = field(default_factory=lambda: ["0", "16", "8"])
    """Numbers in scope, 0 to 16."""
    depth: int = 0
    count: int = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def add(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def has(self, hazard: str, one_in: int = 3) -> bool:
        return hazard in self.hazards and self.choices.chance(one_in)

    def readable(self) -> str:
        kinds = ("In", "InOut") if self.has("InOut source") else ("In",)
        return f"t{self.choices.pick([k for k, direction in enumerate(self.directions) if direction in kinds] or [0])}"

    def writable(self) -> str:
        if self.has("written In", 6):
            return self.readable()
        return f"t{self.choices.pick([k for k, direction in enumerate(self.directions) if direction != 'In'])}"

    def position(self) -> str:
        return f"[{self.choices.select(self.offsets)}, {self.choices.select(self.offsets)}]"

    def window(self) -> str:
        """Where to load from: more often than not the same in every trip."""
        return "[0, 0]" if self.choices.chance(2) else self.position()

    # -------------------------------------------------------------------------- statements

    def block(self, statements: int) -> None:
        kinds: list[tuple[Callable[[], None], int]] = [
            (self.product, 8),
            (self.store, 1),
            (self.loop, 4 if self.depth < 3 else 0),
            (self.branch, 2 if self.depth < 4 and "branch" in self.hazards else 0),
            (self.number, 1),
            (self.effect, 1 if "effect" in self.hazards else 0),
        ]
        if self.has("store first"):
            self.store()
        self.choices.span(self.product)
        for _ in range(statements):
            self.choices.span(Weighted(kinds).pick(self.choices))

    def nested(self, statements: int, own: list[str]) -> None:
        """A block one level in, in which the numbers ``own`` are known too."""
        panels, offsets, outer = list(self.panels), list(self.offsets), self.indent
        self.indent += "    "
        self.offsets = [*own, *self.offsets]
        self.depth += 1
        self.block(statements)
        self.depth -= 1
        self.panels, self.offsets, self.indent = panels, offsets, outer

    def loop(self) -> None:
        index = self.name("n")
        kind, bound = "pl.range({})", Weighted([("0, 32, 16", 6), ("0, 16, 8", 3), ("0, 16, 16", 2)]).pick(self.choices)
        for hazard, other in (("parallel", "pl.parallel({})"), ("pipeline", "pl.pipeline({}, stage=2)")):
            kind = other if self.has(hazard) else kind
        for hazard, other in (("dynamic", "0, rows, 16"), ("empty", "16, 16, 8"), ("backwards", "16, -8, -8")):
            bound = other if self.has(hazard) else bound
        self.add(f"for {index} in {kind.format(bound)}:")
        self.nested(self.choices.integer(0, 2), [index])

    def branch(self) -> None:
        self.add(f"if {self.choices.select(self.offsets)} > {self.choices.pick(('0', '8'))}:")
        self.nested(self.choices.integer(0, 1), [])
        if self.choices.chance(3):
            self.add("else:")
            self.nested(0, [])

    def number(self) -> None:
        name, old = self.name("k"), self.choices.select(self.offsets)
        if self.choices.chance(3):
            self.add(f"if {old} > 8:")
            self.add(f"    {name} = pl.yield_({self.choices.select(self.offsets)})")
            self.add("else:")
            self.add(f"    {name} = pl.yield_(0)")
        else:
            self.add(f"{name} = {old} // 2")
        self.offsets.insert(0, name)

    def effect(self) -> None:
        line = self.choices.pick(("pl.system.bar_all()", "self.helper()", "pl.system.unheard_of()"))
        self.add(line)

    def store(self) -> None:
        tile = self.name("z")
        self.add(f"{tile} = pl.full({TILE}, dtype=pl.FP32, value={self.choices.integer(1, 9)}.0)")
        self.add(f"pl.store({tile}, {self.position()}, {self.writable()})")

    def product(self) -> None:
        """A product of two staged panels, stored."""
        left, right = self.staged("Left"), self.staged("Right")
        result = self.name("c")
        self.add(f"{result} = pl.matmul({left}, {right})")
        if self.choices.chance(4):
            also = self.name("c")
            self.add(f"{also} = pl.matmul_acc({result}, {left}, {right})")
            result = also
        self.add(f"pl.store({result}, {self.position()}, {self.writable()})")

    def staged(self, side: str) -> str:
        outer = "outer panel" in self.hazards
        panel = self.choices.select(self.panels) if outer and self.panels and self.choices.chance(2) else self.panel()
        source = panel
        if self.choices.chance(4):
            source = self.name("v")
            self.add(f"{source} = pl.tile.transpose_view({panel})")
        tile = self.name("l" if side == "Left" else "r")
        if self.choices.chance(3):
            self.add(f"{tile} = pl.tile.extract({source}, 0, 0, {TILE}, target_memory=pl.Mem.{side})")
        else:
            self.add(f"{tile} = pl.move({source}, target_memory=pl.Mem.{side})")
        if self.has("alias"):
            alias = self.name("a")
            self.add(f"{alias} = {tile}")
            tile = alias
        return tile

    def panel(self) -> str:
        """A tile loaded into Mat."""
        name = self.name("m")
        mark = "" if self.has("manual") else ", MARK"
        source = self.readable()
        if self.has("slice"):
            window = self.name("w")
            self.add(f"{window} = pl.tensor.slice({source}, [32, 32], [0, 0])")
            source = window
        self.add(f"{name} = pl.load({source}, {self.window()}, {TILE}, target_memory=pl.Mem.Mat{mark})")
        if self.has("assemble"):
            part, changed = self.name("p"), self.name("m")
            self.add(f"{part} = pl.load({self.readable()}, {self.window()}, {TILE}, target_memory=pl.Mem.Mat)")
            self.add(f"{changed} = pl.tile.assemble({name}, {part}, [0, 0])")
        self.panels.insert(0, name)
        return name


def _kernel(choices: Choices, name: str, hazards: frozenset[str]) -> Kernel:
    directions = [choices.pick(("In", "In", "InOut", "Out")) for _ in range(choices.integer(0, MOST_TENSORS - 2))]
    directions = ["In", *directions, choices.pick(("Out", "InOut"))]
    body = _Body(choices, directions, hazards)
    choices.span(body.loop)
    for _ in range(choices.integer(0, 2)):
        choices.span(choices.pick((body.loop, body.store, body.product)))
    return Kernel(name, directions, body.lines)


# --------------------------------------------------------------------------------- callers


@dataclass
class _Caller:
    """The statements of the root orchestration function."""

    choices: Choices
    hazards: frozenset[str]
    lines: list[str] = field(default_factory=list)
    storages: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)
    count: int = 0
    wrapped: set[str] = field(default_factory=set)

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def has(self, hazard: str) -> bool:
        return hazard in self.hazards and self.choices.chance(3)

    def storage(self) -> str:
        """A storage of its own, or one that is there."""
        if self.has("external"):
            return "given"
        if self.storages and self.has("overlap"):
            return self.choices.select(self.storages)
        name = self.name("s")
        self.lines.append(f"{name} = pl.create_tensor([48, 48], dtype=pl.FP32)")
        self.storages.append(name)
        return name

    def tensor(self) -> str:
        """A tensor to pass: a window of a storage, under one name or another, or one that was made before."""
        if self.tensors and self.has("overlap"):
            return self.choices.select(self.tensors)
        if self.has("external"):
            return "other"
        name, source = self.name("x"), self.storage()
        self.lines.append(f"{name} = pl.slice({source}, [32, 32], {self.choices.pick(WINDOWS)})")
        shape = self.choices.pick(("plain", "alias", "branch", "tuple", "same", "whole"))
        if shape == "alias":
            name = self._bind("{} = " + name)
        elif shape == "branch" and self.tensors:
            new = self.name("x")
            self.lines += ["if rows > 8:", f"    {new} = pl.yield_({name})", "else:"]
            self.lines.append(
                f"    {new} = pl.yield_({self.choices.select(self.tensors) if self.has('overlap') else name})"
            )
            name = new
        elif shape == "tuple":
            pair, again = self.name("q"), self.name("q")
            type_ = f"pl.Tuple[{TENSOR}, {TENSOR}]"
            self.lines.append(f"{pair}: {type_} = [{name}, {name}]")
            if self.has("unknown"):
                self.lines.append(f"{again}: {type_} = {pair}")
                pair = again
            name = self._bind("{} = " + pair + "[0]")
        elif shape == "same":
            name = self._bind("{} = self.same(" + name + ")")
        elif shape == "whole":
            name = self._bind("{} = pl.slice(" + name + ", [32, 32], [0, 0])")
        self.tensors.append(name)
        return name

    def _bind(self, statement: str) -> str:
        name = self.name("x")
        self.lines.append(statement.format(name))
        return name

    def launch(self, kernel: Kernel) -> None:
        arguments = ", ".join([*(self.tensor() for _ in kernel.directions), "rows"])
        how = next((hazard for hazard in ("submit", "wrapper") if self.has(hazard)), "call")
        if how == "submit":
            self.lines.append(f"{self.name('d')} = pl.submit(self.{kernel.name}, {arguments})")
        elif how == "wrapper":
            self.wrapped.add(kernel.name)
            self.lines.append(f"self.{kernel.name}_wrapper({arguments})")
        elif self.choices.chance(4):
            self.lines += [f"for {self.name('i')} in pl.range(2):", f"    self.{kernel.name}({arguments})"]
        else:
            self.lines.append(f"self.{kernel.name}({arguments})")


HELPERS = f"""\
    @pl.function(type=pl.FunctionType.InCore)
    def helper():
        pass
    @pl.function(type=pl.FunctionType.Orchestration)
    def same(self, x: {TENSOR}) -> {TENSOR}:
        return x"""


def generate(choices: Choices, *, hazards: tuple[str, ...] = HAZARDS) -> str:
    """The text of a program, entered at ``main(given, other, rows)``.

    ``given`` is a storage that is read and written, ``other`` a tensor like a kernel's, ``rows`` one of 0, 16 and 32.
    The program has at most three of ``hazards``.
    """
    picked = frozenset(choices.pick(hazards) for _ in range(choices.integer(0, MOST_HAZARDS if hazards else 0)))
    made = [_kernel(choices, f"kernel{k}", picked) for k in range(choices.integer(1, 2))]
    caller = _Caller(choices, picked)
    for kernel in made:
        for _ in range(2 if "other launch" in picked else 1):
            choices.span(partial(caller.launch, kernel))
    lines = ["@pl.program", "class Generated:", HELPERS]
    for kernel in made:
        lines += kernel.text("    ")
        if kernel.name in caller.wrapped:
            lines += _wrapper(kernel)
    returned = caller.storages
    result = f" -> tuple[{', '.join([STORAGE] * len(returned))}]" if len(returned) > 1 else f" -> {STORAGE}"
    lines += [
        "    @pl.function(type=pl.FunctionType.Orchestration)",
        f"    def main(self, given: pl.InOut[{STORAGE}], other: pl.InOut[{TENSOR}], rows: pl.Scalar[pl.INDEX])"
        f"{result if returned else ''}:",
        *(f"        {line}" for line in caller.lines),
    ]
    if returned:
        lines.append(f"        return {', '.join(returned)}")
    return "\n".join(lines) + "\n"


def _wrapper(kernel: Kernel) -> list[str]:
    text = Kernel(f"{kernel.name}_wrapper", kernel.directions, []).text("    ")
    arguments = ", ".join([*(f"t{k}" for k in range(len(kernel.directions))), "rows"])
    text[0] = "    @pl.function(type=pl.FunctionType.Spmd)"
    return [text[0], text[1].replace("(t0", "(self, t0"), f"        self.{kernel.name}({arguments})"]
