"""Exact integer reasoning on index expressions: sums of atoms with integer coefficients.

``4 * i + n - 2`` is the affine form ``-2 + 4*[i] + 1*[n]``. What is not affine (``i // n``, a call, a maximum) becomes
an atom of its own, so every expression has a form, and two forms whose atoms agree can be compared. Integers are
Python's: nothing overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tilesat.ir.dtypes import is_float
from tilesat.ir.index import int_value
from tilesat.ir.nodes import BinOp, Cast, Const, Expr, OpCall, ScalarFn, UnaryOp, Var
from tilesat.ir.printer import print_expr
from tilesat.ir.walk import children, names_in, rename_expr

Lookup = Callable[[str], "Affine | None"]
"""What a variable stands for, ``None`` for itself."""


@dataclass(frozen=True, slots=True)
class Affine:
    """``const`` plus each atom of ``terms`` times its coefficient, which is never 0; atoms in order of their text."""

    const: int
    terms: tuple[tuple[Expr, int], ...] = ()

    @property
    def is_const(self) -> bool:
        return not self.terms

    def __add__(self, other: Affine) -> Affine:
        if not self.terms and not other.terms:
            return Affine(self.const + other.const)
        sums = dict(self.terms)
        for atom, factor in other.terms:
            sums[atom] = sums.get(atom, 0) + factor
        return _affine(self.const + other.const, sums)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scaled(-1)

    def scaled(self, factor: int) -> Affine:
        """This form times ``factor``."""
        if factor == 0:
            return ZERO
        return Affine(self.const * factor, tuple([(atom, c * factor) for atom, c in self.terms]))

    def coefficient(self, name: str) -> int:
        """The coefficient of variable ``name`` as an atom of its own."""
        return next((c for atom, c in self.terms if isinstance(atom, Var) and atom.name == name), 0)

    def without(self, name: str) -> Affine:
        """This form without the atom that is variable ``name``."""
        kept = tuple([(a, c) for a, c in self.terms if not (isinstance(a, Var) and a.name == name)])
        return Affine(self.const, kept)

    def names(self) -> frozenset[str]:
        """Variables that occur in the atoms."""
        return frozenset(name for atom, _ in self.terms for name in names_in(atom))

    def names_inside(self) -> frozenset[str]:
        """Variables that occur in atoms other than the variable itself: there, nothing is known of how they act."""
        return frozenset(name for atom, _ in self.terms if not isinstance(atom, Var) for name in names_in(atom))

    def expr(self) -> Expr:
        """An expression with this value, positive terms first."""
        ordered = sorted(self.terms, key=lambda term: term[1] < 0)
        result: Expr | None = None
        for atom, factor in ordered:
            result = _plus(result, atom, factor)
        if result is None:
            return Const(self.const)
        if self.const == 0:
            return result
        return BinOp("+" if self.const > 0 else "-", result, Const(abs(self.const)))

    def __str__(self) -> str:
        return print_expr(self.expr())


ZERO = Affine(0)


def _affine(const: int, sums: Mapping[Expr, int]) -> Affine:
    kept = [(atom, factor) for atom, factor in sums.items() if factor]
    if len(kept) > 1:
        kept.sort(key=lambda term: print_expr(term[0]))
    return Affine(const, tuple(kept))


def _plus(so_far: Expr | None, atom: Expr, factor: int) -> Expr:
    term: Expr = atom if abs(factor) == 1 else BinOp("*", atom, Const(abs(factor)))
    if so_far is None:
        return term if factor > 0 else UnaryOp("-", term)
    return BinOp("+" if factor > 0 else "-", so_far, term)


def constant(value: int) -> Affine:
    return Affine(value)


def variable(name: str) -> Affine:
    return Affine(0, ((Var(name), 1),))


def affine(expr: int | Expr, lookup: Lookup | None = None) -> Affine:
    """The affine form of ``expr``; ``lookup`` gives the forms of variables that are defined by others."""
    if isinstance(expr, int):
        return Affine(expr)
    value = int_value(expr)
    if value is not None:
        return Affine(value)
    if isinstance(expr, Var):
        known = lookup(expr.name) if lookup is not None else None
        return variable(expr.name) if known is None else known
    if isinstance(expr, UnaryOp) and expr.op == "-":
        return affine(expr.operand, lookup).scaled(-1)
    if isinstance(expr, Cast) and not is_float(expr.dtype) and _is_index(expr.operand):
        return affine(expr.operand, lookup)
    if isinstance(expr, BinOp) and expr.op in _ARITHMETIC:
        return _binary(expr, affine(expr.lhs, lookup), affine(expr.rhs, lookup))
    if isinstance(expr, ScalarFn) and expr.name in ("min", "max"):
        return _extremum(expr, [affine(arg, lookup) for arg in expr.args])
    return _atom(expr, lookup)


_ARITHMETIC = ("+", "-", "*", "//", "%")


def _is_index(expr: Expr) -> bool:
    """Whether ``expr`` is made of index constants alone, so that a cast to an integer type keeps it."""
    return isinstance(expr, Const) and expr.dtype == "INDEX"


def _binary(expr: BinOp, lhs: Affine, rhs: Affine) -> Affine:
    if expr.op == "+":
        return lhs + rhs
    if expr.op == "-":
        return lhs - rhs
    if expr.op == "*" and lhs.is_const:
        return rhs.scaled(lhs.const)
    if expr.op == "*" and rhs.is_const:
        return lhs.scaled(rhs.const)
    divided = _divided(expr.op, lhs, rhs)
    return _of(BinOp(expr.op, lhs.expr(), rhs.expr())) if divided is None else divided


def _divided(op: str, lhs: Affine, rhs: Affine) -> Affine | None:
    """``lhs // rhs`` or ``lhs % rhs`` where that is exact, or the same however division rounds."""
    if op not in ("//", "%") or not rhs.is_const or rhs.const <= 0:
        return None
    if lhs.is_const and lhs.const >= 0:
        return Affine(lhs.const // rhs.const if op == "//" else lhs.const % rhs.const)
    if lhs.const % rhs.const or any(factor % rhs.const for _, factor in lhs.terms):
        return None
    if op == "%":
        return ZERO
    return Affine(lhs.const // rhs.const, tuple([(atom, c // rhs.const) for atom, c in lhs.terms]))


def _extremum(expr: ScalarFn, args: list[Affine]) -> Affine:
    if all(arg.is_const for arg in args):
        choose = min if expr.name == "min" else max
        return Affine(choose(arg.const for arg in args))
    if len(set(args)) == 1:
        return args[0]
    return _of(ScalarFn(expr.name, tuple(arg.expr() for arg in args)))


def _atom(expr: Expr, lookup: Lookup | None) -> Affine:
    """``expr`` as one atom, its variables replaced by what they stand for."""
    if lookup is None:
        return _of(expr)
    known = {name: lookup(name) for name in names_in(expr)}
    return _of(rename_expr(expr, {name: form.expr() for name, form in known.items() if form is not None}))


def _of(atom: Expr) -> Affine:
    return Affine(0, ((atom, 1),))


def substituted(form: Affine, values: Mapping[str, Affine]) -> Affine:
    """``form`` with variables replaced by their ``values``; atoms are worked out again."""
    if not values or form.is_const:
        return form
    total = Affine(form.const)
    for atom, factor in form.terms:
        if isinstance(atom, Var):
            total += values.get(atom.name, _of(atom)).scaled(factor)
        elif any(name in values for name in names_in(atom)):
            total += affine(atom, values.get).scaled(factor)
        else:
            total += _of(atom).scaled(factor)
    return total


def folded(expr: Expr) -> Expr:
    """``expr`` with arithmetic on index constants worked out; everything else stays as written."""
    if isinstance(expr, BinOp):
        expr = BinOp(expr.op, folded(expr.lhs), folded(expr.rhs))
        form = affine(expr) if expr.op in _ARITHMETIC and _all_index((expr.lhs, expr.rhs)) else None
        return expr if form is None or not form.is_const else Const(form.const)
    if isinstance(expr, UnaryOp):
        operand = folded(expr.operand)
        if expr.op == "-" and _all_index((operand,)):
            return affine(UnaryOp("-", operand)).expr()
        return UnaryOp(expr.op, operand)
    if isinstance(expr, ScalarFn):
        args = tuple(folded(arg) for arg in expr.args)
        return affine(ScalarFn(expr.name, args)).expr() if _all_index(args) else ScalarFn(expr.name, args)
    return expr


def _all_index(exprs: Iterable[Expr]) -> bool:
    return all(isinstance(e, Const) and e.dtype == "INDEX" and int_value(e) is not None for e in exprs)


def has_call(expr: Expr) -> bool:
    """Whether ``expr`` calls an op."""
    return isinstance(expr, OpCall) or any(map(has_call, children(expr)))
