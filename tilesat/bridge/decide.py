"""Inference of one function: rules decide, the plan is elaborated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilesat.bridge.decisions import Decision, place_of, plan_decisions
from tilesat.bridge.elaborate import Elaborator
from tilesat.bridge.placing import Placed
from tilesat.diagnostics import Diagnostic, Severity
from tilesat.errors import SolveError
from tilesat.extract.decided import PlanReader, Premises
from tilesat.extract.plan import Plan
from tilesat.ir.hardware import Hardware
from tilesat.ir.nodes import Function
from tilesat.ir_terms.session import Clock, Encoded, Session, encode_function

# Each round takes over at least one rewrite of a call, slot or variable; real functions need two or three.
MOST_ROUNDS = 50


@dataclass(slots=True)
class Inferred:
    """A function with spaces and moves, what was decided, and what is worth a word.

    ``placed`` is there where placement followed at once. Then ``function`` is its result, and ``decisions`` are those
    that still hold; ``seconds`` were spent on it, told with the first of the functions that went together.
    """

    function: Function
    decisions: list[Decision] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    placed: Placed | None = None
    seconds: float = 0.0


class InferenceStage:
    """Decides spaces and moves function by function."""

    def __init__(self, session: Session, chip: Hardware | None, clock: Clock, what: str) -> None:
        self.session = session
        self.chip = chip
        self.clock = clock
        self.what = what

    def run(self, functions: Sequence[Function]) -> list[Inferred]:
        """What the rules make of each of ``functions``, which share an e-graph."""
        start = time.perf_counter()
        each = [encode_function(function, self.chip) for function in functions]
        self.clock.add("encode", start)
        plans = self._decide([_Open(encoded) for encoded in each if encoded.index.tile_names()])
        start = time.perf_counter()
        found = []
        for encoded in each:
            plan = plans.get(encoded)
            found.append(Inferred(encoded.index.function) if plan is None else _carried_out(encoded, plan))
        self.clock.add("elaborate", start)
        return found

    def _decide(self, each: list[_Open]) -> dict[Encoded, Plan]:
        """Run the rules; repeat while they rewrite what the analysis starts from (family ``legalize``)."""
        plans: dict[Encoded, Plan] = {}
        rounds = 0
        while each:
            if rounds == MOST_ROUNDS:
                raise SolveError(
                    f"{self.what} rewrites '{each[0].encoded.index.function.name}' without end",
                    hint="see the rules of family legalize",
                )
            each = self._round(each, plans)
            rounds += 1
        return plans

    def _round(self, each: list[_Open], plans: dict[Encoded, Plan]) -> list[_Open]:
        """The functions about which the rules found something new; the others are done."""
        start = time.perf_counter()
        self.session.enter_all([(one.encoded, one.premises.rows()) for one in each], before=("read",))
        start = self.clock.add("load terms", start)
        self.session.saturate("read", "demand", what=self.what)
        self.session.saturate_together("resolve", "structure", what=self.what)
        start = self.clock.add("saturate", start)
        tables = self.session.tables()
        again = [one for one, its in zip(each, tables, strict=True) if one.premises.learn(its, one.encoded.rows())]
        start = self.clock.add("pull", start)
        if len(again) == len(each):
            return again
        self.session.saturate("flows", "needs", "layout", what=self.what)
        start = self.clock.add("saturate", start)
        for one, its in zip(each, self.session.tables(), strict=True):
            if one not in again:
                plans[one.encoded] = PlanReader(its, one.encoded, one.premises, self.chip).read()
        self.clock.add("pull", start)
        return again


@dataclass(slots=True, eq=False)
class _Open:
    """A function that is not decided, and what earlier rounds decided of it."""

    encoded: Encoded
    premises: Premises = field(default_factory=Premises)


def _carried_out(encoded: Encoded, plan: Plan) -> Inferred:
    elaborator = Elaborator(encoded.index, plan)
    result = elaborator.function()
    decisions = plan_decisions(encoded.index, plan, elaborator)
    return Inferred(result, decisions, _diagnostics(encoded, plan))


def _diagnostics(encoded: Encoded, plan: Plan) -> list[Diagnostic]:
    """Where the result is not what the documents would give, or is not possible on a chip."""
    found: list[Diagnostic] = []
    index = encoded.index

    def report(severity: Severity, check: str, site: int, message: str) -> None:
        found.append(Diagnostic(severity, check, encoded.index.function.name, message, place_of(index, site)))

    for site, name, source, target in plan.impossible:
        message = f"'{name}' is moved from {source.value} to {target.value}, which no chip can do"
        hint = f"produce it in {target.value} instead"
        report(Severity.WARNING, "impossible-move", site, f"{message}; {hint}")
    for site in plan.splits:
        message = "the accumulator cannot be brought into Acc; the product is added to it in Vec"
        report(Severity.NOTE, "split-accumulate", site, message)
    for site in plan.peels:
        message = "a fill cannot write Acc; the loop's first trip computes the plain product instead"
        report(Severity.NOTE, "peel-zero-fill", site, message)
    for site, (position, space) in plan.write_backs.items():
        message = f"argument {position} is written in a copy, which goes back into the buffer in {space.value}"
        report(Severity.NOTE, "write-back", site, message)
    for name, space in plan.rehomes.items():
        message = f"'{name}' is written in place in {space.value}; all its readers use the tile there"
        report(Severity.NOTE, "rehome-written", index.definitions[name].site, message)
    return found
