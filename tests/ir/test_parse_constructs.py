"""The fixtures use every construct of the language (peer behaviour, sections 2 and 3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache

from tests.ir.parsing import CONSTRUCTS, parsed
from tilesat.ir import nodes
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Comment,
    Const,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Program,
    Return,
    ScalarFn,
    Scope,
    Stmt,
    StrConst,
    Submit,
    UnaryOp,
    While,
    Yield,
)
from tilesat.ir.printer import print_expr
from tilesat.ir.types import (
    ArrayType,
    Direction,
    MemorySpace,
    OpaqueType,
    ScalarType,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
)
from tilesat.ir.walk import children, own_exprs, own_types, walk


@lru_cache(maxsize=1)
def programs() -> tuple[Program, ...]:
    return tuple(map(parsed, sorted(CONSTRUCTS.glob("*.py"))))


@lru_cache(maxsize=1)
def functions() -> tuple[Function, ...]:
    return tuple(function for program in programs() for function in program.functions)


@lru_cache(maxsize=1)
def stmts() -> tuple[Stmt, ...]:
    return tuple(stmt for function in functions() for stmt in walk(function.body))


@lru_cache(maxsize=1)
def exprs() -> tuple[Expr, ...]:
    def inside(expr: Expr) -> Iterator[Expr]:
        yield expr
        for child in children(expr):
            yield from inside(child)

    own = [expr for stmt in stmts() for expr in own_exprs(stmt)]
    given = [value for function in functions() for _, value in (*function.options, *function.attrs)]
    return tuple(part for expr in (*own, *given) for part in inside(expr))


@lru_cache(maxsize=1)
def types() -> tuple[Type, ...]:
    def inside(type_: Type) -> Iterator[Type]:
        yield type_
        for element in type_.elements if isinstance(type_, TupleType) else ():
            yield from inside(element)

    bound = [type_ for stmt in stmts() for type_ in own_types(stmt)]
    headers = [type_ for f in functions() for type_ in (*f.returns, *(param.type for param in f.params))]
    return tuple(part for type_ in (*bound, *headers) for part in inside(type_))


def of(kind: type[Expr]) -> list[Expr]:
    return [expr for expr in exprs() if isinstance(expr, kind)]


def subclasses(base: type) -> set[type]:
    return {kind for kind in vars(nodes).values() if isinstance(kind, type) and issubclass(kind, base)} - {base}


def test_every_kind_of_node_occurs() -> None:
    assert {type(stmt) for stmt in stmts()} == subclasses(Stmt)
    assert {type(expr) for expr in exprs()} == subclasses(Expr)
    assert {type(type_) for type_ in types()} == {
        ScalarType,
        TileType,
        TensorType,
        TupleType,
        ArrayType,
        OpaqueType,
    }


def test_every_kind_of_function_occurs() -> None:
    headers = {(f.kind, f.level, f.role) for f in functions()}
    assert headers == {
        ("InCore", "CHIP_DIE", "SubWorker"),
        ("Spmd", None, None),
        ("Orchestration", "CHIP", "Orchestrator"),
        ("Opaque", "HOST", "Orchestrator"),
        ("Opaque", "HOST", "SubWorker"),
        ("Opaque", None, None),
        ("Group", "CORE_GROUP", "SubWorker"),
        ("AIC", "AIC", "SubWorker"),
        ("AIV", "AIV", "SubWorker"),
    }
    assert {"auto_scope", "external_source"} <= {key for f in functions() for key, _ in f.options}
    assert {"windowize", "split", "slot_num", "split_aiv", "dual_aiv_dispatch", "spmd_unwrapped"} <= {
        key for f in functions() for key, _ in f.attrs
    }
    assert any(not f.body and not f.attrs for f in functions())


def test_every_kind_of_parameter_and_result_occurs() -> None:
    params = [param for f in functions() for param in f.params]
    assert {param.direction for param in params} == set(Direction)
    assert {TensorType, ScalarType, ArrayType, OpaqueType} <= {type(param.type) for param in params}
    distributed = {p.direction for p in params if isinstance(p.type, TensorType) and p.type.distributed}
    assert distributed >= {Direction.In, Direction.InOut}
    assert {0, 1, 2} <= {len(f.returns) for f in functions()}
    assert {0, 1, 2} <= {len(stmt.values) for stmt in stmts() if isinstance(stmt, Return)}
    assert {dim for program in programs() for dim in program.dynamic_dims} == {"ROWS", "PAGES", "N", "NB"}


def test_every_kind_of_loop_occurs() -> None:
    loops = [stmt for stmt in stmts() if isinstance(stmt, For)]
    assert {loop.kind for loop in loops} == {"range", "parallel", "pipeline", "unroll", "split_aiv"}
    assert {len(loop.carries) for loop in loops} == {0, 1, 2}
    assert {"stage", "mode"} <= {key for loop in loops for key, _ in loop.kwargs}
    assert "pipeline_overlap_stores" in {key for loop in loops for key, _ in loop.attrs}
    is_default = {(loop.start == Const(0), loop.step == Const(1)) for loop in loops}
    assert is_default == {(True, True), (False, True), (True, False), (False, False)}
    assert {len(stmt.carries) for stmt in stmts() if isinstance(stmt, While)} == {1, 2}


def test_every_kind_of_branch_occurs() -> None:
    branches = [stmt for stmt in stmts() if isinstance(stmt, If)]
    assert {(branch.orelse is None, len(branch.results)) for branch in branches} == {
        (True, 0),
        (False, 0),
        (False, 1),
        (False, 2),
    }
    assert any(branch.then == () for branch in branches)
    assert any(branch.then and isinstance(branch.then[-1], Comment) for branch in branches)
    assert any(branch.orelse and isinstance(branch.orelse[0], Comment) for branch in branches)


def test_every_operator_and_function_of_scalars_occurs() -> None:
    assert {expr.op for expr in of(BinOp) if isinstance(expr, BinOp)} == {
        *("+", "-", "*", "//", "/", "%", "**"),
        *("==", "!=", "<", "<=", ">", ">=", "and", "or"),
        *("&", "|", "^", "<<", ">>"),
    }
    assert {expr.op for expr in of(UnaryOp) if isinstance(expr, UnaryOp)} == {"-", "~", "not"}
    assert {expr.name for expr in of(ScalarFn) if isinstance(expr, ScalarFn)} == {"min", "max", "abs"}


def test_every_kind_of_constant_occurs() -> None:
    constants = [expr for expr in exprs() if isinstance(expr, Const)]
    assert {c.dtype for c in constants} >= {
        *("INDEX", "INT8", "INT32", "INT64", "UINT64", "BOOL", "FP16", "BF16", "FP32")
    }
    floats = [c.value for c in constants if isinstance(c.value, float)]
    assert {math.inf, -math.inf} <= set(floats)
    assert any(map(math.isnan, floats))
    assert any(value == 0 and math.copysign(1, value) < 0 for value in floats)
    assert any(c.value is True for c in constants)
    strings = [expr for expr in exprs() if isinstance(expr, StrConst)]
    assert {string.quote for string in strings} == {"'", '"'}


def test_every_key_of_a_call_occurs() -> None:
    submits = [expr for expr in exprs() if isinstance(expr, Submit)]
    assert {submit.spmd for submit in submits} == {True, False}
    assert {key for submit in submits for key, _ in submit.kwargs} == {
        *("deps", "dumps", "allow_early_resolve", "predicate", "core_num", "sync_start", "device")
    }
    assert any(submit.attrs for submit in submits)
    calls = [expr for expr in exprs() if isinstance(expr, FuncCall)]
    assert {"core_num", "sync_start"} <= {key for call in calls for key, _ in call.attrs}
    assert any(key == "device" for call in calls for key, _ in call.kwargs)


def test_every_family_of_ops_occurs() -> None:
    ops = {expr.op for expr in exprs() if isinstance(expr, OpCall)}
    assert {"tile", "tensor", "array", "system", "prefetch", "pld"} <= {op.partition(".")[0] for op in ops}
    assert {"tile.and", "tile.or", "tile.not"} <= ops
    bare = {s.value.op for s in stmts() if isinstance(s, EvalStmt) and isinstance(s.value, OpCall)}
    assert bare >= {
        *("tensor.write", "tile.write", "tile.store", "prefetch.wait", "system.bar_all", "tile.tpush_to_aic"),
        *("pld.system.notify", "pld.system.wait", "pld.tile.put", "pld.tile.get", "pld.tile.remote_store"),
    }


def test_every_view_field_and_space_occurs() -> None:
    tiles = [type_ for type_ in types() if isinstance(type_, TileType)]
    assert {tile.space for tile in tiles} == {None, *MemorySpace}
    assert any(tile.memref and tile.view for tile in tiles)
    assert any(not isinstance(dim, int) for tile in tiles for dim in tile.valid_shape)
    views = [tile.view for tile in tiles if tile.view is not None]
    assert {f.name for f in fields(TileView) for view in views if getattr(view, f.name) is not None} == {
        f.name for f in fields(TileView)
    }
    assert {view.pad for view in views} == {None, "zero", "min", "max"}


def test_every_tensor_view_occurs() -> None:
    tensors = [type_ for type_ in types() if isinstance(type_, TensorType)]
    views = [tensor.view for tensor in tensors if tensor.view is not None]
    assert {view.layout for view in views} == {None, "ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN"}
    assert {f.name for f in fields(TensorView) for view in views if getattr(view, f.name)} == {
        f.name for f in fields(TensorView)
    }
    assert any(view.stride == () for view in views)
    assert any(tensor.memref for tensor in tensors)
    assert any(not isinstance(dim, int) for tensor in tensors for dim in tensor.shape)


def test_what_is_not_modelled_occurs_everywhere() -> None:
    assert {stmt.lines[0].split()[0] for stmt in stmts() if isinstance(stmt, OpaqueStmt)} >= {
        *("assert", "del", "for", "while", "try:", "with", "@inner", "class", "match", "if")
    }
    opaque = {print_expr(expr) for expr in of(OpaqueExpr)}
    assert any(text.startswith("lambda") for text in opaque)
    assert "x__ssa_v0[0:2, :]" in opaque
    assert {type_.text for type_ in types() if isinstance(type_, OpaqueType)} >= {
        *("pl.Ptr", "pl.MemRefType", "pl.Ptr[pl.FP32]", "pld.WindowBuffer")
    }
    assert any(program.preamble for program in programs())
    scopes = [stmt for stmt in stmts() if isinstance(stmt, Scope)]
    assert {bool(scope.kwargs) for scope in scopes} == {True, False}
    assert any(isinstance(stmt, Yield) and len(stmt.values) == 2 for stmt in stmts())
    assert any(isinstance(stmt, Assign) and isinstance(stmt.type, TupleType) for stmt in stmts())
