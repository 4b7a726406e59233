"""How the printed form spells literals and ops, and where an expression needs brackets."""

from __future__ import annotations

import ast
import keyword
import math
from functools import lru_cache

from tilesat.ir.nodes import BinOp, Const, Expr, OpaqueExpr, UnaryOp

PRECEDENCE = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4),
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    **dict.fromkeys(("*", "/", "//", "%"), 10),
    "**": 12,
}
_OPEN, NOT, COMPARISON, _PRODUCT, SIGN, _AWAIT, ATOM = 0, 3, 4, 10, 11, 12, 13
_PYTHON_OPS: dict[type, str] = {
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Pow: "**",
    ast.And: "and",
    ast.Or: "or",
}


def format_float(value: float) -> str:
    """Seventeen significant digits, shortest spelling of those, always recognisable as a float."""
    if not math.isfinite(value):
        return f'float("{value}")'
    text = f"{value:.17g}"
    return text if any(mark in text for mark in ".en") else text + ".0"


def op_spelling(op: str) -> str:
    """``tile.and`` is called as ``pl.tile.and_``; ``pld.`` ops keep their prefix."""
    if keyword.iskeyword(op.rpartition(".")[2]):
        op += "_"
    return op if op.startswith("pld.") else f"pl.{op}"


def quoted(text: str, quote: str = '"') -> str:
    """``text`` as a string literal in these quotes."""
    if text.isprintable() and "\\" not in text and quote not in text:
        return f"{quote}{text}{quote}"
    return quote + "".join([_escaped(char, quote) for char in text]) + quote


def _escaped(char: str, quote: str) -> str:
    if char in ("\\", quote):
        return "\\" + char
    return char if char.isprintable() else repr(char)[1:-1]


def level_of(node: Expr, text: str) -> int:
    """How tightly ``node``, printed as ``text``, holds together: the precedence of its outermost operator."""
    if isinstance(node, BinOp):
        return PRECEDENCE[node.op]
    if isinstance(node, UnaryOp):
        return NOT if node.op == "not" else SIGN
    if isinstance(node, Const):
        return SIGN if text[0] == "-" else ATOM
    return _python_level(text) if isinstance(node, OpaqueExpr) else ATOM


@lru_cache(maxsize=256)
def _python_level(text: str) -> int:
    """The same for an expression that is known as its text only."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        return _OPEN
    if node.col_offset or node.lineno > 1:
        return ATOM  # It is in brackets already.
    if isinstance(node, ast.BinOp):
        return PRECEDENCE.get(_PYTHON_OPS.get(type(node.op), ""), _PRODUCT)
    if isinstance(node, ast.BoolOp):
        # Python reads ``a or b or c`` as one operator of three, so even its own kind needs brackets around it.
        return PRECEDENCE[_PYTHON_OPS[type(node.op)]] - 1
    if isinstance(node, ast.UnaryOp):
        return NOT if isinstance(node.op, ast.Not) else SIGN
    if isinstance(node, ast.Compare):
        return COMPARISON
    if isinstance(node, ast.Await):
        return _AWAIT
    return _OPEN if isinstance(node, _LOOSE) else ATOM


_LOOSE = (ast.Lambda, ast.IfExp, ast.NamedExpr, ast.Yield, ast.YieldFrom)
