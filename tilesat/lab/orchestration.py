"""An orchestration function: it allocates tensors, launches kernels, and hands results on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tilesat.ir.dtypes import is_float
from tilesat.ir.nodes import (
    ORCHESTRATION,
    Assign,
    Carry,
    Const,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    ListExpr,
    OpCall,
    Param,
    Result,
    Return,
    Stmt,
    Submit,
    TupleGet,
    Var,
    Yield,
)
from tilesat.ir.types import Direction, ScalarType, TensorType, TupleType, Type
from tilesat.ir.walk import names_in_type
from tilesat.lab.builder import INDEX, INDEX_ENTRIES, Kernel
from tilesat.lab.choices import Choices
from tilesat.lab.config import GeneratorConfig

_LEVEL, _ROLE = "CHIP", "Orchestrator"
_MOST_INDEX = 3


@dataclass(slots=True, eq=False)
class _Buffer:
    """A tensor of the orchestration function, under its newest ``name``."""

    name: str
    type: TensorType
    is_given: bool
    """Whether it is a parameter of direction In, which nothing may write."""
    is_positions: bool = False
    is_written: bool = False


@dataclass(slots=True)
class _State:
    choices: Choices
    config: GeneratorConfig
    made: list[Function]
    """Functions that create tensors for this one."""
    params: list[Param] = field(default_factory=list)
    stmts: list[Stmt] = field(default_factory=list)
    buffers: list[_Buffer] = field(default_factory=list)
    index: Var | None = None
    """The index of the loop around the launch."""
    may_overlap: bool = False
    """Whether the launch may get one tensor for several parameters."""
    count: int = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def param(self, prefix: str, type_: Type, direction: Direction = Direction.In) -> str:
        name = self.name(prefix)
        self.params.append(Param(name, type_, direction))
        return name


def orchestrations(choices: Choices, config: GeneratorConfig, kernels: Sequence[Kernel]) -> list[Function]:
    """A function that launches every kernel once or more; where callers are strange sometimes another around it."""
    made: list[Function] = []
    inner = orchestration(choices, config, kernels, made)
    if config.callers != "strange" or not choices.chance(4):
        return [*made, inner]
    call = FuncCall(inner.name, tuple([Var(param.name) for param in inner.params]))
    body: list[Stmt]
    if len(inner.returns) == 1:
        body = [Assign("w0", inner.returns[0], call), Return((Var("w0"),))]
    else:
        body = [EvalStmt(call)]
    returns = inner.returns if len(inner.returns) == 1 else ()
    outer = Function("outermost", inner.params, returns, tuple(body), ORCHESTRATION, level=_LEVEL, role=_ROLE)
    return [*made, inner, outer]


def orchestration(
    choices: Choices, config: GeneratorConfig, kernels: Sequence[Kernel], made: list[Function]
) -> Function:
    """A function that launches every kernel, directly or in a loop; ``made`` gets what it calls besides."""
    state = _State(choices, config, made)
    for kernel in kernels:
        for _ in range(choices.integer(1, 2)):
            choices.span(partial(_launch, state, kernel))
    results = [buffer for buffer in state.buffers if buffer.is_written]
    if results:
        state.stmts.append(Return(tuple([Var(buffer.name) for buffer in results])))
    returns = tuple([buffer.type for buffer in results])
    return Function(
        "orchestrate", tuple(state.params), returns, tuple(state.stmts), ORCHESTRATION, level=_LEVEL, role=_ROLE
    )


def _launch(state: _State, kernel: Kernel) -> None:
    in_loop = state.config.has("orchestration_loop") and state.config.has("for") and state.choices.chance(3)
    index = state.name("i") if in_loop else None
    state.index = None if index is None else Var(index)
    one_in = 4 if state.config.callers == "any" else 2
    state.may_overlap = state.config.has("overlapping_arguments") and state.choices.chance(one_in)
    arguments, passed = _arguments(state, kernel)
    call: FuncCall | Submit = FuncCall(kernel.function.name, tuple(arguments))
    if state.config.callers == "strange" and not kernel.returned and state.choices.integer(0, 3):
        call = Submit(kernel.function.name, tuple(arguments))
    if index is None:
        _bind_results(state, kernel, call, passed)
    else:
        _loop(state, kernel, call, passed, index)
    state.index = None
    for param, buffer in zip(kernel.function.params, passed, strict=True):
        if buffer is not None and param.direction is not Direction.In:
            buffer.is_written = True


# -------------------------------------------------------------------------------- arguments


def _arguments(state: _State, kernel: Kernel) -> tuple[list[Expr], list[_Buffer | None]]:
    arguments: list[Expr] = []
    passed: list[_Buffer | None] = []
    for param in kernel.function.params:
        if isinstance(param.type, TensorType):
            buffer = _tensor(state, param, param.type, passed)
            passed.append(buffer)
            arguments.append(Var(buffer.name))
        else:
            assert isinstance(param.type, ScalarType)
            passed.append(None)
            arguments.append(_scalar(state, param.type))
    return arguments, passed


def _scalar(state: _State, type_: ScalarType) -> Expr:
    """A scalar of ``type_``; an index among them is small, whatever it is."""
    known = [Var(param.name) for param in state.params if param.type == type_]
    if type_ != INDEX:
        return state.choices.pick(known) if known else Var(state.param("v", type_))
    loop = [] if state.index is None else [state.index]
    options: list[Expr | None] = [*loop, *known, *(Const(value) for value in range(_MOST_INDEX))]
    options += [] if known else [None]
    picked = state.choices.pick(options)
    return Var(state.param("n", INDEX)) if picked is None else picked


def _tensor(state: _State, param: Param, type_: TensorType, passed: list[_Buffer | None]) -> _Buffer:
    """The tensor for ``param``: one that is there already, or a new one."""
    is_positions = type_.shape == (INDEX_ENTRIES,)
    writes = param.direction is not Direction.In

    def fits(buffer: _Buffer) -> bool:
        if buffer.type != type_ or buffer.is_positions != is_positions or (writes and buffer.is_given):
            return False
        return state.may_overlap or buffer not in passed

    found = [buffer for buffer in reversed(state.buffers) if fits(buffer)]
    position = state.choices.integer(0, len(found)) if found else 0
    if position < len(found):
        return found[position]
    return _new_tensor(state, type_, param.direction, is_positions)


def _new_tensor(state: _State, type_: TensorType, direction: Direction, is_positions: bool) -> _Buffer:
    """A parameter, or for what a kernel writes, and on request for what it reads, sometimes a tensor created here."""
    strange = _strange_tensor(state, type_)
    if strange is not None:
        return strange
    may_create = direction is Direction.Out or (state.config.callers != "any" and not is_positions)
    if may_create and not any(names_in_type(type_)) and state.choices.chance(2):
        created = state.name("t")
        options = (("dtype", EnumConst(type_.dtype)), ("layout", EnumConst("TensorLayout.ND")))
        shape = ListExpr(tuple([Const(dim) for dim in type_.shape if isinstance(dim, int)]))
        state.stmts.append(Assign(created, type_, OpCall("tensor.create", (shape,), options)))
        buffer = _Buffer(created, type_, is_given=False)
    else:
        name = state.param("x" if direction is Direction.In else "y", type_, direction)
        buffer = _Buffer(name, type_, direction is Direction.In, is_positions)
    state.buffers.append(buffer)
    return buffer


def _strange_tensor(state: _State, type_: TensorType) -> _Buffer | None:
    """Once in a while, where callers are strange, a tensor from an op that nobody follows."""
    if state.config.callers != "strange" or any(names_in_type(type_)) or not state.choices.chance(4):
        return None
    name = state.name("u")
    shape = ListExpr(tuple([Const(dim) for dim in type_.shape if isinstance(dim, int)]))
    if state.choices.integer(0, 1):
        return _made_elsewhere(state, name, type_, shape)
    number = Const(1.0, "FP32") if is_float(type_.dtype) else Const(1, type_.dtype)
    call = OpCall("tensor.full", (shape,), (("dtype", EnumConst(type_.dtype)), ("value", number)))
    state.stmts.append(Assign(name, type_, call))
    buffer = _Buffer(name, type_, is_given=False)
    state.buffers.append(buffer)
    return buffer


def _made_elsewhere(state: _State, name: str, type_: TensorType, shape: ListExpr) -> _Buffer:
    """A tensor that another function creates and returns."""
    options = (("dtype", EnumConst(type_.dtype)), ("layout", EnumConst("TensorLayout.ND")))
    body: tuple[Stmt, ...] = (Assign("t", type_, OpCall("tensor.create", (shape,), options)), Return((Var("t"),)))
    maker = Function(f"make{len(state.made)}", (), (type_,), body, ORCHESTRATION, level=_LEVEL, role=_ROLE)
    state.made.append(maker)
    state.stmts.append(Assign(name, type_, FuncCall(maker.name, ())))
    buffer = _Buffer(name, type_, is_given=False)
    state.buffers.append(buffer)
    return buffer


# ---------------------------------------------------------------------------------- results


def _returned(kernel: Kernel, passed: list[_Buffer | None]) -> list[_Buffer]:
    """The tensors that ``kernel`` returns, in order."""
    by_name = {param.name: buffer for param, buffer in zip(kernel.function.params, passed, strict=True)}
    return [buffer for name in kernel.returned if (buffer := by_name[name]) is not None]


def _bind_results(state: _State, kernel: Kernel, call: FuncCall | Submit, passed: list[_Buffer | None]) -> None:
    """The launch itself, and the new names it gives to what it writes."""
    buffers = _returned(kernel, passed)
    if not buffers:
        state.stmts.append(EvalStmt(call))
        return
    names = [state.name("r") for _ in buffers]
    if len(buffers) == 1:
        state.stmts.append(Assign(names[0], kernel.function.returns[0], call))
    else:
        whole = state.name("p")
        state.stmts.append(Assign(whole, TupleType(kernel.function.returns), call))
        for position, (name, type_) in enumerate(zip(names, kernel.function.returns, strict=True)):
            state.stmts.append(Assign(name, type_, TupleGet(Var(whole), position)))
    for buffer, name in zip(buffers, names, strict=True):
        buffer.name = name


def _loop(state: _State, kernel: Kernel, call: FuncCall | Submit, passed: list[_Buffer | None], index: str) -> None:
    """The launch in a loop that carries what it writes."""
    written = list(dict.fromkeys(_returned(kernel, passed)))
    inits = [Var(buffer.name) for buffer in written]
    carries = tuple([Carry(state.name("c"), buffer.type, init) for buffer, init in zip(written, inits, strict=True)])
    names = {init.name: Var(carry.name) for init, carry in zip(inits, carries, strict=True)}
    arguments = tuple([names.get(arg.name, arg) if isinstance(arg, Var) else arg for arg in call.args])
    outside, state.stmts = state.stmts, []
    _bind_results(state, kernel, replace(call, args=arguments), passed)
    if written:
        state.stmts.append(Yield(tuple([Var(buffer.name) for buffer in written])))
    body, state.stmts = tuple(state.stmts), outside
    results = tuple([Result(state.name("f"), buffer.type) for buffer in written])
    trips = state.choices.integer(1, state.config.max_trips)
    kind = state.choices.pick(("range", "parallel") if state.config.has("parallel") else ("range",))
    state.stmts.append(For(kind, index, Const(0), Const(trips), Const(1), carries, body, results))
    for buffer, result in zip(written, results, strict=True):
        buffer.name = result.name
