"""Which features a program has: how a generator, or a collection of programs, is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tilesat.ir.nodes import (
    ORCHESTRATION,
    Assign,
    BinOp,
    Block,
    Const,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    OpCall,
    Program,
    ScalarFn,
    Stmt,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import OpInfo, op_info
from tilesat.ir.types import Direction, MemorySpace, ScalarType, TensorType, TileType, TupleType, Type
from tilesat.ir.walk import blocks, names_in_type, reads, variable_types, walk
from tilesat.lab.sources import BRIDGE_MARKER

_UNARY = frozenset({"abs", "cos", "exp", "log", "neg", "not", "recip", "relu", "rsqrt", "sin", "sqrt"})
_BINARY = frozenset({"add", "sub", "mul", "div", "maximum", "minimum", "rem", "fmod", "and", "or", "xor"})
_WITH_SCALAR = frozenset({f"{name}s" for name in _BINARY} | {"lrelu", "expands"})
_FIXED_OPS = (
    *("full", "cast", "matmul", "matmul_acc", "matmul_bias", "transpose_view", "slice", "reshape"),
    *("set_validshape", "fillpad", "move", "write", "assemble", "scatter"),
)
_PRODUCTS = {"tile.matmul": (0, 1), "tile.matmul_bias": (0, 1), "tile.matmul_acc": (1, 2)}
_RENAMING = frozenset({"tile.matmul_acc", "tile.assemble", "tile.scatter"})
_CUBE = frozenset({MemorySpace.Left, MemorySpace.Right})


@dataclass(slots=True)
class _Facts:
    """One function: its statements in program order, calls by op, types and definitions."""

    function: Function
    stmts: list[Stmt]
    types: dict[str, Type]
    calls: dict[str, list[tuple[Stmt, OpCall]]] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    """Names of a tensor -> the parameter that it is."""

    def of(self, *ops: str) -> Iterator[OpCall]:
        """Calls of ``tile.<op>``."""
        for op in ops:
            for _, call in self.calls.get(f"tile.{op}", ()):
                yield call

    def tile(self, expr: Expr) -> TileType | None:
        type_ = self.types.get(expr.name) if isinstance(expr, Var) else None
        return type_ if isinstance(type_, TileType) else None

    def space(self, expr: Expr) -> MemorySpace | None:
        tile = self.tile(expr)
        return None if tile is None else tile.space

    def root(self, expr: Expr) -> str:
        return self.roots.get(expr.name, expr.name) if isinstance(expr, Var) else ""

    def loops(self) -> Iterator[For | While]:
        return (stmt for stmt in self.stmts if isinstance(stmt, (For, While)))

    def ifs(self) -> Iterator[If]:
        return (stmt for stmt in self.stmts if isinstance(stmt, If))


def features_of(program: Program) -> frozenset[str]:
    """The features of :data:`tilesat.lab.config.FEATURES` that ``program`` shows."""
    found: set[str] = set()
    for function in program.functions:
        facts = _gather(function)
        missing = [name for name in DETECTORS if name not in found]
        found |= {name for name in missing if DETECTORS[name](facts)}
    return frozenset(found)


def _gather(function: Function) -> _Facts:
    facts = _Facts(function, list(walk(function.body)), variable_types(function))
    for stmt in facts.stmts:
        value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
        if isinstance(stmt, Assign):
            facts.values[stmt.name] = stmt.value
        if isinstance(value, OpCall):
            facts.calls.setdefault(value.op, []).append((stmt, value))
            if isinstance(stmt, Assign) and value.op == "tile.store":
                facts.roots[stmt.name] = facts.root(value.args[2])
        elif isinstance(stmt, (For, While)):
            for carry, result in zip(stmt.carries, stmt.results, strict=True):
                facts.roots[carry.name] = facts.roots[result.name] = facts.root(carry.init)
        elif isinstance(stmt, If):
            # A tensor that a branch gives is one that its else branch knows by an outer name, or stores into.
            for result, value in zip(stmt.results, yielded(stmt.then), strict=False):
                facts.roots[result.name] = facts.root(value)
    return facts


def yielded(block: Block | None) -> tuple[Expr, ...]:
    """The values that ``block`` yields."""
    last = block[-1] if block else None
    return last.values if isinstance(last, Yield) else ()


# -------------------------------------------------------------------------- loads, creates


def _member(call: OpCall, keyword: str = "target_memory") -> str | None:
    value = call.kwarg(keyword)
    return None if value is None else str(getattr(value, "path", "")).rpartition(".")[2]


def _into(space: MemorySpace, *ops: str) -> Callable[[_Facts], bool]:
    return lambda facts: any(_member(call) == space.value for call in facts.of(*ops))


def _create(facts: _Facts) -> bool:
    """A buffer in Vec that is more than the working space of an op."""
    made = {
        stmt.name
        for stmt, call in facts.calls.get("tile.create", ())
        if isinstance(stmt, Assign) and _member(call) == "Vec"
    }
    return any(not made.isdisjoint(_read_for_good(stmt)) for stmt in facts.stmts) if made else False


def _read_for_good(stmt: Stmt) -> Iterator[str]:
    """Names that ``stmt`` reads, other than as working space."""
    value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
    info: OpInfo | None = op_info(value.op) if isinstance(value, OpCall) else None
    scratch = set()
    if isinstance(value, OpCall) and info is not None:
        pairs = zip(info.args, value.args, strict=False)
        scratch = {arg.name for name, arg in pairs if name.startswith("tmp") and isinstance(arg, Var)}
    return (name for name in reads(stmt) if name not in scratch)


def _reload(facts: _Facts) -> bool:
    seen: set[tuple[object, ...]] = set()
    for call in facts.of("load"):
        window = (facts.root(call.args[0]), *call.args[1:])
        if window in seen:
            return True
        seen.add(window)
    return False


def _load_after_store(facts: _Facts) -> bool:
    stored: set[str] = set()
    for stmt in facts.stmts:
        value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
        if isinstance(value, OpCall) and value.op == "tile.store":
            stored.add(facts.root(value.args[2]))
        elif isinstance(value, OpCall) and value.op == "tile.load" and facts.root(value.args[0]) in stored:
            return True
    return False


def _dynamic_valid(facts: _Facts) -> bool:
    extents = [item for call in facts.of("load") for item in _items(call.args[3])]
    extents += [arg for call in facts.of("set_validshape") for arg in call.args[1:]]
    return any(not isinstance(extent, Const) for extent in extents)


def _items(expr: Expr) -> tuple[Expr, ...]:
    return expr.items if isinstance(expr, ListExpr) else ()


# ------------------------------------------------------------------------------- products


def _operands(facts: _Facts) -> Iterator[tuple[Expr, Expr]]:
    for op, (left, right) in _PRODUCTS.items():
        for _, call in facts.calls.get(op, ()):
            yield call.args[left], call.args[right]


def _vec_operands(facts: _Facts) -> bool:
    loads = (facts.values.get(arg.name) for pair in _operands(facts) for arg in pair if isinstance(arg, Var))
    return any(isinstance(load, OpCall) and load.op == "tile.load" and _member(load) == "Vec" for load in loads)


def _old_names(facts: _Facts) -> bool:
    """A name is read after a write has made a new one for its buffer."""
    return _reads_old_name(facts.function.body, set())


def _reads_old_name(block: Block, replaced: set[str]) -> bool:
    """Whether ``block`` reads a name in ``replaced``, which gets the names that are replaced in it."""
    for stmt in block:
        if not replaced.isdisjoint(reads(stmt)):
            return True
        arms = [set(replaced) for _ in blocks(stmt)]
        if any(map(_reads_old_name, blocks(stmt), arms)):
            return True
        replaced.update(*arms)
        value = stmt.value if isinstance(stmt, Assign) else None
        if isinstance(value, OpCall) and (value.op in _RENAMING or value.op == "tile.store"):
            written = value.args[2 if value.op == "tile.store" else 0]
            if isinstance(written, Var):
                replaced.add(written.name)
    return False


def _converting_store(facts: _Facts) -> bool:
    for call in facts.of("store"):
        tile, tensor = facts.tile(call.args[0]), call.args[2]
        type_ = facts.types.get(tensor.name) if isinstance(tensor, Var) else None
        if tile is not None and isinstance(type_, TensorType) and tile.dtype != type_.dtype:
            return True
    return False


def _vec_accumulator(facts: _Facts) -> bool:
    carried = {name for loop in facts.loops() for name in _carried(loop)}
    targets = (call.args[0] for call in facts.of("matmul_acc"))
    return any(facts.space(t) is MemorySpace.Vec and isinstance(t, Var) and t.name not in carried for t in targets)


def _mat_accumulator(facts: _Facts) -> bool:
    return any(facts.space(call.args[0]) is MemorySpace.Mat for call in facts.of("matmul_acc"))


def _transposed_write(facts: _Facts) -> bool:
    """A tile is transposed, and it or the view is written under its own name."""
    pairs = [
        (stmt.name, call.args[0])
        for stmt, call in facts.calls.get("tile.transpose_view", ())
        if isinstance(stmt, Assign)
    ]
    names = {name for name, _ in pairs} | {arg.name for _, arg in pairs if isinstance(arg, Var)}
    written = (call.args[0] for call in facts.of("write", "assemble", "scatter"))
    return any(isinstance(arg, Var) and arg.name in names for arg in written)


def _store_from(space: MemorySpace) -> Callable[[_Facts], bool]:
    return lambda facts: any(facts.space(call.args[0]) is space for call in facts.of("store"))


# ------------------------------------------------------------------------------ structures


def _carries(kind: type[Type]) -> Callable[[_Facts], bool]:
    def found(facts: _Facts) -> bool:
        return facts.function.is_incore and any(
            isinstance(c.type, kind) for s in facts.stmts if isinstance(s, For) for c in s.carries
        )

    return found


def _accumulates(block: Block, carries: frozenset[str]) -> bool:
    """Whether ``block`` itself adds a product to one of ``carries``."""
    for stmt in block:
        value = stmt.value if isinstance(stmt, Assign) else None
        if isinstance(value, OpCall) and value.op == "tile.matmul_acc" and isinstance(value.args[0], Var):
            if value.args[0].name in carries:
                return True
    return False


def _accumulate(facts: _Facts) -> bool:
    return any(_accumulates(s.body, _carried(s)) for s in facts.loops())


def _carried(loop: For | While) -> frozenset[str]:
    return frozenset(carry.name for carry in loop.carries)


def _peeled(facts: _Facts) -> bool:
    for loop in facts.loops():
        for stmt in loop.body:
            if isinstance(stmt, If) and stmt.orelse is not None and stmt.results:
                multiplies = any(isinstance(s, Assign) and _is_call(s.value, "tile.matmul") for s in stmt.then)
                if multiplies and _accumulates(stmt.orelse, _carried(loop)):
                    return True
    return False


def _is_call(expr: Expr, op: str) -> bool:
    return isinstance(expr, OpCall) and expr.op == op


def _swapped_carry(facts: _Facts) -> bool:
    for loop in facts.loops():
        tiles = _carried(loop) & {c.name for c in loop.carries if isinstance(c.type, TileType)}
        for carry, value in zip(loop.carries, yielded(loop.body), strict=True):
            if isinstance(value, Var) and value.name in tiles and value.name != carry.name:
                return True
    return False


def _if_gives(kind: type[Type]) -> Callable[[_Facts], bool]:
    return lambda facts: any(isinstance(result.type, kind) for stmt in facts.ifs() for result in stmt.results)


def _if_space(facts: _Facts) -> bool:
    for stmt in facts.ifs():
        for first, second in zip(yielded(stmt.then), yielded(stmt.orelse), strict=False):
            if facts.tile(first) is not None and facts.space(first) is not facts.space(second):
                return True
    return False


def _scalar_arithmetic(facts: _Facts) -> bool:
    return any(
        isinstance(stmt, Assign) and isinstance(stmt.type, ScalarType) and isinstance(stmt.value, (BinOp, ScalarFn))
        for stmt in facts.stmts
    )


def _orchestration_loop(facts: _Facts) -> bool:
    if facts.function.kind != ORCHESTRATION:
        return False
    return any(_launch(stmt) is not None for loop in facts.loops() for stmt in loop.body)


def _overlapping_arguments(facts: _Facts) -> bool:
    for stmt in facts.stmts:
        call = _launch(stmt)
        names = [] if call is None else [arg.name for arg in call.args if isinstance(arg, Var)]
        tensors = [name for name in names if isinstance(facts.types.get(name), TensorType)]
        if len(set(tensors)) < len(tensors):
            return True
    return False


def _launch(stmt: Stmt) -> FuncCall | None:
    value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
    return value if isinstance(value, FuncCall) else None


# ----------------------------------------------------------------------------------- table


def _op(*names: str) -> Callable[[_Facts], bool]:
    ops = [name if "." in name else f"tile.{name}" for name in names]
    return lambda facts: any(op in facts.calls for op in ops)


def _prefix(*prefixes: str) -> Callable[[_Facts], bool]:
    return lambda facts: any(op.startswith(prefixes) for op in facts.calls)


def _loop_kind(kind: str) -> Callable[[_Facts], bool]:
    return lambda facts: any(isinstance(stmt, For) and stmt.kind == kind for stmt in facts.stmts)


DETECTORS: Mapping[str, Callable[[_Facts], bool]] = MappingProxyType(
    {
        **{name: _op(name) for name in _FIXED_OPS},
        "mat_loads": _into(MemorySpace.Mat, "load"),
        "unset_space": lambda facts: any(_member(call) is None for call in facts.of("load", "create")),
        "bridge_marker": lambda facts: any(BRIDGE_MARKER in dict(call.attrs) for call in facts.of("load")),
        "reload": _reload,
        "create": _create,
        "acc_create": _into(MemorySpace.Acc, "create"),
        "mat_create": _into(MemorySpace.Mat, "create"),
        "memrefs": lambda facts: any(isinstance(t, TileType) and t.memref is not None for t in facts.types.values()),
        "unary": _op(*_UNARY),
        "binary": _op(*_BINARY),
        "scalar_operand": _op(*_WITH_SCALAR),
        "reduce": lambda facts: any(
            op.startswith(("tile.row_", "tile.col_")) and "expand" not in op for op in facts.calls
        ),
        "expand": _prefix("tile.row_expand", "tile.col_expand"),
        "vec_operands": _vec_operands,
        "product_operand": lambda facts: any(
            facts.space(arg) is MemorySpace.Acc for pair in _operands(facts) for arg in pair
        ),
        "same_operand": lambda facts: any(left == right for left, right in _operands(facts)),
        "extract_cube": lambda facts: any(_member(call) in _CUBE for call in facts.of("extract")),
        "extract_vec": _into(MemorySpace.Vec, "extract"),
        "narrowed": lambda facts: any(call.args[2] != call.args[3] for call in facts.of("load")),
        "dynamic_valid": _dynamic_valid,
        "alias": lambda facts: any(
            isinstance(value, Var) and isinstance(facts.types.get(name), TileType)
            for name, value in facts.values.items()
        ),
        "unknown_op": lambda facts: any(op_info(op) is None for op in facts.calls),
        "tuple_result": lambda facts: any(
            isinstance(value, OpCall) and isinstance(facts.types.get(name), TupleType)
            for name, value in facts.values.items()
        ),
        "pipes": _prefix("tile.tpop_", "tile.tpush_"),
        "write_acc": lambda facts: any(facts.space(call.args[0]) is MemorySpace.Acc for call in facts.of("write")),
        "vec_accumulator": _vec_accumulator,
        "mat_accumulator": _mat_accumulator,
        "transposed_write": _transposed_write,
        "old_names": _old_names,
        "bare_store": lambda facts: any(isinstance(stmt, EvalStmt) for stmt, _ in facts.calls.get("tile.store", ())),
        "acc_store": _store_from(MemorySpace.Acc),
        "mat_store": _store_from(MemorySpace.Mat),
        "converting_store": _converting_store,
        "load_after_store": _load_after_store,
        "sync": _prefix("system."),
        "scalar_arithmetic": _scalar_arithmetic,
        "tile_read": _op("read"),
        "tensor_read": _op("tensor.read"),
        "for": lambda facts: any(isinstance(stmt, For) for stmt in facts.stmts),
        "pipeline": _loop_kind("pipeline"),
        "parallel": _loop_kind("parallel"),
        "dynamic_bounds": lambda facts: any(
            isinstance(stmt, For) and not isinstance(stmt.stop, Const) for stmt in facts.stmts
        ),
        "tile_carry": _carries(TileType),
        "tensor_carry": _carries(TensorType),
        "scalar_carry": _carries(ScalarType),
        "accumulate": _accumulate,
        "peeled": _peeled,
        "swapped_carry": _swapped_carry,
        "while": lambda facts: any(isinstance(stmt, While) for stmt in facts.stmts),
        "if": lambda facts: any(True for _ in facts.ifs()),
        "if_result": _if_gives(TileType),
        "if_space": _if_space,
        "if_tensor": _if_gives(TensorType),
        "dynamic_dims": lambda facts: any(any(names_in_type(p.type)) for p in facts.function.params),
        "inout": lambda facts: any(param.direction is Direction.InOut for param in facts.function.params),
        "void": lambda facts: facts.function.is_incore and "tile.store" in facts.calls and not facts.function.returns,
        "orchestration": lambda facts: facts.function.kind == ORCHESTRATION,
        "orchestration_loop": _orchestration_loop,
        "overlapping_arguments": _overlapping_arguments,
    }
)
"""For every feature, whether a function shows it."""
