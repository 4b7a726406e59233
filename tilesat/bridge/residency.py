"""Loop-invariant residency: loads of stationary operands leave their loops (phase 4)."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

from tilesat.bridge.alike import first_alike
from tilesat.bridge.decisions import Decision, place_of, subject_of
from tilesat.extract.decided import read_reasons
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import MemorySSA
from tilesat.ir.nodes import Assign, Block, EvalStmt, Expr, Function, OpCall, Program, Stmt
from tilesat.ir.walk import blocks, map_own_exprs, walk, with_blocks
from tilesat.ir_terms.evidence_facts import EvidenceCollector
from tilesat.ir_terms.residency_facts import BRIDGE_MARK, ResidencyCollector, is_load, is_mat_load
from tilesat.ir_terms.session import Clock, Encoded, Session, Syntax

Obstacle = tuple[int, str, tuple[str, ...]]
"""Position of a parameter, why it is no safe source, the rules that say so."""
Obstacles = tuple[Obstacle, ...]
Because = Mapping[str, tuple[str, ...]]
"""Why a source is not safe, a panel not proper or a memory too full -> the rules that say so."""
Standing = Mapping[str, frozenset[int]]
"""Load that may leave loops -> the regions in which it may be executed, its own included."""


MOST_KEPT_SITES = 20_000
"""Statements of which what was read is kept for placement; more would take more memory than it saves time."""


@dataclass(frozen=True, slots=True)
class Residency:
    """A function's body after what left its loops, where loads may stand, and why the rest stays."""

    body: Block
    standing: Standing
    decisions: list[Decision]


def candidates(*, levels: bool) -> Callable[[Stmt], bool]:
    """Which loads the rules look at: all of them where those of family ``levels`` are there, else those into Mat."""
    return is_load if levels else is_mat_load


def has_candidates(function: Function, is_candidate: Callable[[Stmt], bool]) -> bool:
    """Whether a structure of ``function`` holds such a load."""
    return any(is_candidate(inner) for stmt in walk(function.body) for block in blocks(stmt) for inner in walk(block))


class ResidencyPass:
    """Runs the rules of the stages evidence (``callers``) and residency on a program whose spaces are decided.

    ``standing`` has, per kernel, what the rules of family ``levels`` found; regions are those of the result too,
    because moving a load neither makes nor removes one. ``syntax`` has what was read of kernels that stay as they are.
    """

    def __init__(
        self, callers: Session, session: Session, chip: Hardware | None, clock: Clock, *, levels: bool
    ) -> None:
        self.callers = callers
        self.session = session
        self.chip = chip
        self.clock = clock
        self.levels = levels
        self.standing: dict[str, Standing] = {}
        self.syntax: dict[str, Syntax] = {}

    def run(self, program: Program, done: Container[str] = ()) -> tuple[Program, list[Decision]]:
        """The program with stationary loads moved out of their loops, by one level; kernels ``done`` have none."""
        is_candidate = candidates(levels=self.levels)
        open_kernels = [f for f in program.functions if f.is_incore and f.name not in done]
        kernels = [f for f in open_kernels if has_candidates(f, is_candidate)]
        if not kernels:
            return program, []
        start = time.perf_counter()
        # Functions that differ in name only are analysed once, and decided once per set of obstacles.
        first = first_alike(kernels)
        keys = {f.name: key for f, key in zip(kernels, first, strict=True)}
        syntax = {key: Syntax.of(kernels[key]) for key in sorted(set(first))}
        obstacles = self._evidence(program, {name: _written(syntax[key].memory) for name, key in keys.items()})
        known: dict[tuple[int, Obstacles], Residency] = {}
        functions, decisions, kept = [], [], 0
        for function in program.functions:
            if function.name in keys:
                key, given = keys[function.name], obstacles.get(function.name, ())
                if (key, given) not in known:
                    known[key, given] = self._function(syntax[key], given)
                found = known[key, given]
                self.standing[function.name] = found.standing
                if found.body is not syntax[key].index.function.body:
                    function = replace(function, body=found.body)
                elif kept <= MOST_KEPT_SITES:
                    self.syntax[function.name] = syntax[key]
                    kept += len(syntax[key].index.sites)
                decisions += [decision.of(function.name) for decision in found.decisions]
            functions.append(function)
        self.clock.add("residency", start)
        return replace(program, functions=tuple(functions)), decisions

    def _evidence(self, program: Program, written: Mapping[str, frozenset[int]]) -> dict[str, Obstacles]:
        """Per kernel, why its callers do not prove a parameter a safe source."""
        self.callers.enter_rows(EvidenceCollector(program, written).rows)
        self.callers.saturate("storage", "evidence", what="caller evidence")
        found: dict[str, list[Obstacle]] = defaultdict(list)
        reasons = read_reasons(self.callers.graph, "source-obstacle")
        for kernel, position, why in sorted(reasons):
            found[kernel].append((position, why, reasons[kernel, position, why]))
        return {kernel: tuple(rows) for kernel, rows in found.items()}

    def _function(self, syntax: Syntax, obstacles: Obstacles) -> Residency:
        index = syntax.index
        rows = ResidencyCollector(index, syntax.memory, self.chip).rows
        rows.setdefault("source-unsafe", []).extend((position, why) for position, why, _ in obstacles)
        rows["region"] = [(r.id, r.parent, r.depth) for r in index.regions]
        rows["site-region"] = list(enumerate(index.region_of))
        rows["tile"] = [(name,) for name in index.tile_names()]
        self.session.enter(Encoded(syntax, rows))
        graph = self.session.graph
        self.session.saturate("read", "promises", "obstacles", "residency", what="residency")
        hoists = {int(site): int(loop) for site, loop in graph.table("hoist").read("int", "int")}
        body = _Hoister(hoists).block(index.function.body) if hoists else index.function.body
        because = {why: rules for _, why, rules in obstacles}
        for relation in ("bad-panel", "over-capacity"):
            for row, rules in read_reasons(graph, relation).items():
                because[row[-1]] = tuple(dict.fromkeys((*because.get(row[-1], ()), *sorted(rules))))
        if self.levels:
            return Residency(body, self._standing(index), self._held(index, because))
        return Residency(body, {}, self._decisions(index, hoists, because))

    def _standing(self, index: FunctionIndex) -> dict[str, frozenset[int]]:
        found: dict[str, set[int]] = {}
        for site, region in self.session.graph.table("may-stand").read("int", "int"):
            stmt = index.sites[site]
            assert isinstance(stmt, Assign)
            found.setdefault(stmt.name, {index.region_of[site]}).add(region)
        return {name: frozenset(regions) for name, regions in sorted(found.items())}

    def _held(self, index: FunctionIndex, because: Because) -> list[Decision]:
        reasons = read_reasons(self.session.graph, "held-because")
        decisions = []
        for site, loop, why in sorted(reasons):
            text = f"cannot leave the loop `{place_of(index, loop)}`: {why}"
            rules = (*reasons[site, loop, why], *because.get(why, ()))
            decisions.append(self._decision(index, site, "stays", text, rules))
        return decisions

    def _decisions(self, index: FunctionIndex, hoists: Mapping[int, int], because: Because) -> list[Decision]:
        listed: list[tuple[int, Decision]] = []
        graph = self.session.graph
        why_hoist, why_stay, why_kept = (read_reasons(graph, name) for name in ("hoist", "stay", "link-kept"))
        for site, loop in hoists.items():
            text = f"moves in front of the loop `{place_of(index, loop)}`"
            listed.append((site, self._decision(index, site, "resident", text, why_hoist[site, loop])))
        for site, why in sorted(why_stay):
            rules = (*why_stay[site, why], *why_kept.get((site, why), ()), *because.get(why, ()))
            listed.append((site, self._decision(index, site, "stays", f"stays in its loop: {why}", rules)))
        return [decision for _, decision in sorted(listed, key=lambda item: item[0])]

    def _decision(self, index: FunctionIndex, site: int, kind: str, text: str, rules: tuple[str, ...]) -> Decision:
        subject = subject_of(index, site)
        return Decision(
            index.function.name, kind, subject, f"{subject} {text}", place_of(index, site), rules, stage="residency"
        )


def _written(memory: MemorySSA) -> frozenset[int]:
    """Positions of the parameters that the function writes."""
    params = enumerate(memory.index.function.params)
    return frozenset(position for position, param in params if memory.is_written(param.name))


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
