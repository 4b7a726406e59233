"""Decisions of a pass as data: what, where, and the rules that made it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from tilesat.bridge.elaborate import Elaborator
from tilesat.extract.plan import Plan, Reasons
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Function
from tilesat.ir.printer import print_head
from tilesat.ir.types import TileType
from tilesat.ir.walk import variable_types


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision.

    ``stage`` says who decided. ``inference``: kinds space, move, retarget, clone, split, peel, write-back and rehome.
    ``residency``: resident and stays. ``placement``: load, move, view and extract for what is executed, slot and
    target for where carried slots and open loads and creates live, operand for what is read where it is although a
    copy could be, merge for loads that use an equal one, dropped for what the input has and the result does not need.
    ``orchestration``: the patterns of that pass.

    ``subject`` is the variable it is about, ``text`` says what was decided, ``place`` is the statement it
    concerns as printed in the input (first line), ``rules`` are the names of the rules that made it.

    Where a cost model chose, ``cost`` is the price of the step, frequency included. On request ``rejected`` names the
    best alternative: the cheapest placement of the function, found by the same local search, in which this step is not
    taken this way. ``rejected_cost`` is what the function would cost more with it.
    """

    function: str
    kind: str
    subject: str
    text: str
    place: str
    rules: Reasons
    cost: float | None = None
    rejected: str = ""
    rejected_cost: float | None = None
    stage: str = "inference"

    @property
    def keeps_placement(self) -> bool:
        """Whether it says that a function keeps its placement, because the rules leave no legal one."""
        return self.kind == "stays" and self.stage == "placement"

    def of(self, function: str) -> Decision:
        """The same decision in a function that differs in name only."""
        if function == self.function:
            return self
        return replace(self, function=function, place=function if self.place == self.function else self.place)

    def as_dict(self) -> dict[str, object]:
        """The decision as plain data, for JSON."""
        return {**asdict(self), "rules": list(self.rules)}


def plan_decisions(index: FunctionIndex, plan: Plan, elaborated: Elaborator) -> list[Decision]:
    """The decisions of ``plan`` in program order, spaces first within a statement."""
    listed: list[tuple[tuple[int, int], Decision]] = []
    function = index.function.name

    def add(site: int, rank: int, kind: str, subject: str, text: str, rules: Reasons) -> None:
        decision = Decision(function, kind, subject, text, place_of(index, site), rules)
        listed.append(((site, rank), decision))

    def bound(item: tuple[str, object]) -> tuple[int, str, int]:
        definition = index.definitions[item[0]]
        return definition.site, definition.how, definition.position

    for name, space in sorted(plan.spaces.items(), key=bound):
        type_ = index.types[name]
        stated = type_.space if isinstance(type_, TileType) else None
        was = "" if stated is space else f" (was {stated.value if stated else 'open'})"
        site = index.definitions[name].site
        add(site, 0, "space", name, f"{name} lives in {space.value}{was}", plan.space_reasons.get(name, ()))
    for name, rules in plan.retargets.items():
        text = f"{name} is produced in {plan.spaces[name].value}"
        add(index.definitions[name].site, 1, "retarget", name, text, rules)
    for (name, space), rules in sorted(plan.clones.items()):
        add(
            index.definitions[name].site,
            2,
            "clone",
            name,
            f"{name} is created once more in {space.value}",
            rules,
        )
    for copy in plan.copies:
        name = elaborated.copy_names[copy.key]
        source = copy.variable if copy.source is None else elaborated.copy_names[copy.source]
        text = f"{name} = move of {source} to {copy.space.value}"
        add(copy.site, 3, "move", name, text, copy.reasons)
    for site, rules in plan.splits.items():
        add(site, 4, "split", subject_of(index, site), "product in Acc, sum in Vec", rules)
    for site in plan.peels:
        add(
            site,
            4,
            "peel",
            subject_of(index, site),
            "the first trip computes the plain product",
            ("peel-zero-fill",),
        )
    for site, (_, space) in plan.write_backs.items():
        text = f"what it writes goes back into the old buffer in {space.value}"
        rules = plan.splits.get(site, ("write-back",))
        add(site, 5, "write-back", subject_of(index, site), text, rules)
    for name, space in plan.rehomes.items():
        text = f"{name} moves to {space.value} for all its readers"
        add(index.definitions[name].site, 5, "rehome", name, text, ("rehome-written",))
    return [decision for _, decision in sorted(listed, key=lambda item: item[0])]


def current_decisions(
    before: Iterable[Function],
    between: Iterable[Function],
    after: Iterable[Function],
    inferred: list[Decision],
    placed: list[Decision],
) -> tuple[list[Decision], list[Decision]]:
    """What holds of ``after``, which placement made of ``between``, which inference made of ``before``: functions.

    Earlier decisions on tiles that placement put elsewhere, or made anew, do not; and that ``after`` lacks a copy which
    only ``between`` had is no news. Decisions on other functions stay.
    """
    had, first, last = ({f.name: variable_types(f) for f in functions} for functions in (before, between, after))
    taken = {(decision.function, decision.subject) for decision in placed if decision.kind != "dropped"}

    def still(decision: Decision) -> bool:
        if decision.function not in first:
            return True
        old, new = first[decision.function].get(decision.subject), last[decision.function]
        if isinstance(old, TileType):
            now = new.get(decision.subject)
            if not isinstance(now, TileType) or now.space is not old.space:
                return False
        return decision.kind != "move" or (decision.function, decision.subject) not in taken

    kept = [decision for decision in inferred if still(decision)]
    news = [d for d in placed if d.kind != "dropped" or d.function not in had or d.subject in had[d.function]]
    return kept, news


def place_of(index: FunctionIndex, site: int) -> str:
    """The first line of the statement at ``site``; the function's name for its parameters."""
    return index.function.name if site < 0 else print_head(index.sites[site])


def subject_of(index: FunctionIndex, site: int) -> str:
    """The variable that the statement at ``site`` binds."""
    return str(getattr(index.sites[site], "name", ""))
