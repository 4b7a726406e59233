"""Programs, statements, expressions and types in the printed form (peer behaviour, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Carry,
    Cast,
    Comment,
    Const,
    DictExpr,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NamedExprs,
    NoneConst,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Param,
    Program,
    Result,
    Return,
    ScalarFn,
    Scope,
    Stmt,
    StrConst,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
    While,
    Yield,
)
from tilesat.ir.remembered import remembered
from tilesat.ir.spelling import ATOM, COMPARISON, NOT, PRECEDENCE, SIGN, format_float, level_of, op_spelling, quoted
from tilesat.ir.types import (
    ArrayType,
    Direction,
    OpaqueType,
    ScalarType,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
)
from tilesat.ir.walk import blocks, with_blocks

SUB_WORKER = "SubWorker"


class Printer:
    """Prints pieces of one program; texts of types are remembered by identity while it lives."""

    def __init__(self) -> None:
        self._type_texts: dict[int, tuple[Type, str]] = {}
        self._lines: list[str] = []

    # -------------------------------------------------------------------------- types

    def type(self, node: Type) -> str:
        known = self._type_texts.get(id(node))
        if known is not None:
            return known[1]
        text = self._type(node)
        self._type_texts[id(node)] = (node, text)
        return text

    def _type(self, node: Type) -> str:
        if isinstance(node, TileType):
            return self._tile(node)
        if isinstance(node, TensorType):
            return self._tensor(node)
        if isinstance(node, ScalarType):
            return f"pl.Scalar[pl.{node.dtype}]"
        if isinstance(node, TupleType):
            return f"pl.Tuple[{', '.join(map(self.type, node.elements)) or '()'}]"
        if isinstance(node, ArrayType):
            return f"pl.Array[{self.dim(node.extent)}, pl.{node.dtype}]"
        if isinstance(node, OpaqueType):
            return node.text
        raise TypeError(f"not a type: {node!r}")

    def _tile(self, node: TileType) -> str:
        parts = [self.dims(node.shape), f"pl.{node.dtype}"]
        if node.memref is not None:
            parts.append(f"pl.MemRef({quoted(node.memref)})")
        if node.space is not None:
            parts.append(f"pl.Mem.{node.space.value}")
        if node.view is not None:
            parts.append(self._tile_view(node.view))
        return f"pl.Tile[{', '.join(parts)}]"

    def _tile_view(self, view: TileView) -> str:
        parts = []
        if view.valid_shape is not None:
            parts.append(f"valid_shape={self.dims(view.valid_shape)}")
        if view.stride is not None:
            parts.append(f"stride={self.dims(view.stride)}")
        if view.start_offset is not None:
            parts.append(f"start_offset={self.dim(view.start_offset)}")
        if view.blayout is not None:
            parts.append(f"blayout=pl.TileLayout.{view.blayout}")
        if view.slayout is not None:
            parts.append(f"slayout=pl.TileLayout.{view.slayout}")
        if view.fractal is not None:
            parts.append(f"fractal={view.fractal}")
        if view.pad is not None:
            parts.append(f"pad=pl.PadValue.{view.pad}")
        if view.compact is not None:
            parts.append(f"compact=pl.CompactMode.{view.compact}")
        return f"pl.TileView({', '.join(parts)})"

    def _tensor(self, node: TensorType) -> str:
        parts = [self.dims(node.shape), f"pl.{node.dtype}"]
        if node.view is not None:
            parts.append(self._tensor_view(node.view))
        if node.memref is not None:
            parts.append(f"pl.MemRef({quoted(node.memref)})")
        name = "pld.DistributedTensor" if node.distributed else "pl.Tensor"
        return f"{name}[{', '.join(parts)}]"

    def _tensor_view(self, view: TensorView) -> str:
        parts = []
        if view.valid_shape is not None:
            parts.append(f"valid_shape={self.dims(view.valid_shape)}")
        parts.append(f"stride={self.dims(view.stride)}")
        if view.layout is not None:
            parts.append(f"layout=pl.TensorLayout.{view.layout}")
        if view.pad is not None:
            parts.append(f"pad=pl.PadValue.{view.pad}")
        return f"pl.TensorView({', '.join(parts)})"

    def dim(self, dim: int | Expr) -> str:
        return str(dim) if isinstance(dim, int) else self.expr(dim)

    def dims(self, shape: Iterable[int | Expr]) -> str:
        return f"[{', '.join([self.dim(dim) for dim in shape])}]"

    # -------------------------------------------------------------------- expressions

    def expr(self, node: Expr) -> str:
        return _EXPR_PRINTERS[type(node)](self, node)

    def exprs(self, nodes: Iterable[Expr]) -> str:
        return ", ".join([self.expr(node) for node in nodes])

    def _var(self, node: Var) -> str:
        return node.name

    def _const(self, node: Const) -> str:
        if isinstance(node.value, bool):
            return str(node.value)
        if isinstance(node.value, int):
            return str(node.value) if node.dtype == "INDEX" else f"pl.const({node.value}, pl.{node.dtype})"
        text = format_float(node.value)
        return text if node.dtype == "FP32" else f"pl.const({text}, pl.{node.dtype})"

    def _typed_const(self, node: Const) -> str:
        """The spelling that keeps a constant's dtype where two constants meet in one operator."""
        if isinstance(node.value, bool):
            return str(node.value)
        text = str(node.value) if isinstance(node.value, int) else format_float(node.value)
        return f"pl.const({text}, pl.{node.dtype})"

    def _str(self, node: StrConst) -> str:
        return quoted(node.value, node.quote)

    def _none(self, node: NoneConst) -> str:
        return "None"

    def _enum(self, node: EnumConst) -> str:
        return f"pl.{node.path}"

    def _list(self, node: ListExpr) -> str:
        return f"[{self.exprs(node.items)}]"

    def _dict(self, node: DictExpr) -> str:
        return "{" + ", ".join(f"{quoted(key)}: {self.expr(value)}" for key, value in node.items) + "}"

    def _binop(self, node: BinOp) -> str:
        if isinstance(node.lhs, Const) and isinstance(node.rhs, Const):
            return f"{self._typed_const(node.lhs)} {node.op} {self._typed_const(node.rhs)}"
        level = PRECEDENCE[node.op]
        if node.op == "**":
            # Binds its exponent looser than its base: a sign needs no brackets there.
            return f"{self._operand(node.lhs, level + 1)} ** {self._operand(node.rhs, SIGN)}"
        lhs = self._operand(node.lhs, level + (level == COMPARISON))
        return f"{lhs} {node.op} {self._operand(node.rhs, level + 1)}"

    def _operand(self, node: Expr, level: int) -> str:
        text = self.expr(node)
        return f"({text})" if level_of(node, text) < level else text

    def _unary(self, node: UnaryOp) -> str:
        if node.op == "not":
            return f"not {self._operand(node.operand, NOT)}"
        if node.op == "-" and isinstance(node.operand, Const):
            # A sign right before a number would be read as part of the number.
            return f"-{self._typed_const(node.operand)}"
        return f"{node.op}{self._operand(node.operand, SIGN)}"

    def _scalar_fn(self, node: ScalarFn) -> str:
        return f"pl.{node.name}({self.exprs(node.args)})"

    def _cast(self, node: Cast) -> str:
        return f"pl.cast({self.expr(node.operand)}, pl.{node.dtype})"

    def _get(self, node: TupleGet) -> str:
        return f"{self._operand(node.value, ATOM)}[{node.index}]"

    def _opaque(self, node: OpaqueExpr) -> str:
        return node.text

    def _op_call(self, node: OpCall) -> str:
        return f"{op_spelling(node.op)}({self._arguments(node.args, node.kwargs, node.attrs)})"

    def _func_call(self, node: FuncCall) -> str:
        return f"self.{node.callee}({self._arguments(node.args, node.kwargs, node.attrs)})"

    def _submit(self, node: Submit) -> str:
        name = "pl.spmd_submit" if node.spmd else "pl.submit"
        args = (Var(f"self.{node.callee}"), *node.args)
        kwargs = tuple((key, _Bracketed(value) if key == "predicate" else value) for key, value in node.kwargs)
        return f"{name}({self._arguments(args, kwargs, node.attrs)})"

    def _bracketed(self, node: _Bracketed) -> str:
        """A predicate, which is printed in round brackets, a list of operands as a tuple."""
        if not isinstance(node.inner, ListExpr):
            return f"({self.expr(node.inner)})"
        items = self.exprs(node.inner.items)
        return f"({items},)" if len(node.inner.items) == 1 else f"({items})"

    def _arguments(self, args: tuple[Expr, ...], kwargs: NamedExprs, attrs: NamedExprs) -> str:
        parts = [self.expr(arg) for arg in args]
        if not kwargs and not attrs:
            return ", ".join(parts)
        parts += [f"{key}={self.expr(value)}" for key, value in kwargs if key != "device"]
        if attrs:
            parts.append(f"attrs={self._dict(DictExpr(attrs))}")
        parts += [f"{key}={self.expr(value)}" for key, value in kwargs if key == "device"]
        return ", ".join(parts)

    # --------------------------------------------------------------------- statements

    def block(self, block: Block, indent: int, results: tuple[Result, ...] = ()) -> None:
        """Append the lines of ``block``; a final yield assigns ``results``."""
        if not any(not isinstance(stmt, Comment) for stmt in block):
            block = (*block, _PASS)
        pad = " " * indent
        for stmt in block:
            _STMT_PRINTERS[type(stmt)](self, stmt, indent, pad, results)

    def _assign(self, node: Assign, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        self._lines.append(f"{pad}{node.name}: {self.type(node.type)} = {self.expr(node.value)}")

    def _eval(self, node: EvalStmt, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        self._lines.append(pad + self.expr(node.value))

    def _yield(self, node: Yield, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        call = f"pl.yield_({self.exprs(node.values)})"
        if len(results) == 1:
            self._lines.append(f"{pad}{results[0].name}: {self.type(results[0].type)} = {call}")
        elif results:
            self._lines.append(f"{pad}{', '.join(result.name for result in results)} = {call}")
        else:
            self._lines.append(pad + call)

    def _return(self, node: Return, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        self._lines.append(f"{pad}return {self.exprs(node.values)}".rstrip())

    def _comment(self, node: Comment, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        self._lines.append(f"{pad}#{node.text}")

    def _opaque_stmt(self, node: OpaqueStmt, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        self._lines.extend(pad + line if line else line for line in node.lines)

    def _for(self, node: For, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        target = node.index
        if node.carries:
            target += f", {self._carry_names(node.carries)}"
        parts = self._bounds(node)
        parts += [f"{key}={self.expr(value)}" for key, value in node.kwargs]
        if node.carries:
            parts.append(self._init_values(node.carries))
        if node.attrs:
            parts.append(f"attrs={self._dict(DictExpr(node.attrs))}")
        self._lines.append(f"{pad}for {target} in pl.{node.kind}({', '.join(parts)}):")
        self.block(node.body, indent + 4, node.results)

    def _bounds(self, node: For) -> list[str]:
        if node.step != Const(1):
            return [self.expr(node.start), self.expr(node.stop), self.expr(node.step)]
        if node.start != Const(0):
            return [self.expr(node.start), self.expr(node.stop)]
        return [self.expr(node.stop)]

    def _carry_names(self, carries: tuple[Carry, ...]) -> str:
        names = ", ".join(carry.name for carry in carries)
        return f"({names},)" if len(carries) == 1 else f"({names})"

    def _init_values(self, carries: tuple[Carry, ...]) -> str:
        inits = self.exprs(carry.init for carry in carries)
        return f"init_values=({inits},)" if len(carries) == 1 else f"init_values=({inits})"

    def _while(self, node: While, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        names, inits = self._carry_names(node.carries), self._init_values(node.carries)
        self._lines.append(f"{pad}for {names} in pl.while_({inits}):")
        self._lines.append(f"{pad}    pl.cond({self.expr(node.condition)})")
        if node.body:
            self.block(node.body, indent + 4, node.results)

    def _if(self, node: If, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        self._lines.append(f"{pad}if {self.expr(node.condition)}:")
        self.block(node.then, indent + 4, node.results)
        if node.orelse is not None:
            self._lines.append(f"{pad}else:")
            self.block(node.orelse, indent + 4, node.results)

    def _scope(self, node: Scope, indent: int, pad: str, results: tuple[Result, ...]) -> None:
        args = ", ".join(f"{key}={self.expr(value)}" for key, value in node.kwargs)
        self._lines.append(f"{pad}with pl.scope({args}):")
        self.block(node.body, indent + 4)

    # ------------------------------------------------------------ functions, programs

    def function(self, function: Function) -> None:
        options = []
        if function.kind != "Opaque":
            options.append(f"type=pl.FunctionType.{function.kind}")
        if function.level is not None:
            options.append(f"level=pl.Level.{function.level}")
        if function.role is not None:
            options.append(f"role=pl.Role.{function.role}")
        options += [f"{key}={self.expr(value)}" for key, value in function.options]
        self._lines.append(f"    @pl.function({', '.join(options)})" if options else "    @pl.function")
        params = [] if function.role == SUB_WORKER else ["self"]
        params += [self._param(param) for param in function.params]
        self._lines.append(f"    def {function.name}({', '.join(params)}){self._returns(function)}:")
        if function.attrs:
            self._lines.append(f"        pl.func_attr({self._dict(DictExpr(function.attrs))})")
        if function.body or not function.attrs:
            self.block(function.body, 8)

    def _param(self, param: Param) -> str:
        text = self.type(param.type)
        if param.direction is not Direction.In:
            text = f"pl.{param.direction.value}[{text}]"
        return f"{param.name}: {text}"

    def _returns(self, function: Function) -> str:
        if not function.returns:
            return ""
        if len(function.returns) == 1:
            return f" -> {self.type(function.returns[0])}"
        return f" -> tuple[{', '.join(map(self.type, function.returns))}]"

    def program(self, program: Program) -> str:
        self._lines = []
        for function in program.functions:
            self.function(function)
        body = self._lines
        head = [f"# pypto.program: {program.name}", "import pypto.language as pl"]
        if any(map(_needs_distributed, (*program.preamble, *body))):
            head.append("import pypto.language.distributed as pld")
        head.append("")
        if program.dynamic_dims:
            head += [f'{name} = pl.dynamic("{name}")' for name in program.dynamic_dims]
            head.append("")
        head += program.preamble
        head += ["@pl.program", f"class {program.name}:"]
        if not body:
            body = ["    pass"]
        return "\n".join(head + body) + ("\n" if program.final_newline else "")

    def statement(self, stmt: Stmt, indent: int = 0) -> str:
        self._lines = []
        results = getattr(stmt, "results", ())
        _STMT_PRINTERS[type(stmt)](self, stmt, indent, " " * indent, results)
        return "\n".join(self._lines)


@dataclass(frozen=True, slots=True)
class _Bracketed(Expr):
    """An expression in round brackets; only while printing."""

    inner: Expr


def _needs_distributed(line: str) -> bool:
    return "pld." in line and not line.lstrip().startswith("#")


_PASS = OpaqueStmt(("pass",))
_EXPR_PRINTERS: dict[type, Callable[[Printer, Any], str]] = {
    Var: Printer._var,
    Const: Printer._const,
    StrConst: Printer._str,
    NoneConst: Printer._none,
    EnumConst: Printer._enum,
    ListExpr: Printer._list,
    DictExpr: Printer._dict,
    BinOp: Printer._binop,
    UnaryOp: Printer._unary,
    ScalarFn: Printer._scalar_fn,
    Cast: Printer._cast,
    TupleGet: Printer._get,
    OpaqueExpr: Printer._opaque,
    OpCall: Printer._op_call,
    FuncCall: Printer._func_call,
    Submit: Printer._submit,
    _Bracketed: Printer._bracketed,
}
_STMT_PRINTERS: dict[type, Callable[[Printer, Any, int, str, tuple[Result, ...]], None]] = {
    Assign: Printer._assign,
    EvalStmt: Printer._eval,
    For: Printer._for,
    While: Printer._while,
    If: Printer._if,
    Scope: Printer._scope,
    Yield: Printer._yield,
    Return: Printer._return,
    Comment: Printer._comment,
    OpaqueStmt: Printer._opaque_stmt,
}


def print_program(program: Program) -> str:
    """``program`` in the printed form; ``print_program(parse(t)) == t`` for printed ``t``."""
    return Printer().program(program)


def print_expr(expr: Expr) -> str:
    """``expr`` in the printed form."""
    return Printer().expr(expr)


def print_type(node: Type) -> str:
    """``node`` in the printed form, as in an annotation."""
    return Printer().type(node)


def print_stmt(stmt: Stmt) -> str:
    """``stmt`` in the printed form, from column 0, without a final line break."""
    return Printer().statement(stmt)


@remembered("_head")
def print_head(stmt: Stmt) -> str:
    """The first line of ``stmt`` in the printed form."""
    inner = blocks(stmt)
    head = with_blocks(stmt, tuple(() for _ in inner)) if inner else stmt
    return print_stmt(head).split("\n", 1)[0]
