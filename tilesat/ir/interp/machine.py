"""Control flow: blocks, loops, branches, and the binding of variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tilesat.errors import InterpretError, Location
from tilesat.ir.interp.digest import digest
from tilesat.ir.interp.evaluator import Evaluator, Outcome, Returned
from tilesat.ir.interp.scalars import as_index, coerce, truth
from tilesat.ir.interp.state import Frame, Run
from tilesat.ir.interp.values import Opaque, Tensor, Tile, Value, detached
from tilesat.ir.nodes import (
    Assign,
    Block,
    Carry,
    Comment,
    EvalStmt,
    For,
    If,
    OpaqueStmt,
    Result,
    Return,
    Scope,
    Stmt,
    While,
    Yield,
)
from tilesat.ir.printer import print_stmt
from tilesat.ir.types import ScalarType, TensorType, TileType, Type


class Machine(Evaluator):
    """Runs statements in frames of one run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._statements: dict[type[Stmt], Callable[[Any, Frame], Outcome]] = {
            Assign: self._assign,
            EvalStmt: self._eval,
            For: self._for,
            While: self._while,
            If: self._if,
            Scope: self._scope,
            Yield: self._yield,
            Return: self._return,
            OpaqueStmt: self._opaque,
        }

    def block(self, block: Block, frame: Frame) -> Outcome:
        """Run ``block``; what its yield or return gives."""
        for stmt in block:
            handler = self._statements.get(type(stmt))
            if handler is None:
                if isinstance(stmt, Comment):
                    continue
                raise InterpretError(f"statements of kind {type(stmt).__name__} cannot be evaluated")
            try:
                self.run.step()
                outcome = handler(stmt, frame)
            except InterpretError as error:
                if error.location is not None:
                    raise
                raise _located(error, stmt, frame) from error
            if outcome is not None:
                return outcome
        return None

    def _assign(self, stmt: Assign, frame: Frame) -> Outcome:
        value = self.annotated(stmt.value, frame, stmt.type)
        if isinstance(stmt.type, ScalarType):
            value = coerce(value, stmt.type.dtype)
        else:
            _check(value, stmt.type)
        frame.variables[stmt.name] = value
        return None

    def _eval(self, stmt: EvalStmt, frame: Frame) -> Outcome:
        self.value(stmt.value, frame)
        return None

    def _for(self, stmt: For, frame: Frame) -> Outcome:
        start, stop, step = (as_index(self.value(bound, frame)) for bound in (stmt.start, stmt.stop, stmt.step))
        if step == 0:
            raise InterpretError("the step of the loop is 0")
        carried = self._initial(stmt.carries, frame)
        launch, mark = frame.launch, frame.mark()
        for index in range(start, stop, step):
            frame.variables[stmt.index] = index
            if stmt.kind == "split_aiv":
                frame.launch = replace(launch, subblock=index)
            outcome = self._iteration(stmt.carries, carried, stmt.body, frame)
            if isinstance(outcome, Returned):
                return outcome
            carried = outcome
            frame.leave(mark)
        frame.launch = launch
        _bind(stmt.results, carried, frame)
        return None

    def _while(self, stmt: While, frame: Frame) -> Outcome:
        carried = self._initial(stmt.carries, frame)
        mark = frame.mark()
        while True:
            for carry, value in zip(stmt.carries, carried, strict=True):
                frame.variables[carry.name] = value
            if not truth(self.value(stmt.condition, frame)):
                break
            outcome = self._iteration(stmt.carries, carried, stmt.body, frame)
            if isinstance(outcome, Returned):
                return outcome
            carried = outcome
            frame.leave(mark)
        frame.leave(mark)
        _bind(stmt.results, carried, frame)
        return None

    def _initial(self, carries: tuple[Carry, ...], frame: Frame) -> tuple[Value, ...]:
        return tuple([_typed(detached(self.value(carry.init, frame)), carry.type) for carry in carries])

    def _iteration(
        self, carries: tuple[Carry, ...], carried: tuple[Value, ...], body: Block, frame: Frame
    ) -> tuple[Value, ...]:
        """One run of ``body``; the values carried on, in buffers of their own, or what it returns."""
        self.run.step()
        for carry, value in zip(carries, carried, strict=True):
            frame.variables[carry.name] = value
        outcome = self.block(body, frame)
        if isinstance(outcome, Returned):
            return outcome
        yielded = outcome or ()
        if len(yielded) != len(carries):
            raise InterpretError(f"the loop body yields {len(yielded)} values for {len(carries)} iter-args")
        return tuple([_typed(detached(v), c.type) for c, v in zip(carries, yielded, strict=True)])

    def _if(self, stmt: If, frame: Frame) -> Outcome:
        taken = stmt.then if truth(self.value(stmt.condition, frame)) else stmt.orelse
        mark = frame.mark()
        outcome = None if taken is None else self.block(taken, frame)
        if isinstance(outcome, Returned):
            return outcome
        yielded = outcome or ()
        if len(yielded) != len(stmt.results):
            raise InterpretError(f"the branch yields {len(yielded)} values for {len(stmt.results)} results")
        values = tuple([detached(value) for value in yielded])
        frame.leave(mark)
        _bind(stmt.results, values, frame)
        return None

    def _scope(self, stmt: Scope, frame: Frame) -> Outcome:
        return self.block(stmt.body, frame)

    def _yield(self, stmt: Yield, frame: Frame) -> Outcome:
        return self.values(stmt.values, frame)

    def _return(self, stmt: Return, frame: Frame) -> Outcome:
        return Returned(self.values(stmt.values, frame))

    def _opaque(self, stmt: OpaqueStmt, frame: Frame) -> Outcome:
        text = "\n".join(stmt.lines)
        key = self.opaque_digest(text, stmt.names, frame)
        self.run.record("opaque statement", key)
        for position, name in enumerate(stmt.binds):
            frame.variables[name] = Opaque(digest(key, b"%d" % position))
        return None


def _located(error: InterpretError, stmt: Stmt, frame: Frame) -> InterpretError:
    text = print_stmt(stmt).strip().splitlines()
    place = text[0] if text else type(stmt).__name__
    message = f"{error.message}\n    {place}"
    return InterpretError(message, location=Location(function=frame.function.name), hint=error.hint)


def _bind(results: tuple[Result, ...], values: tuple[Value, ...], frame: Frame) -> None:
    if len(results) != len(values):
        raise InterpretError(f"{len(values)} values for {len(results)} results")
    for result, value in zip(results, values, strict=True):
        frame.variables[result.name] = _typed(value, result.type)


def _typed(value: Value, type_: Type) -> Value:
    return coerce(value, type_.dtype) if isinstance(type_, ScalarType) else value


def _check(value: Value, type_: Type) -> None:
    """Raise where an annotation with constant extents contradicts ``value``."""
    if isinstance(type_, TileType):
        _check_buffer(value, type_, Tile, "tile")
    elif isinstance(type_, TensorType):
        _check_buffer(value, type_, Tensor, "tensor")


def _check_buffer(value: Value, type_: TileType | TensorType, kind: type, what: str) -> None:
    if not isinstance(value, (Tile, Tensor)) or not isinstance(value, kind):
        raise InterpretError(f"annotated as a {what}, the value is a {type(value).__name__}")
    shape = type_.shape
    fits = len(shape) == len(value.shape) and all(
        have == want or not isinstance(want, int) for have, want in zip(value.shape, shape, strict=True)
    )
    if not fits or value.dtype != type_.dtype:
        raise InterpretError(
            f"annotated as a {what} of {type_.dtype} {list(shape)}, the value has {value.dtype} {list(value.shape)}"
        )
