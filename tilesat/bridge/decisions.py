"""Decisions of a pass as data: what, where, and the rules that made it."""

from __future__ import annotations

from dataclasses import dataclass

from tilesat.bridge.elaborate import Elaborator
from tilesat.extract.plan import Plan, Reasons
from tilesat.ir.index import FunctionIndex
from tilesat.ir.printer import print_stmt
from tilesat.ir.types import TileType


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision. ``kind`` is space, move, retarget, clone, split, peel, write-back or rehome; placement
    adds load, view and extract; residency resident and stays.

    ``subject`` is the variable it is about, ``text`` says what was decided, ``place`` is the statement it
    concerns as printed in the input (first line), ``rules`` are the names of the rules that made it. Where a cost
    model chose, ``cost`` is the price of what was chosen and ``rejected`` names the best alternative with what it
    would have cost more.
    """

    function: str
    kind: str
    subject: str
    text: str
    place: str
    rules: Reasons
    cost: float | None = None
    rejected: str = ""

    def as_dict(self) -> dict[str, object]:
        """The decision as plain data, for JSON."""
        return {
            "function": self.function,
            "kind": self.kind,
            "subject": self.subject,
            "text": self.text,
            "place": self.place,
            "rules": list(self.rules),
            "cost": self.cost,
            "rejected": self.rejected,
        }


def plan_decisions(index: FunctionIndex, plan: Plan, elaborated: Elaborator) -> list[Decision]:
    """The decisions of ``plan`` in program order, spaces first within a statement."""
    listed: list[tuple[tuple[int, int], Decision]] = []
    function = index.function.name

    def add(site: int, rank: int, kind: str, subject: str, text: str, rules: Reasons) -> None:
        decision = Decision(function, kind, subject, text, place_of(index, site), rules)
        listed.append(((site, rank), decision))

    for name, space in plan.spaces.items():
        type_ = index.types[name]
        stated = type_.space if isinstance(type_, TileType) else None
        was = "" if stated is space else f" (was {stated.value if stated else 'open'})"
        site = index.definitions[name].site
        add(site, 0, "space", name, f"{name} lives in {space.value}{was}", plan.space_reasons.get(name, ()))
    for name, rules in plan.retargets.items():
        text = f"{name} is produced in {plan.spaces[name].value}"
        add(index.definitions[name].site, 1, "retarget", name, text, rules)
    for (name, space), rules in plan.clones.items():
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
        add(copy.site, 3, "move", copy.variable, text, copy.reasons)
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


def place_of(index: FunctionIndex, site: int) -> str:
    """The first line of the statement at ``site``; the function's name for its parameters."""
    return index.function.name if site < 0 else print_stmt(index.sites[site]).split("\n", 1)[0]


def subject_of(index: FunctionIndex, site: int) -> str:
    """The variable that the statement at ``site`` binds."""
    return str(getattr(index.sites[site], "name", ""))
