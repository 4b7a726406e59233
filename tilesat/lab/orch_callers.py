"""Orchestration functions at random: launches of kernels on shared buffers, in loops and branches.

Full of what makes rewriting hard: buffers used again, kernels that read after they wrote, slices that overlap, carries
that swap, results of branches. Programs stay inside their buffers and never write a parameter In.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

from tilesat.lab.choices import Choices
from tilesat.lab.orch_kernels import INDEX, LARGE, SHAPES, SMALL, TASK, KernelText, spelled, written_kernel

_ORCH = "@pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)"


@dataclass(frozen=True)
class Tensor:
    """A tensor in scope: its name, its type as text, whether it may be written."""

    name: str
    type: str
    is_writable: bool


Params = tuple[tuple[str, str, str], ...]
"""Name, direction and type of each parameter."""
MAIN_NAME = "main"
MAIN: Params = (
    *((name, "In", SMALL) for name in ("a", "b", "c", "d", "e")),
    ("big", "In", LARGE),
    ("n", "In", INDEX),
    ("res", "Out", LARGE),
    ("io", "InOut", SMALL),
)
PART_NAME = "part"
PART: Params = (
    ("p", "In", SMALL),
    ("q", "In", SMALL),
    ("wide", "In", LARGE),
    ("n", "In", INDEX),
    ("s", "InOut", SMALL),
)


class Caller:
    """Emits an orchestration function, which launches ``kernels``."""

    def __init__(self, choices: Choices, name: str, params: Params, kernels: list[KernelText], budget: int) -> None:
        self.choices = choices
        self.name = name
        self.params = [(p, direction, spelled(type_)) for p, direction, type_ in params]
        self.heads: list[str] = []
        """Lines of the program before its class."""
        self.added: list[KernelText] = []
        """Functions that scenes bring along."""
        self.shown: list[Tensor] = []
        """What the function returns besides what chance picks."""
        self.kernels = kernels
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        self.budget = budget
        self.indices: list[str] = []
        self.launched: dict[str, bool] = {}
        """Kernels that a loop carries."""
        tensors = [(p, direction, type_) for p, direction, type_ in self.params if type_ != INDEX]
        self.unused = [p for p, direction, type_ in reversed(tensors) if (direction, type_) == ("In", SMALL)][1:]
        """Small inputs that nothing uses so far: loops start from them, if the simplest comes about."""
        self.scope = [Tensor(p, type_, direction != "In") for p, direction, type_ in tensors]

    def text(self) -> KernelText:
        """A function of random statements."""
        self.statements(self.choices.integer(2, 5))
        return self.finished()

    def finished(self) -> KernelText:
        """The function as it is, with a return."""
        chosen = self._returned() if self.name in (MAIN_NAME, PART_NAME) else []
        returned = list(dict.fromkeys([*self.shown, *chosen]))
        types = tuple(t.type for t in returned)
        declared = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        shown = ", ".join(f"{p}: {t if d == 'In' else f'pl.{d}[{t}]'}" for p, d, t in self.params)
        lines = [_ORCH, f"def {self.name}(self, {shown}) -> {declared}:", *self.lines]
        lines.append(f"    return {', '.join(t.name for t in returned)}")
        return KernelText(self.name, tuple(lines), tuple((d, t) for _, d, t in self.params), types)

    def _returned(self) -> list[Tensor]:
        """What others may write: nobody else's inputs, where somebody calls this function."""
        scope = [t for t in reversed(self.scope) if t.is_writable or self.name == MAIN_NAME]
        found = [self.choices.pick(scope) for _ in range(self.choices.integer(1, 2))]
        return list(dict.fromkeys(found))

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_{self.count}"

    def _add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.budget > 0:
                self.budget -= 1
                self.choices.span(self._statement)

    def _statement(self) -> None:
        kinds = ["call", "carry", "loop", "call", "carry", "assemble", "branch", "alias", "slice", "submit", "while"]
        kind = self.choices.pick(kinds)
        {
            "call": lambda: self._launch(submit=False),
            "submit": self._submit,
            "loop": self._loop,
            "carry": self._carry,
            "while": self._while,
            "assemble": self._assemble,
            "branch": self._branch,
            "alias": self._alias,
            "slice": self._slice,
        }[kind]()

    # ------------------------------------------------------------------------- tensors

    def _pick(self, type_: str, *, writable: bool = False) -> Tensor | None:
        found = [
            t
            for t in reversed(self.scope)
            if t.type == type_ and (t.is_writable or not writable) and t.name not in self.unused
        ]
        return self.choices.pick(found[:6]) if found else None

    def bind(self, name: str, type_: str, writable: bool) -> Tensor:
        tensor = Tensor(name, type_, writable)
        self.scope.append(tensor)
        return tensor

    def create(self, type_: str) -> str:
        name = self.fresh("buf")
        made = f"pl.tensor.create({SHAPES[type_]}, dtype=pl.FP32, layout=pl.TensorLayout.ND)"
        self._add(f"{name}: {type_} = {made}")
        return name

    # --------------------------------------------------------------------- for scenes

    def emit(self, text: str) -> None:
        """Add statements, in the short spelling of :func:`tilesat.lab.orch_kernels.spelled`."""
        for line in dedent(spelled(text)).strip("\n").splitlines():
            self._add(line)

    def kernel(self, header: str, body: str, *, windowize: bool = False, options: str = "") -> str:
        """Add a kernel with ``header`` (its parameters and result) and ``body``; its name."""
        name = f"s{len(self.added)}"
        self.added.append(written_kernel(name, header, body, windowize=windowize, options=options))
        return name

    def include(self, function: Caller) -> str:
        """Add another orchestration function with what it brings along; its name."""
        self.added += [*function.added, function.finished()]
        self.heads += function.heads
        return function.name

    def param(self, prefix: str, direction: str, type_: str) -> str:
        """A parameter of the function besides those it has anyway; its name."""
        name = self.fresh(prefix)
        self.params.append((name, direction, spelled(type_)))
        return name

    def any_tensor(self, type_: str = SMALL, *, writable: bool = False) -> str:
        """A tensor in scope, or a parameter where there is none."""
        found = self._pick(type_, writable=writable)
        return self.param("io", "InOut" if writable else "In", type_) if found is None else found.name

    def made(self) -> str:
        """A small tensor that the function itself has made and filled."""
        name = self.fresh("made")
        self.emit(f"{name}: S = pl.tensor.assemble({self.create(SMALL)}, {self.any_tensor()}, [0, 0])")
        return name

    def show(self, name: str, type_: str = SMALL, *, writable: bool = True) -> None:
        """Return ``name`` from the function, and let what follows use it."""
        self.shown.append(self.bind(name, spelled(type_), writable))

    def _alias(self) -> None:
        source = self.choices.pick(list(reversed(self.scope)))
        name = self.fresh("al")
        self._add(f"{name}: {source.type} = {source.name}")
        self.bind(name, source.type, source.is_writable)

    def _slice(self) -> None:
        source = self._pick(LARGE)
        assert source is not None
        name = self.fresh("sl")
        offset = self.choices.pick(("[0, 0]", "[8, 16]", "[4, 8]"))
        self._add(f"{name}: {SMALL} = pl.tensor.slice({source.name}, [8, 16], {offset})")
        self.bind(name, SMALL, source.is_writable and self.choices.chance(3))

    def _assemble(self) -> None:
        target, source = self._pick(LARGE, writable=True), self._pick(SMALL)
        if target is None or source is None:
            self._alias()
            return
        name = self.fresh("as")
        offset = self.choices.pick(("[0, 0]", "[8, 16]", f"[{self._row()}, 0]"))
        self._add(f"{name}: {LARGE} = pl.tensor.assemble({target.name}, {source.name}, {offset})")
        self.bind(name, LARGE, True)

    def _row(self) -> str:
        options = ["0", "4", "8", *(f"{i} * 4" for i in self.indices[-1:]), *(f"{i} * 2" for i in self.indices[-1:])]
        return self.choices.pick(options)

    # ------------------------------------------------------------------------ launches

    def _arguments(self, kernel: KernelText) -> list[str]:
        args = []
        for direction, type_ in kernel.params:
            if type_ == INDEX:
                args.append(self._row())
                continue
            writes = direction != "In"
            found = self._pick(type_, writable=writes)
            fresh = direction == "Out" and (found is None or not self.choices.chance(3 if type_ == SMALL else 2))
            if fresh and type_ == LARGE and found is not None:
                fresh = self.choices.chance(2)
            args.append(self.create(type_) if fresh or found is None else found.name)
        return args

    def _launch(self, *, submit: bool) -> None:
        # Mostly kernels that no loop carries: those must be merged at every launch.
        calm = [k for k in self.kernels if k.name not in self.launched]
        kernel = self.choices.pick(calm if calm and not self.choices.chance(4) else self.kernels)
        submit = submit and kernel.name != PART_NAME
        args = ", ".join(self._arguments(kernel))
        types = list(kernel.returns)
        if submit:
            whole = self.fresh("task")
            self._add(f"{whole}: pl.Tuple[{', '.join([*types, TASK])}] = pl.submit(self.{kernel.name}, {args})")
            self._project(whole, [*types, TASK])
        elif len(types) == 1:
            name = self.fresh("v")
            self._add(f"{name}: {types[0]} = self.{kernel.name}({args})")
            self.bind(name, types[0], True)
        else:
            whole = self.fresh("pair")
            self._add(f"{whole}: pl.Tuple[{', '.join(types)}] = self.{kernel.name}({args})")
            self._project(whole, types)

    def _project(self, whole: str, types: list[str]) -> None:
        for position, type_ in enumerate(types):
            name = self.fresh("v")
            self._add(f"{name}: {type_} = {whole}[{position}]")
            if type_ != TASK:
                self.bind(name, type_, True)

    def _submit(self) -> None:
        if not self.choices.chance(2):
            self._launch(submit=True)
            return
        self._add("with pl.scope(mode=pl.ScopeMode.MANUAL):")
        self.indent += 1
        self._launch(submit=True)
        self.indent -= 1

    # -------------------------------------------------------------------------- blocks

    def _inits(self) -> list[Tensor]:
        first = self.choices.pick(list(reversed(self.scope)))
        inits = [first]
        if self.choices.chance(2):
            inits.append(self.choices.pick([t for t in reversed(self.scope) if t.type == first.type]))
        return inits

    def _body(self, inits: list[Tensor], carries: list[str], extra: str = "") -> list[str]:
        """The statements of a loop body and its yield; the names of the loop's results."""
        outside = list(self.scope)
        for init, carry in zip(inits, carries, strict=True):
            self.bind(carry, init.type, init.is_writable)
        self.statements(self.choices.integer(1, 3))
        values = [self._yielded(init) for init in inits]
        results = [self.fresh("out") for _ in inits]
        self.scope = outside
        if len(results) == 1 and not extra:
            self._add(f"{results[0]}: {inits[0].type} = pl.yield_({values[0].name})")
        else:
            names = ", ".join([*([f"k_{self.count}"] if extra else []), *results])
            self._add(f"{names} = pl.yield_({', '.join([*([extra] if extra else []), *(v.name for v in values)])})")
        self.indent -= 1
        for init, result, value in zip(inits, results, values, strict=True):
            self.bind(result, init.type, init.is_writable and value.is_writable)
        return results

    def _yielded(self, init: Tensor) -> Tensor:
        found = self._pick(init.type, writable=init.is_writable)
        assert found is not None
        return found

    def _loop(self) -> None:
        inits = self._inits()
        carries = [self.fresh("c") for _ in inits]
        index = self.fresh("i")
        kind = self.choices.pick(("range", "range", "parallel"))
        trips = self.choices.pick(("2", "3", "1"))
        names = ", ".join(carries) + ("," if len(carries) == 1 else "")
        values = ", ".join(t.name for t in inits) + ("," if len(inits) == 1 else "")
        self._add(f"for {index}, ({names}) in pl.{kind}({trips}, init_values=({values})):")
        self.indent += 1
        self.indices.append(index)
        self._body(inits, carries)
        self.indices.pop()

    def _carry(self) -> None:
        """A loop that feeds a kernel's results back through fresh buffers, more or less."""
        fitting = [k for k in self.kernels if ("Out", SMALL) in k.params and ("In", SMALL) in k.params]
        if not fitting:
            self._loop()
            return
        kernel = self.choices.pick(fitting)
        self.launched[kernel.name] = True
        count = min(len(kernel.returns), self.choices.integer(1, 2))
        inits = [self._start() for _ in range(count)]
        carries = [self.fresh("c") for _ in inits]
        index = self.fresh("i")
        names, values = ", ".join(carries), ", ".join(t.name for t in inits)
        comma = "," if count == 1 else ""
        self._add(
            f"for {index}, ({names}{comma}) in pl.range({self.choices.integer(1, 3)}, init_values=({values}{comma})):"
        )
        self.indent += 1
        outside = list(self.scope)
        for init, carry in zip(inits, carries, strict=True):
            self.bind(carry, init.type, init.is_writable)
        if self.choices.chance(4):
            self.statements(1)
        results = self._fed(kernel, carries)
        if self.choices.chance(4):
            self.statements(1)
        if self.choices.chance(4):
            results[0] = self.choices.pick(carries)
        if self.choices.chance(3):
            results.reverse()
        outs = [self.fresh("out") for _ in inits]
        self.scope = outside
        if count == 1:
            self._add(f"{outs[0]}: {SMALL} = pl.yield_({results[0]})")
        else:
            self._add(f"{', '.join(outs)} = pl.yield_({', '.join(results)})")
        self.indent -= 1
        for init, out in zip(inits, outs, strict=True):
            self.bind(out, SMALL, init.is_writable)

    def _start(self) -> Tensor:
        """What a carry starts from: an input that nothing else uses, or anything."""
        if self.unused and not self.choices.chance(3):
            return Tensor(self.unused.pop(), SMALL, False)
        return self.choices.pick([t for t in reversed(self.scope) if t.type == SMALL])

    def _fed(self, kernel: KernelText, carries: list[str]) -> list[str]:
        """A call of ``kernel`` on ``carries`` with fresh outputs; as many results as carries."""
        waiting = list(carries)
        args = []
        for direction, type_ in kernel.params:
            if type_ == INDEX:
                args.append("0")
            elif direction == "Out" and not (type_ == SMALL and self.choices.chance(8)):
                args.append(self.create(type_))
            elif direction == "In" and type_ == SMALL and waiting and not self.choices.chance(4):
                args.append(waiting.pop(0))
            else:
                found = self._pick(type_, writable=direction != "In")
                args.append(found.name if found is not None else self.create(type_))
        call = f"self.{kernel.name}({', '.join(args)})"
        if len(kernel.returns) == 1:
            name = self.fresh("v")
            self._add(f"{name}: {kernel.returns[0]} = {call}")
            self.bind(name, kernel.returns[0], True)
            results = [name]
        else:
            whole = self.fresh("pair")
            self._add(f"{whole}: pl.Tuple[{', '.join(kernel.returns)}] = {call}")
            before = len(self.scope)
            self._project(whole, list(kernel.returns))
            results = [t.name for t in self.scope[before:]]
        return (results + carries)[: len(carries)]

    def _while(self) -> None:
        inits = self._inits()
        carries = [self.fresh("c") for _ in inits]
        counter = self.fresh("w")
        names, values = ", ".join([counter, *carries]), ", ".join(["0", *(t.name for t in inits)])
        self._add(f"for ({names}) in pl.while_(init_values=({values})):")
        self.indent += 1
        self._add(f"pl.cond({counter} < 2)")
        self._body(inits, carries, extra=f"{counter} + 1")

    def _branch(self) -> None:
        first = self.choices.pick(list(reversed(self.scope)))
        condition = self.choices.pick(["n == 0", *(f"{i} == 0" for i in self.indices[-1:])])
        result = self.fresh("phi")
        outside = list(self.scope)
        writable = True
        for keyword in (f"if {condition}:", "else:"):
            self._add(keyword)
            self.indent += 1
            self.statements(self.choices.integer(0, 2))
            value = self._pick(first.type)
            assert value is not None
            writable = writable and value.is_writable
            self._add(f"{result}: {first.type} = pl.yield_({value.name})")
            self.indent -= 1
            self.scope = list(outside)
        self.bind(result, first.type, writable)
