"""Seed facts about strides: what tensors have of their own, how slices keep them, where results are placed."""

from __future__ import annotations

from tilesat.ir.affine import affine
from tilesat.ir.index import int_value
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Const,
    Expr,
    For,
    Function,
    If,
    ListExpr,
    OpCall,
    Program,
    TupleGet,
    Var,
    While,
)
from tilesat.ir.printer import print_expr
from tilesat.ir.types import Dim, Direction, Shape, TensorType, TupleType
from tilesat.ir.walk import names_in, own_exprs
from tilesat.ir_terms.orch_facts import Launch, ProgramFacts
from tilesat.ir_terms.orch_facts_kernel import kernel_facts
from tilesat.ir_terms.orch_facts_reuse import created, not_fresh


def row_major(shape: Shape) -> tuple[Dim, ...]:
    """Row-major strides of a tensor of ``shape``, in elements."""
    strides: list[Dim] = []
    constant, symbols = 1, ()
    for dim in reversed(shape):
        strides.append(_product(constant, symbols))
        value = dim if isinstance(dim, int) else int_value(dim)
        if value is not None:
            constant *= value
        elif not isinstance(dim, int):
            symbols = (dim, *symbols)  # type: ignore[assignment]
    return tuple(reversed(strides))


def _product(constant: int, symbols: tuple[Expr, ...]) -> Dim:
    if not symbols:
        return constant
    result = symbols[0]
    for symbol in symbols[1:]:
        result = BinOp("*", result, symbol)
    return result if constant == 1 else BinOp("*", result, Const(constant))


def strides_of(type_: TensorType) -> tuple[Dim, ...] | None:
    """The strides that ``type_`` states or implies, ``None`` where its layout is not row-major."""
    view = type_.view
    if view is not None and view.layout not in (None, "ND"):
        return None
    if view is not None and view.stride:
        return view.stride
    return row_major(type_.shape)


def has_strides(type_: TensorType) -> bool:
    return type_.view is not None and bool(type_.view.stride)


class StridesFacts:
    """Adds the rows of patterns 2 and 4 to those of a program."""

    def __init__(self, facts: ProgramFacts) -> None:
        self.facts = facts
        self.texts: dict[str, Dim] = {}
        """Stride by its text in the rows."""
        self.is_empty = not any(launch.callee.is_incore for launch in facts.launches)
        if self.is_empty:
            return
        callers = {launch.caller for launch in facts.launches}
        for function in facts.program.functions:
            if function.is_incore:
                self._kernel(function)
            if function.name in callers:
                self._caller(function)
        for launch in facts.launches:
            self._launch(launch)
        self._foreign(facts.program)

    def _text(self, stride: Dim) -> str:
        text = str(stride) if isinstance(stride, int) else print_expr(stride)
        self.texts[text] = stride
        return text

    def _own(self, key: str, type_: TensorType, relation: str = "own-stride") -> None:
        strides = strides_of(type_)
        if strides is None or len(strides) != len(type_.shape):
            self.facts.add("open-strides", key)
            return
        for dimension, stride in enumerate(strides):
            self.facts.add(relation, key, dimension, self._text(stride))

    def _foreign(self, program: Program) -> None:
        known = set(program.dynamic_dims)
        for text, stride in self.texts.items():
            if not isinstance(stride, int) and not set(names_in(stride)) <= known:
                self.facts.add("foreign", text)

    # ----------------------------------------------------------------------- functions

    def _kernel(self, function: Function) -> None:
        for position, param in enumerate(function.params):
            if isinstance(param.type, TensorType) and not param.type.distributed:
                if not has_strides(param.type) and strides_of(param.type) is not None:
                    self.facts.add("no-strides", function.name, position)

    def _caller(self, function: Function) -> None:
        facts, name = self.facts, function.name
        index = facts.index(function)
        for param in function.params:
            if isinstance(param.type, TensorType):
                self._own(f"{name}:{param.name}", param.type)
                self._open_shape(f"{name}:{param.name}", param.type)
        for stmt in index.sites:
            if isinstance(stmt, Assign) and isinstance(stmt.type, TensorType):
                self._assign(name, stmt, stmt.type)
            self._open_shapes(name, stmt)

    def _open_shapes(self, function: str, stmt: object) -> None:
        bound: list[tuple[str, object]] = []
        if isinstance(stmt, Assign):
            bound = [(stmt.name, stmt.type)]
        elif isinstance(stmt, (For, While)):
            bound = [*((c.name, c.type) for c in stmt.carries), *((r.name, r.type) for r in stmt.results)]
        elif isinstance(stmt, If):
            bound = [(r.name, r.type) for r in stmt.results]
        for name, type_ in bound:
            self._open_shape(f"{function}:{name}", type_)

    def _open_shape(self, key: str, type_: object) -> None:
        if isinstance(type_, TensorType) and not all(affine(dim).is_const for dim in type_.shape):
            self.facts.add("open-shape", key)

    def _assign(self, function: str, stmt: Assign, type_: TensorType) -> None:
        key = f"{function}:{stmt.name}"
        if not isinstance(stmt.value, OpCall):
            self._own(key, type_, "typed-stride")
            return
        if stmt.value.op == "tensor.slice":
            self._slice(function, key, stmt.value)
        elif stmt.value.op == "tensor.create":
            layout = stmt.value.kwarg("layout")
            if layout is not None and print_expr(layout) not in ("pl.TensorLayout.ND", "TensorLayout.ND"):
                self.facts.add("open-strides", key)
            else:
                self._own(key, type_)
        else:
            self._own(key, type_, "typed-stride")

    def _slice(self, function: str, key: str, call: OpCall) -> None:
        source = self.facts.tensor(function, call.args[0])
        shape = call.args[1]
        if source is None or not isinstance(shape, ListExpr):
            self.facts.add("open-strides", key)
            return
        dropped = call.args[4] if len(call.args) > 4 else ListExpr(())
        values = [int_value(item) for item in dropped.items] if isinstance(dropped, ListExpr) else [None]
        if None in values:
            self.facts.add("open-strides", key)
            return
        rank = len(shape.items)
        gone = {value % rank for value in values if value is not None}
        kept = [dimension for dimension in range(rank) if dimension not in gone]
        for mine, theirs in enumerate(kept):
            self.facts.add("slice-dim", key, mine, source, theirs)

    # ------------------------------------------------------------------------ launches

    def _launch(self, launch: Launch) -> None:
        facts, number, callee = self.facts, launch.number, launch.callee
        for position, param in enumerate(callee.params):
            arg = launch.call.args[position] if position < len(launch.call.args) else None
            if not isinstance(param.type, TensorType) or not isinstance(arg, Var):
                continue
            given = facts.type_of(launch.caller, arg.name)
            if given is not None and len(given.shape) != len(param.type.shape):
                facts.add("rank-differs", number, position)
        if not callee.is_incore:
            return
        results = kernel_facts(facts.workspace, callee).results
        for output, param in enumerate(callee.params):
            if param.direction is Direction.Out and isinstance(param.type, TensorType):
                self._output(launch, output, param.type, results.get(output))

    def _output(self, launch: Launch, output: int, type_: TensorType, result: int | None) -> None:
        facts, number = self.facts, launch.number
        targets = assemble_targets(facts, launch, result)
        if targets:
            facts.add("assembled", number, output)
        parent = placed_in(facts, launch, output, result)
        if parent is None:
            facts.add("written-plain", number, output)
            return
        facts.add("placed-at", number, output, parent)
        theirs = facts.type_of(launch.caller, parent.partition(":")[2])
        assert theirs is not None
        surplus = len(theirs.shape) - len(type_.shape)
        if surplus < 0:
            facts.add("rank-differs", number, output)
        for dimension in range(len(type_.shape)):
            facts.add("place-dim", number, output, dimension, dimension + surplus)


def assemble_targets(facts: ProgramFacts, launch: Launch, result: int | None) -> list[Expr]:
    """The tensors into which result ``result`` of ``launch`` is assembled directly."""
    keys = [] if result is None else facts.result_names[launch.number, result]
    index = facts.index(facts.functions[launch.caller])
    targets: list[Expr] = []
    for key in keys:
        name = key.partition(":")[2]
        sites = facts.use_sites(launch.caller).get(name, [])
        targets += [target for site in sites if (target := _target(index.sites[site], name)) is not None]
    return targets


def placed_in(facts: ProgramFacts, launch: Launch, output: int, result: int | None) -> str | None:
    """The parent into which ``output`` could be written right away.

    Its buffer is made for the launch alone, and its result is used by one assemble only.
    """
    targets = assemble_targets(facts, launch, result)
    if len(targets) != 1 or result is None:
        return None
    names = [key.partition(":")[2] for key in facts.result_names[launch.number, result]]
    if len(names) != 1 or facts.uses[launch.caller][names[0]] != 1 or not _only_projected(facts, launch):
        return None
    arg = launch.call.args[output] if output < len(launch.call.args) else None
    definition = created(facts.index(facts.functions[launch.caller]), arg)
    if definition is None or not isinstance(arg, Var) or not_fresh(facts, launch, arg.name, definition):
        return None
    return facts.tensor(launch.caller, targets[0])


def _only_projected(facts: ProgramFacts, launch: Launch) -> bool:
    """Whether the results of ``launch``, where they are a tuple, are used through variables for its elements only."""
    index = facts.index(facts.functions[launch.caller])
    stmt = index.sites[launch.site]
    if not isinstance(stmt, Assign) or not isinstance(stmt.type, TupleType):
        return True
    users = [index.sites[site] for site in facts.use_sites(launch.caller).get(stmt.name, [])]
    return all(isinstance(user, Assign) and isinstance(user.value, TupleGet) for user in users)


def _target(stmt: object, source: str) -> Expr | None:
    """The tensor into which ``stmt`` assembles variable ``source``."""
    if not isinstance(stmt, Assign):
        return None
    call = own_exprs(stmt)[0]
    if isinstance(call, OpCall) and call.op == "tensor.assemble" and call.args[1] == Var(source):
        return call.args[0]
    return None
