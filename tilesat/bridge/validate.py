"""Translation validation: a pass's input and output interpreted on the same random buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilesat.errors import InterpretError
from tilesat.ir.interp import Difference, compare
from tilesat.ir.nodes import FuncCall, Program, Submit
from tilesat.ir.walk import children, own_exprs, walk


@dataclass(frozen=True, slots=True)
class Validation:
    """What was compared. ``skipped`` pairs functions that could not be evaluated with the reason."""

    checked: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    difference: Difference | None

    @property
    def ok(self) -> bool:
        """Whether something was compared and nothing differed."""
        return self.difference is None and bool(self.checked)


def entry_functions(program: Program) -> list[str]:
    """Functions that nobody in the program calls, in order; all functions when everybody is called."""
    called: set[str] = set()
    for function in program.functions:
        for stmt in walk(function.body):
            stack = list(own_exprs(stmt))
            while stack:
                expr = stack.pop()
                if isinstance(expr, (FuncCall, Submit)):
                    called.add(expr.callee)
                stack.extend(children(expr))
    names = [function.name for function in program.functions]
    return [name for name in names if name not in called] or names


def validate(
    before: Program, after: Program, *, seeds: Sequence[int] = (0, 1), observe_inputs: bool = True
) -> Validation:
    """Interpret both programs from every entry function on random arguments, and compare all they show.

    With ``observe_inputs`` false the final contents of In parameters do not count: the caller gives them up.

    Where an entry function cannot be evaluated on random arguments, the InCore functions are evaluated on
    their own instead. Functions that cannot be evaluated at all are listed as skipped.
    """
    checked: list[str] = []
    skipped: list[tuple[str, str]] = []
    kernels = [function.name for function in before.functions if function.is_incore]
    pending = entry_functions(before)
    seen: set[str] = set()
    while pending:
        name = pending.pop(0)
        if name in seen:
            continue
        seen.add(name)
        try:
            difference = compare(before, after, name, seeds=seeds, observe_inputs=observe_inputs)
        except InterpretError as error:
            skipped.append((name, str(error)))
            pending += kernels
            continue
        checked.append(name)
        if difference is not None:
            return Validation(tuple(checked), tuple(skipped), difference)
    return Validation(tuple(checked), tuple(skipped), None)
