"""The operands of one op call, as the rules of deduction read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilesat.errors import TypeDeductionError
from tilesat.ir.nodes import Const, EnumConst, Expr, ListExpr, NoneConst, OpCall
from tilesat.ir.ops import OpInfo, OutputRule, op_info
from tilesat.ir.printer import Printer, print_expr, print_type
from tilesat.ir.types import (
    ArrayType,
    Dim,
    MemorySpace,
    OpaqueType,
    ScalarType,
    Shape,
    TensorType,
    TileType,
    TupleType,
    Type,
)


class Undeducible(Exception):
    """Raised by a rule whose operands leave the result open; it never leaves this package."""


class Operands:
    """A call, the types of its arguments, and typed access to both.

    Accessors raise :class:`Undeducible` where a type is unknown, and
    :class:`tilesat.errors.TypeDeductionError` where it is known and of the wrong kind.
    """

    __slots__ = ("call", "info", "types")

    def __init__(self, call: OpCall, types: Sequence[Type | None]) -> None:
        info = op_info(call.op)
        assert info is not None, f"a rule for '{call.op}', which the op table lacks"
        self.call = call
        self.types = types
        self.info: OpInfo = info

    # ------------------------------------------------------------------------ arguments

    def check_count(self, least: int) -> None:
        """Raise unless the call has at least ``least`` and at most the declared number of arguments."""
        count, most = len(self.call.args), len(self.info.args)
        if len(self.types) != count:
            raise TypeDeductionError(
                f"{self.call.op}: {len(self.types)} argument types for {count} arguments",
                hint="give one type, or None, for each argument",
            )
        if least <= count <= most:
            return
        wanted = str(least) if least == most else f"{least} to {most}"
        raise TypeDeductionError(
            f"{self.call.op} takes {wanted} arguments, not {count}", hint="give " + ", ".join(self.info.args)
        )

    def has(self, position: int) -> bool:
        """Whether argument ``position`` is given, ``None`` and ``[]`` not counted (section 4)."""
        if position >= len(self.call.args):
            return False
        arg = self.call.args[position]
        return not isinstance(arg, NoneConst) and arg != _NO_ITEMS

    def tile(self, position: int) -> TileType:
        type_ = self.types[position]
        if type(type_) is TileType:
            return type_
        raise self._not_a("tile", position)

    def tensor(self, position: int) -> TensorType:
        type_ = self.types[position]
        if type(type_) is TensorType:
            return type_
        raise self._not_a("tensor", position)

    def array(self, position: int) -> ArrayType:
        type_ = self.types[position]
        if type(type_) is ArrayType:
            return type_
        raise self._not_a("scalar array", position)

    def check_scalar(self, position: int) -> None:
        """Raise when argument ``position`` is known not to be a scalar."""
        type_ = self.types[position]
        if isinstance(type_, (TileType, TensorType, TupleType, ArrayType)):
            raise self._not_a("scalar", position)

    def shape(self, position: int) -> Shape:
        """A list of extents or offsets that is written out."""
        arg = self.call.args[position]
        if isinstance(arg, ListExpr):
            return tuple([dim_of(item) for item in arg.items])
        if isinstance(arg, Const) or isinstance(self.types[position], (TileType, TensorType)):
            raise self._not_a("list of extents", position)
        raise Undeducible

    def dim(self, position: int) -> Dim:
        """A scalar argument that serves as an extent or an offset."""
        self.check_scalar(position)
        arg = self.call.args[position]
        if isinstance(arg, ListExpr):
            raise self._not_a("scalar", position)
        return dim_of(arg)

    def _not_a(self, wanted: str, position: int) -> Exception:
        type_, arg = self.types[position], self.call.args[position]
        if type_ is None and isinstance(arg, ListExpr):
            found = f"the list {print_expr(arg)}"
        elif type_ is None or isinstance(type_, OpaqueType):
            return Undeducible()
        else:
            found = f"'{print_expr(arg)}' of type {print_type(type_)}"
        return self.error(position, f"is {found}", f"a {wanted} is needed")

    # ------------------------------------------------------------------------- keywords

    def dtype(self, keyword: str) -> str:
        """The dtype given by ``keyword``, which the op needs."""
        value = self.optional_dtype(keyword)
        if value is None:
            raise TypeDeductionError(f"{self.call.op} lacks keyword '{keyword}'", hint=f"write {keyword}=pl.FP32, say")
        return value

    def optional_dtype(self, keyword: str) -> str | None:
        value = self.call.kwarg(keyword)
        if value is None or isinstance(value, NoneConst):
            return None
        if not isinstance(value, EnumConst):
            raise Undeducible
        if "." in value.path:
            raise TypeDeductionError(
                f"{self.call.op}: {keyword}=pl.{value.path} is no dtype", hint=f"write {keyword}=pl.FP32, say"
            )
        return value.path

    def integer(self, keyword: str) -> int | None:
        value = self.call.kwarg(keyword)
        return value.value if isinstance(value, Const) and isinstance(value.value, int) else None

    def is_set(self, keyword: str) -> bool:
        """Whether ``keyword`` is given and not plainly false."""
        value = self.call.kwarg(keyword)
        return value is not None and not isinstance(value, NoneConst) and value != _FALSE

    def member(self, keyword: str) -> str | None:
        """The member of an enumeration given by ``keyword``: ``zero`` for ``pl.PadValue.zero``."""
        value = self.call.kwarg(keyword)
        if value is None or isinstance(value, NoneConst):
            return None
        if isinstance(value, EnumConst):
            return value.path.rpartition(".")[2]
        raise Undeducible

    def space(self) -> MemorySpace | None:
        """Where the result lives by the op table (section 5); ``None`` where that is undecided."""
        info = self.info
        if info.output_rule is OutputRule.FIXED:
            return info.output_space
        if info.output_rule is OutputRule.KWARG and info.output_kwarg is not None:
            name = self.member(info.output_kwarg)
            return info.output_space if name is None else self._space(name)
        if info.output_rule is OutputRule.INHERIT:
            return next((type_.space for type_ in self.types if isinstance(type_, TileType)), None)
        return None

    def _space(self, name: str) -> MemorySpace:
        if name in MemorySpace.__members__:
            return MemorySpace[name]
        raise TypeDeductionError(
            f"{self.call.op}: '{name}' is no memory space",
            hint="one of " + ", ".join(MemorySpace.__members__),
        )

    # --------------------------------------------------------------------------- errors

    def error(self, position: int, problem: str, hint: str) -> TypeDeductionError:
        """An error about argument ``position``."""
        return TypeDeductionError(f"{self.call.op}: argument '{self.info.args[position]}' {problem}", hint=hint)


RuleFunction: TypeAlias = Callable[[Operands], Type | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """How one op's result follows from its operands; ``least`` is the fewest arguments it can have."""

    deduce: RuleFunction
    least: int


def dim_of(expr: Expr) -> Dim:
    """An entry of a shape: a plain ``int`` for an index constant, anything else as it is."""
    if isinstance(expr, Const) and expr.dtype == "INDEX" and isinstance(expr.value, int):
        return expr.value
    return expr


def differ(a: Dim, b: Dim) -> bool:
    """Whether two extents are static and unequal."""
    return isinstance(a, int) and isinstance(b, int) and a != b


def static_size(shape: Shape) -> int | None:
    """The number of elements, ``None`` when an extent is dynamic."""
    size = 1
    for dim in shape:
        if not isinstance(dim, int):
            return None
        size *= dim
    return size


def spell(shape: Shape) -> str:
    """``shape`` as a program writes it."""
    return Printer().dims(shape)


def scalar(dtype: str) -> ScalarType:
    return _SCALARS.get(dtype) or ScalarType(dtype)


_SCALARS = {name: ScalarType(name) for name in ("BOOL", "INDEX", "INT32", "FP32", "TASK_ID")}
_NO_ITEMS = ListExpr(())
_FALSE = Const(False, "BOOL")
