"""One call of the HiGHS solver, and what of its answer can be trusted."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SHORTEST_RUN = 0.01
"""Seconds; what a solver that is asked at the last moment still gets."""


@dataclass(slots=True)
class Rows:
    """Linear rows ``low <= sum(value * column) <= high`` over ``binaries`` 0/1 columns, then continuous ones."""

    binaries: int
    orders: list[float] = field(default_factory=list)
    """Upper bounds of the continuous columns; their lower bounds are 0."""
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, low: float, high: float, columns: Sequence[int], values: Sequence[float]) -> None:
        self.low.append(low)
        self.high.append(high)
        self.columns.extend(columns)
        self.values.extend(values)
        self.starts.append(len(self.columns))

    @property
    def width(self) -> int:
        return self.binaries + len(self.orders)


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` of the columns if a solution was found; ``bound`` is proven for the objective."""

    values: list[float] | None
    bound: float
    infeasible: bool = False


def minimise(rows: Rows, cost: Sequence[float], gap: float, deadline: float, start: Sequence[float] | None) -> Answer:
    """Minimise ``cost`` over the binary columns until the proven gap is below ``gap``, or to ``deadline``.

    ``start`` is a feasible point; objectives that differ do so by ``gap`` at least. Some releases return the start in
    place of a better solution that they report the objective of, or report one that none has; such an answer is not
    taken, and the solver asked again without a start.
    """
    solver = _set_up(rows, cost, gap)
    if start is not None:
        _pass_start(solver, start)
    answer, consistent = _run(solver, rows, cost, gap, deadline)
    if consistent:
        return answer
    again, consistent = _run(_set_up(rows, cost, gap), rows, cost, gap, deadline)
    values = again.values if consistent else None
    return Answer(values, max(answer.bound, again.bound), again.infeasible)


def _set_up(rows: Rows, cost: Sequence[float], gap: float) -> Any:
    import highspy
    import numpy as np

    # The public class prints a banner before it can be told to be quiet; its base has all that is needed.
    solver: Any = getattr(highspy, "_Highs", highspy.Highs)()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", gap),
        ("mip_feasibility_tolerance", 1e-7),
    ):
        solver.setOptionValue(option, value)
    model = highspy.HighsLp()
    model.num_col_ = rows.width
    model.num_row_ = len(rows.low)
    model.col_cost_ = np.array([*cost, *([0.0] * len(rows.orders))], dtype=float)
    model.col_lower_ = np.zeros(rows.width)
    model.col_upper_ = np.array([*([1.0] * rows.binaries), *rows.orders], dtype=float)
    model.row_lower_ = np.array(rows.low, dtype=float)
    model.row_upper_ = np.array(rows.high, dtype=float)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array(rows.starts, dtype=np.int32)
    model.a_matrix_.index_ = np.array(rows.columns, dtype=np.int32)
    model.a_matrix_.value_ = np.array(rows.values, dtype=float)
    integer, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    model.integrality_ = [integer] * rows.binaries + [real] * len(rows.orders)
    solver.passModel(model)
    return solver


def _pass_start(solver: Any, start: Sequence[float]) -> None:
    import highspy

    solution = highspy.HighsSolution()
    solution.col_value = [float(value) for value in start]
    solver.setSolution(solution)


def _run(solver: Any, rows: Rows, cost: Sequence[float], gap: float, deadline: float) -> tuple[Answer, bool]:
    """The solver's answer, and whether its solution and its objective agree."""
    import highspy

    solver.setOptionValue("time_limit", max(SHORTEST_RUN, deadline - time.monotonic()))
    solver.run()
    status = solver.getModelStatus()
    known = highspy.HighsModelStatus
    # All columns are bounded, so that "unbounded or infeasible" leaves one reading.
    if status in (known.kInfeasible, known.kUnboundedOrInfeasible):
        return Answer(None, math.inf, infeasible=True), True
    if status not in (known.kOptimal, known.kTimeLimit):
        return Answer(None, -math.inf), True
    info = solver.getInfo()
    bound = float(info.mip_dual_bound)
    values = [float(value) for value in solver.getSolution().col_value]
    objective = float(info.objective_function_value)
    if len(values) != rows.width or not math.isfinite(objective):
        return Answer(None, bound), True
    reached = math.fsum(price * value for price, value in zip(cost, values, strict=False))
    # Closer than two solutions can be, beside rounding.
    agree = abs(reached - objective) <= 0.5 * gap + 1e-11 * abs(objective)
    return Answer(values if agree else None, bound), agree
