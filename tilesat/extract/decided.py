"""The plan that inference rules decided, read out of the e-graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tilesat.errors import ImpossibleError, SolveError
from tilesat.extract.plan import Copy, Plan, Reasons
from tilesat.ir.hardware import Hardware, move_path
from tilesat.ir.index import FunctionIndex
from tilesat.ir.printer import print_stmt
from tilesat.ir.types import MemorySpace
from tilesat.ir_terms.bundle import Tables
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.relations import BY_NAME, SPACE_NUMBERS, SPACES
from tilesat.ir_terms.relations.base import SLOTS, kind_of
from tilesat.ir_terms.session import Encoded


def read_decision(graph: Tables, name: str) -> list[tuple[Any, ...]]:
    """All rows of relation or function ``name``, columns converted."""
    return graph.table(name).read(*map(kind_of, BY_NAME[name].columns))


def read_reasons(graph: Tables, name: str) -> dict[tuple[Any, ...], Reasons]:
    """Which rules made each row of decision ``name``."""
    rows = graph.table(f"why-{name}").read(*map(kind_of, BY_NAME[name].columns), "strings")
    return {row[:-1]: row[-1] for row in rows}


@dataclass(slots=True)
class Premises:
    """What a run of the rules is told in advance, because an earlier run decided it."""

    grounded: dict[tuple[int, int], int] = field(default_factory=dict)
    """(loop, carried position) -> space of its init, which the slot keeps."""
    peeled: set[tuple[int, int]] = field(default_factory=set)
    splits: dict[int, int] = field(default_factory=dict)
    """Split call -> space of its accumulator."""
    write_backs: dict[tuple[int, int], int] = field(default_factory=dict)
    """(call, written argument) -> space of the buffer that gets back what was written."""
    rehomes: set[tuple[str, int]] = field(default_factory=set)
    reasons: dict[tuple[object, ...], Reasons] = field(default_factory=dict)

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        return {
            "grounded": [(*key, space) for key, space in sorted(self.grounded.items())],
            "peeled": [*sorted(self.peeled)],
            "was-split": [*sorted(self.splits.items())],
            "wrote-back": [(*key, space) for key, space in sorted(self.write_backs.items())],
            "rehomed": [*sorted(self.rehomes)],
        }

    def learn(self, graph: Tables, facts: Rows) -> bool:
        """Take over the rewrites that ``graph`` decided over ``facts``; whether there was a new one."""
        before = self.rows()
        remedies = read_decision(graph, "remedy")
        why = {name: read_reasons(graph, name) for name in ("remedy", "split", "write-back", "rehome")}
        for loop, position, choice in remedies:
            if choice == 2:
                self.peeled.add((loop, position))
            else:
                # The init's space is known when the run is over, not before: `_keep_to_buffers` says it.
                self.grounded.setdefault((loop, position), -1)
            self.reasons["remedy", loop, position] = why["remedy"].get((loop, position, choice), ())
        for site, number in read_decision(graph, "split"):
            self.splits[site] = number
            self.reasons["split", site] = why["split"].get((site, number), ())
        for site, position, number in read_decision(graph, "write-back"):
            self.write_backs[site, position] = number
            self.reasons["write-back", site] = why["write-back"].get((site, position, number), ())
        for name, number in read_decision(graph, "rehome"):
            self.rehomes.add((name, number))
            self.reasons["rehome", name] = why["rehome"].get((name, number), ())
        self._keep_to_buffers(graph, facts)
        return before != self.rows()

    def _keep_to_buffers(self, graph: Tables, facts: Rows) -> None:
        """A grounded slot keeps the space its init has now; what goes back into a buffer goes where that is now."""
        if not self.grounded and not self.splits and not self.write_backs:
            return
        seen = {name: code % 16 for name, code in graph.table("seen").read("str", "int")}
        for site, position, name in facts.get("reads", ()):
            if position == 0 and site in self.splits and name in seen:
                self.splits[site] = seen[name]
            if (site, position) in self.write_backs and name in seen:
                self.write_backs[site, position] = seen[name]
        for loop, position, name in facts.get("starts-from", ()):
            if (loop, position) in self.grounded and name in seen:
                self.grounded[loop, position] = seen[name]
        # Without a space for the init there is none to keep: the rule set lacks something, and is told so later.
        self.grounded = {key: space for key, space in self.grounded.items() if space >= 0}


class PlanReader:
    """Assembles the :class:`Plan` of a function from the decisions in its e-graph."""

    def __init__(self, graph: Tables, encoded: Encoded, premises: Premises, chip: Hardware | None) -> None:
        self.graph = graph
        self.index: FunctionIndex = encoded.index
        self.facts = encoded.rows()
        self.premises = premises
        self.chip = None if chip is None else chip.name
        self.plan = Plan()
        self._seen: dict[str, MemorySpace] = {}

    def read(self) -> Plan:
        """The plan; raises :class:`SolveError` when a tile is left without a space."""
        self._spaces()
        self._producers()
        self._rewrites()
        self._copies()
        return self.plan

    def _spaces(self) -> None:
        reasons = read_reasons(self.graph, "space")
        for name, code in read_decision(self.graph, "space"):
            self.plan.spaces[name] = SPACES[code % 16]
            self.plan.space_reasons[name] = reasons.get((name, code), ())
        self._seen = {name: SPACES[code % 16] for name, code in self.graph.table("seen").read("str", "int")}
        missing = [name for name in self.index.tile_names() if name not in self.plan.spaces]
        if missing:
            raise SolveError(
                f"no rule gives tile '{missing[0]}' a memory space",
                hint="the rule set lacks the rule that resolves its producer",
            )

    def _producers(self) -> None:
        reasons = read_reasons(self.graph, "retarget")
        for name, number in read_decision(self.graph, "retarget"):
            if self.plan.spaces[name] is SPACES[number]:
                self.plan.retargets[name] = reasons.get((name, number), ())
        reasons = read_reasons(self.graph, "clone")
        for name, number in read_decision(self.graph, "clone"):
            self.plan.clones[name, SPACES[number]] = reasons.get((name, number), ())

    def _rewrites(self) -> None:
        premises, plan = self.premises, self.plan
        lingering = {site for site, position in self.facts.get("lingers", ()) if position == 0}
        for site, number in premises.splits.items():
            plan.splits[site] = premises.reasons.get(("split", site), ())
            if site in lingering:
                plan.write_backs[site] = (0, SPACES[number])
        for (site, position), number in premises.write_backs.items():
            plan.write_backs[site] = (position, SPACES[number])
        for site, (_, space) in plan.write_backs.items():
            if space not in (MemorySpace.Vec, MemorySpace.Mat):
                raise ImpossibleError(
                    f"what '{print_stmt(self.index.sites[site])}' writes is read later under an older name in "
                    f"{space.value}, and nothing can put it there",
                    hint="read it under the name of the written tile",
                )
        for name, number in sorted(premises.rehomes):
            if plan.spaces[name] is not SPACES[number]:
                plan.rehomes[name] = SPACES[number]
        for loop, position in sorted(premises.peeled):
            plan.peels[self._peeled_call(loop, position)] = loop

    def _peeled_call(self, loop: int, position: int) -> int:
        """The accumulating call that reads the iter-arg at ``position`` of ``loop``."""
        names = {name for site, k, name in self.facts.get("iter-arg", ()) if (site, k) == (loop, position)}
        for site, k, name in self.facts.get("reads", ()):
            if k == 0 and name in names:
                return int(site)
        raise SolveError("a peeled slot has no accumulating call")

    # -------------------------------------------------------------------------- copies

    def _copies(self) -> None:
        needs = read_decision(self.graph, "need")
        copies = _Copies(self, read_reasons(self.graph, "need"))
        for site, slot, name, number in sorted(needs, key=lambda row: row[:2]):
            self.plan.operands[site, slot] = copies.key(site, slot, name, number)
            self.plan.need_reasons[site, slot] = copies.why.get((site, slot, name, number), ())
        for site, name in self.facts.get("torn-view", ()):
            if (site, 0) in self.plan.operands:
                view = print_stmt(self.index.sites[site])
                raise ImpossibleError(
                    f"'{view}' looks at '{name}', which is elsewhere and written later; a copy would not show that",
                    hint="make the view after the write, or read the tile under the name of the written one",
                )

    def path(self, site: int, name: str, target: MemorySpace) -> tuple[MemorySpace, ...] | None:
        source = self._seen[name]
        path = move_path(self.chip, source, target)
        if path is None:
            self.plan.impossible.append((site, name, source, target))
        return path


class _Copies:
    """The copies that serve what calls need; one for each tile, version, space and region, made on demand."""

    def __init__(self, reader: PlanReader, why: dict[tuple[Any, ...], Reasons]) -> None:
        self.index = reader.index
        self.plan = reader.plan
        self.path = reader.path
        self.why = why
        graph = reader.graph
        self._first = {row[:-1]: row[-1] for row in graph.table("first-need").read("str", "int", "int", "int", "int")}
        self._serve = {row[:-1]: row[-1] for row in graph.table("serve").read("int", "int", "str", "int", "int")}
        self._versions = {row[:2]: row[2] for row in reader.facts.get("version", ())}
        self._row_major = set(graph.table("row-major").read("str", "int", "int", "int"))
        self._keys: dict[tuple[str, int, int, int], int] = {}

    def key(self, site: int, slot: int, name: str, number: int) -> int:
        """The key of the copy of ``name`` in space ``number`` that serves ``slot`` of ``site``."""
        depth = self._serve.get((site, slot, name, number))
        if depth is None:
            place = print_stmt(self.index.sites[site]).split("\n", 1)[0]
            raise SolveError(
                f"no rule says which copy of '{name}' in {SPACES[number].value} serves '{place}'",
                hint="the rule set lacks a rule of family moves, or read-regions",
            )
        region = self._ancestor_at(self.index.region_of[site], depth)
        key = (name, self._versions[site, name], number, region)
        if key in self._keys:
            return self._keys[key]
        at, at_slot = divmod(self._first[key], SLOTS)
        path = self.path(at, name, SPACES[number])
        source, hops = None, 0
        if path is not None and len(path) > 2:
            source, hops = self.key(at, at_slot, name, SPACE_NUMBERS[path[-2]]), len(path) - 2
        self._keys[key] = len(self._keys)
        reasons = self.why.get((at, at_slot, name, number), ("need-stops",))
        order, is_row_major = (at_slot, hops), key in self._row_major
        copy = Copy(self._keys[key], name, SPACES[number], at, region, order, is_row_major, source, reasons)
        self.plan.copies.append(copy)
        return self._keys[key]

    def _ancestor_at(self, region: int, depth: int) -> int:
        while self.index.regions[region].depth > depth:
            region = self.index.regions[region].parent
        return region
