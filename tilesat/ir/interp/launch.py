"""Calls and launches of the program's functions.

A launch on ``core_num`` blocks runs the callee once per block, one after the other. Submits run at once;
the dependencies and dumps of a launch do not influence values. A predicate is traced, and taken to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

from tilesat.errors import InterpretError
from tilesat.ir.interp.digest import digest
from tilesat.ir.interp.junk import drawn, junk
from tilesat.ir.interp.scalars import as_index, coerce
from tilesat.ir.interp.state import Frame, Launch, Run
from tilesat.ir.interp.values import Tensor, Tile, Value, box, new_tensor
from tilesat.ir.nodes import Expr, FuncCall, Function, NamedExprs, Param, Submit, Var
from tilesat.ir.printer import print_expr
from tilesat.ir.types import Direction, ScalarType, Shape, TensorType, TileType

if TYPE_CHECKING:
    from tilesat.ir.interp.evaluator import Evaluator

_CORES = "core_num"
# Keywords of calls and submits that schedule them.
_SCHEDULING = frozenset({_CORES, "deps", "dumps", "allow_early_resolve", "predicate", "sync_start", "device", "attrs"})
_MAX_DEPTH = 64

LaunchObserver = Callable[[Run, Function, list[Value]], None]
OBSERVER: ContextVar[LaunchObserver | None] = ContextVar("launch_observer", default=None)
"""Called with every function that runs and its arguments, in this thread."""


class Launcher:
    """Runs functions in frames of their own."""

    def __init__(self, run: Run, evaluator: Evaluator) -> None:
        self.run = run
        self.evaluator = evaluator

    def call(self, node: FuncCall, frame: Frame) -> Value:
        """The value of ``self.f(...)``: nothing, one value, or a tuple."""
        results = self._launched(node, frame)
        if not results:
            return None
        return results[0] if len(results) == 1 else results

    def submit(self, node: Submit, frame: Frame) -> Value:
        """The tuple of a submit: the callee's results and a task id."""
        predicate = next((value for name, value in node.kwargs if name == "predicate"), None)
        if predicate is not None:
            self.run.record("submit predicate", digest(node.callee, self.evaluator.value(predicate, frame)))
        return (*self._launched(node, frame), self.run.next_task())

    def _callee(self, node: FuncCall | Submit) -> Function:
        try:
            callee = self.run.program.function(node.callee)
        except KeyError:
            raise InterpretError(f"the program has no function '{node.callee}'") from None
        unknown = [name for name, _ in node.kwargs if name not in _SCHEDULING]
        if unknown:
            raise InterpretError(f"keyword {unknown[0]} of a call is not modelled")
        return callee

    def _arguments(self, callee: Function, node: FuncCall | Submit, frame: Frame) -> list[Value]:
        arguments = list(self.evaluator.values(node.args, frame))
        missing = callee.params[len(arguments) :]
        if len(arguments) > len(callee.params) or not (isinstance(node, Submit) or not missing):
            raise InterpretError(
                f"'{callee.name}' has {len(callee.params)} parameters, {len(arguments)} arguments are given"
            )
        for param in missing:
            if param.direction is not Direction.Out or not isinstance(param.type, TensorType):
                raise InterpretError(f"no argument for parameter '{param.name}' of '{callee.name}'")
        if missing:
            bound = self.bound(callee, callee.params[: len(arguments)], arguments)
            arguments += [self.fresh_output(param, bound) for param in missing]
        return arguments

    def fresh_output(self, param: Param, frame: Frame) -> Tensor:
        """An uninitialised buffer for ``param``, whose extents ``frame`` knows."""
        assert isinstance(param.type, TensorType)
        shape = self.evaluator.extents(param.type.shape, frame)
        return new_tensor(param.type.dtype, junk(param.type.dtype, shape).copy())

    def _launched(self, node: FuncCall | Submit, frame: Frame) -> tuple[Value, ...]:
        callee = self._callee(node)
        arguments = self._arguments(callee, node, frame)
        cores = self._cores((*node.kwargs, *node.attrs), frame)
        return self.on_blocks(callee, arguments, cores, frame.launch)

    def on_blocks(
        self, callee: Function, arguments: list[Value], cores: int | None, launch: Launch
    ) -> tuple[Value, ...]:
        """Run ``callee`` on ``cores`` blocks, one by one; what the last of them returns.

        With ``None`` the callee's own ``core_num`` counts, else it runs once as the block the caller is.
        """
        if cores is None and any(name == _CORES for name, _ in callee.attrs):
            cores = self._cores(callee.attrs, self.bound(callee, callee.params, arguments))
        if cores is None:
            return self.function(callee, arguments, launch)
        if cores < 1:
            raise InterpretError(f"'{callee.name}' is launched on {cores} cores", hint="at least one is needed")
        results: tuple[Value, ...] = ()
        for block in range(cores):
            results = self.function(callee, arguments, Launch(block, cores, launch.subblock))
        return results

    def _cores(self, options: NamedExprs, frame: Frame) -> int | None:
        value: Expr | None = next((value for name, value in options if name == _CORES), None)
        return None if value is None else as_index(self.evaluator.value(value, frame))

    # --------------------------------------------------------------------- one activation

    def function(self, function: Function, arguments: list[Value], launch: Launch) -> tuple[Value, ...]:
        """Run ``function`` once; the values it returns."""
        observer = OBSERVER.get()
        if observer is not None:
            observer(self.run, function, arguments)
        frame = replace(self.bound(function, function.params, arguments), launch=launch)
        if any(name == "external_source" for name, _ in function.options):
            self._external(function, frame)
        self.run.depth += 1
        if self.run.depth > _MAX_DEPTH:
            raise InterpretError(f"calls are nested more than {_MAX_DEPTH} deep in '{function.name}'")
        outcome = self.evaluator.block(function.body, frame)
        self.run.depth -= 1
        return () if outcome is None else tuple(outcome)

    def bound(self, function: Function, params: tuple[Param, ...], arguments: list[Value]) -> Frame:
        """A frame with ``params`` bound to ``arguments``, and the dynamic dimensions these show."""
        frame = Frame(function, {})
        dims = self._dims(function, params, arguments)
        frame.variables.update(dims)
        for param, argument in zip(params, arguments, strict=True):
            if isinstance(param.type, ScalarType):
                frame.variables[param.name] = coerce(argument, param.type.dtype)
            else:
                frame.variables[param.name] = argument
        for param, argument in zip(params, arguments, strict=True):
            if isinstance(param.type, (TensorType, TileType)):
                self._check(function, param, argument, frame)
        return frame

    def _dims(self, function: Function, params: tuple[Param, ...], arguments: list[Value]) -> dict[str, Value]:
        """Dynamic dimensions: as the arguments' extents show them, else as stated for the whole run."""
        names = frozenset(self.run.program.dynamic_dims)
        seen: dict[str, Value] = {}
        for param, argument in zip(params, arguments, strict=True):
            if not isinstance(param.type, (TensorType, TileType)) or not isinstance(argument, (Tensor, Tile)):
                continue
            for dim, extent in zip(param.type.shape, argument.shape, strict=False):
                if isinstance(dim, Var) and dim.name in names:
                    seen.setdefault(dim.name, extent)
        return {**self.run.dims, **seen}

    def _check(self, function: Function, param: Param, argument: Value, frame: Frame) -> None:
        type_ = param.type
        assert isinstance(type_, (TensorType, TileType))
        kind = Tensor if isinstance(type_, TensorType) else Tile
        place = f"parameter '{param.name}' of '{function.name}'"
        if not isinstance(argument, (Tensor, Tile)) or not isinstance(argument, kind):
            raise InterpretError(f"{place} is a {kind.__name__.lower()}, the argument a {type(argument).__name__}")
        if argument.dtype != type_.dtype or not self._fits(type_.shape, argument.shape, frame):
            raise InterpretError(
                f"{place} has type {type_.dtype} {_shown(type_.shape)}, "
                f"the argument {argument.dtype} {list(argument.shape)}"
            )

    def _fits(self, shape: Shape, extents: tuple[int, ...], frame: Frame) -> bool:
        return len(shape) == len(extents) and self.evaluator.extents(shape, frame) == extents

    def _external(self, function: Function, frame: Frame) -> None:
        """A function written in another language: an unknown function of what it may read."""
        read = tuple(frame.variables[param.name] for param in function.params if param.direction is not Direction.Out)
        key = digest(function.name, read, frame.launch.block)
        self.run.record(f"external {function.name}", key)
        for position, param in enumerate(function.params):
            value = frame.variables[param.name]
            if param.direction is not Direction.In and isinstance(value, Tensor):
                contents = drawn(digest(key, position), value.dtype, value.array.shape)
                value.write(box(value.array.shape), contents)


def _shown(shape: Shape) -> str:
    return "[" + ", ".join(str(dim) if isinstance(dim, int) else print_expr(dim) for dim in shape) + "]"
