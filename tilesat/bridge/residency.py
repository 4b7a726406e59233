"""Loop-invariant residency: loads of stationary operands leave their loops (phase 4)."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tilesat.bridge.decisions import Decision, place_of, subject_of
from tilesat.extract.decided import read_reasons
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import MemorySSA
from tilesat.ir.nodes import Assign, Block, EvalStmt, Expr, Function, OpCall, Program, Stmt
from tilesat.ir.walk import blocks, map_own_exprs, walk, with_blocks
from tilesat.ir_terms.encode import Encoder, Rows
from tilesat.ir_terms.evidence_facts import EvidenceCollector
from tilesat.ir_terms.residency_facts import BRIDGE_MARK, ResidencyCollector, is_load, is_mat_load
from tilesat.ir_terms.session import Clock, Encoded, Session
from tilesat.rules.rule import ruleset_of

Obstacles = Mapping[int, tuple[tuple[str, tuple[str, ...]], ...]]
"""Parameter position -> (why it is no safe source, the rules that say so)."""


Standing = Mapping[str, frozenset[int]]
"""Load that may leave loops -> the regions in which it may be executed, its own included."""


@dataclass(slots=True)
class Residency:
    """What leaves its loop, and why the rest stays."""

    hoists: dict[int, int] = field(default_factory=dict)
    """Site -> the loop in front of which it moves."""
    standing: dict[str, frozenset[int]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)


def has_candidates(function: Function, is_candidate: Callable[[Stmt], bool]) -> bool:
    """Whether a structure of ``function`` holds such a load."""
    return any(is_candidate(inner) for stmt in walk(function.body) for block in blocks(stmt) for inner in walk(block))


class ResidencyPass:
    """Runs the evidence and residency rules on a program whose spaces are decided.

    ``standing`` has, per kernel, what the rules of family ``levels`` found; regions are those of the result too,
    because moving a load neither makes nor removes one.
    """

    def __init__(self, session: Session, chip: Hardware, clock: Clock, *, levels: bool) -> None:
        self.session = session
        self.chip = chip
        self.clock = clock
        self.levels = levels
        self.standing: dict[str, Standing] = {}

    def run(self, program: Program) -> tuple[Program, list[Decision]]:
        """The program with stationary loads moved out of their loops, by one level."""
        is_candidate = is_load if self.levels else is_mat_load
        kernels = {f.name for f in program.functions if f.is_incore and has_candidates(f, is_candidate)}
        if not kernels:
            return program, []
        start = time.perf_counter()
        obstacles = self._evidence(program, kernels)
        functions, decisions = [], []
        for function in program.functions:
            if function.name in kernels:
                index = FunctionIndex(function)
                found = self._function(index, obstacles[function.name])
                self.standing[function.name] = found.standing
                function = replace(function, body=_Hoister(found.hoists).block(function.body))
                decisions += found.decisions
            functions.append(function)
        self.clock.add("residency", start)
        return replace(program, functions=tuple(functions)), decisions

    def _evidence(self, program: Program, kernels: set[str]) -> dict[str, dict[int, list[tuple[str, tuple[str, ...]]]]]:
        """Per kernel and parameter, why its callers do not prove it a safe source."""
        self.session.enter_rows(EvidenceCollector(program, kernels).rows)
        self.session.graph.saturate(ruleset_of("storage"), ruleset_of("evidence"), what="caller evidence")
        reasons = read_reasons(self.session.graph, "source-obstacle")
        found: dict[str, dict[int, list[tuple[str, tuple[str, ...]]]]] = defaultdict(lambda: defaultdict(list))
        for row in sorted(self.session.graph.table("source-obstacle").read("str", "int", "str")):
            kernel, position, why = row
            found[kernel][position].append((why, reasons.get(row, ())))
        return found

    def _function(self, index: FunctionIndex, obstacles: Mapping[int, list[tuple[str, tuple[str, ...]]]]) -> Residency:
        memory = MemorySSA(index)
        encoder = Encoder()
        number = encoder.function(index.function)
        rows: Rows = {f"in-{name}": tuples for name, tuples in encoder.rows.items()}
        rows.update(ResidencyCollector(index, memory, self.chip).rows)
        rows.setdefault("source-unsafe", []).extend(
            (position, why) for position, whys in obstacles.items() for why, _ in whys
        )
        rows["region"] = [(r.id, r.parent, r.depth) for r in index.regions]
        rows["site-region"] = list(enumerate(index.region_of))
        rows["tile"] = [(name,) for name in index.tile_names()]
        self.session.enter(Encoded(index.function, index, memory, rows, number))
        graph = self.session.graph
        graph.saturate(*map(ruleset_of, ("read", "promises", "obstacles", "residency")), what="residency")
        hoists = {int(site): int(loop) for site, loop in graph.table("hoist").read("int", "int")}
        if self.levels:
            return Residency(hoists, self._standing(index), self._held(index))
        return Residency(hoists, {}, self._decisions(index, hoists))

    def _standing(self, index: FunctionIndex) -> dict[str, frozenset[int]]:
        found: dict[str, set[int]] = {}
        for site, region in self.session.graph.table("may-stand").read("int", "int"):
            stmt = index.sites[site]
            assert isinstance(stmt, Assign)
            found.setdefault(stmt.name, {index.region_of[site]}).add(region)
        return {name: frozenset(regions) for name, regions in sorted(found.items())}

    def _held(self, index: FunctionIndex) -> list[Decision]:
        reasons = read_reasons(self.session.graph, "held-because")
        decisions = []
        for site, loop, why in sorted(reasons):
            text = f"cannot leave the loop `{place_of(index, loop)}`: {why}"
            decisions.append(self._decision(index, site, "stays", text, reasons[site, loop, why]))
        return decisions

    def _decisions(self, index: FunctionIndex, hoists: Mapping[int, int]) -> list[Decision]:
        graph = self.session.graph
        listed: list[tuple[int, Decision]] = []
        why_hoist, why_stay = read_reasons(graph, "hoist"), read_reasons(graph, "stay")
        for site, loop in hoists.items():
            text = f"moves in front of the loop `{place_of(index, loop)}`"
            listed.append((site, self._decision(index, site, "resident", text, why_hoist[site, loop])))
        for site, why in sorted(graph.table("stay").read("int", "str")):
            text = f"stays in its loop: {why}"
            listed.append((site, self._decision(index, site, "stays", text, why_stay[site, why])))
        return [decision for _, decision in sorted(listed, key=lambda item: item[0])]

    def _decision(self, index: FunctionIndex, site: int, kind: str, text: str, rules: tuple[str, ...]) -> Decision:
        subject = subject_of(index, site)
        return Decision(index.function.name, kind, subject, f"{subject} {text}", place_of(index, site), rules)


class _Hoister:
    """Moves statements in front of their loops, in order."""

    def __init__(self, hoists: Mapping[int, int]) -> None:
        self._hoists = hoists
        self._site = 0
        self._waiting: dict[int, list[Stmt]] = defaultdict(list)

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            site = self._site
            self._site += 1
            inner = tuple(self.block(part) for part in blocks(stmt))
            stmt = with_blocks(stmt, inner) if inner else stmt
            out += self._waiting.pop(site, [])
            if site in self._hoists:
                self._waiting[self._hoists[site]].append(stmt)
            else:
                out.append(stmt)
        return tuple(out)


def strip_marks(program: Program) -> Program:
    """``program`` without the compiler's bridge mark on any call (INF-P4-03)."""
    return replace(program, functions=tuple(map(_strip_function, program.functions)))


def _strip_function(function: Function) -> Function:
    body = _strip_block(function.body)
    return function if body is function.body else replace(function, body=body)


def _strip_block(block: Block) -> Block:
    new = tuple([_strip_stmt(stmt) for stmt in block])
    return block if all(a is b for a, b in zip(block, new, strict=True)) else new


def _strip_stmt(stmt: Stmt) -> Stmt:
    inner = blocks(stmt)
    if inner:
        return with_blocks(stmt, tuple(map(_strip_block, inner)))
    return map_own_exprs(stmt, _strip_expr) if isinstance(stmt, (Assign, EvalStmt)) else stmt


def _strip_expr(expr: Expr) -> Expr:
    if not isinstance(expr, OpCall) or not any(key == BRIDGE_MARK for key, _ in expr.attrs):
        return expr
    return replace(expr, attrs=tuple(item for item in expr.attrs if item[0] != BRIDGE_MARK))
