"""Memory-space inference and move insertion, as a pass over programs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tilesat.bridge.decisions import Decision, place_of, plan_decisions
from tilesat.bridge.elaborate import Elaborator
from tilesat.bridge.residency import ResidencyPass, strip_marks
from tilesat.diagnostics import Diagnostic, Severity
from tilesat.extract.decided import PlanReader, Premises
from tilesat.extract.plan import Plan
from tilesat.ir.hardware import Hardware, hardware
from tilesat.ir.nodes import Function, Program
from tilesat.ir.verify import INPUT_PROPERTIES, OUTPUT_PROPERTIES, require, verify
from tilesat.ir_terms.session import Clock, Encoded, Session, encode_function
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import RuleSet, ruleset_of, rulesets_program


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass made of a program.

    ``decisions`` are in program order, ``diagnostics`` say where the pass departed from the documents or what
    it found suspicious, ``timings`` are seconds per stage.
    """

    program: Program
    decisions: tuple[Decision, ...]
    diagnostics: tuple[Diagnostic, ...]
    timings: Mapping[str, float]


@dataclass(slots=True)
class _Solved:
    function: Function
    decisions: list[Decision] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def infer_tile_memory_space(
    program: Program,
    *,
    rules: str | RuleSet = "reference",
    hardware: str | Hardware | None = None,
    check: bool = True,
) -> PassResult:
    """Give every tile of the InCore functions a memory space and insert the moves that takes.

    ``rules`` is a preset's name or a rule set, ``hardware`` a chip's name (``910b``, ``950``) or ``None`` for what
    all chips share. Functions of other kinds come back as they are (INF-S-01). With ``check`` the result is
    verified; the input always is, before anything is touched.

    Raises :class:`tilesat.VerifyError` for input that violates a required property (INF-S-02, INF-S-03) and
    :class:`tilesat.RuleError` or :class:`tilesat.SolveError` when the rules fail.
    """
    return _Pass(preset(rules), _chip(hardware)).run(program, check=check)


def _chip(name: str | Hardware | None) -> Hardware | None:
    return hardware(name)


class _Pass:
    def __init__(self, rules: RuleSet, chip: Hardware | None) -> None:
        self.rules = rules
        self.chip = chip
        self.clock = Clock()
        self._session: Session | None = None
        self._solved: dict[Function, tuple[str, _Solved]] = {}

    def run(self, program: Program, *, check: bool) -> PassResult:
        start = time.perf_counter()
        require(program, INPUT_PROPERTIES)
        start = self.clock.add("verify input", start)
        functions: list[Function] = []
        decisions: list[Decision] = []
        diagnostics: list[Diagnostic] = []
        for function in program.functions:
            solved = self._function(function) if function.is_incore else _Solved(function)
            functions.append(solved.function)
            decisions += solved.decisions
            diagnostics += solved.diagnostics
        result = replace(program, functions=tuple(functions))
        if self.chip is not None:
            result, resident = ResidencyPass(self._session_for_rules(), self.chip, self.clock).run(result)
            decisions += resident
        result = strip_marks(result)
        if check:
            start = time.perf_counter()
            require(result, OUTPUT_PROPERTIES)
            diagnostics += verify(result, properties=("HardwarePaths",), hardware=self.chip)
            self.clock.add("verify output", start)
        return PassResult(result, tuple(decisions), tuple(diagnostics), self.clock.seconds)

    def _function(self, function: Function) -> _Solved:
        """The solved function; functions that differ in name only are solved once."""
        key = replace(function, name="")
        known = self._solved.get(key)
        if known is None:
            solved = self._solve(function)
            self._solved[key] = (function.name, solved)
            return solved
        _, solved = known
        return _Solved(
            replace(solved.function, name=function.name),
            [replace(decision, function=function.name) for decision in solved.decisions],
            [replace(diagnostic, function=function.name) for diagnostic in solved.diagnostics],
        )

    def _solve(self, function: Function) -> _Solved:
        start = time.perf_counter()
        encoded = encode_function(function, self.chip)
        start = self.clock.add("encode", start)
        if not encoded.index.tile_names():
            return _Solved(function)
        plan = self._decide(encoded)
        start = time.perf_counter()
        elaborator = Elaborator(encoded.index, plan)
        result = elaborator.function()
        decisions = plan_decisions(encoded.index, plan, elaborator)
        self.clock.add("elaborate", start)
        return _Solved(result, decisions, self._diagnostics(encoded, plan))

    def _session_for_rules(self) -> Session:
        """The e-graph with the rules loaded, made on first use."""
        if self._session is None:
            start = time.perf_counter()
            text = "\n".join((rulesets_program(), self.rules.program))
            self._session = Session(text, what=f"rule set '{self.rules.name}'")
            self.clock.add("load rules", start)
        return self._session

    def _decide(self, encoded: Encoded) -> Plan:
        """Run the rules; repeat while they rewrite what the analysis starts from (family ``legalize``)."""
        session = self._session_for_rules()
        start = time.perf_counter()
        premises = Premises()
        while True:
            session.enter(encoded, premises.rows())
            start = self.clock.add("load terms", start)
            session.graph.saturate(ruleset_of("read"), ruleset_of("demand"), what=self.rules.name)
            session.graph.run(
                f"(run-schedule (saturate (saturate {ruleset_of('resolve')}) (saturate {ruleset_of('structure')})))",
                what=self.rules.name,
            )
            start = self.clock.add("saturate", start)
            if not premises.learn(session.graph):
                break
            start = self.clock.add("pull", start)
        session.graph.saturate(*map(ruleset_of, ("flows", "needs", "layout")), what=self.rules.name)
        start = self.clock.add("saturate", start)
        plan = PlanReader(session.graph, encoded, premises, self.chip).read()
        self.clock.add("pull", start)
        return plan

    def _diagnostics(self, encoded: Encoded, plan: Plan) -> list[Diagnostic]:
        """Where the result is not what the documents would give, or is not possible on a chip."""
        found: list[Diagnostic] = []

        def report(severity: Severity, check: str, site: int, message: str) -> None:
            found.append(Diagnostic(severity, check, encoded.function.name, message, place_of(encoded.index, site)))

        for site, name, source, target in plan.impossible:
            report(
                Severity.WARNING,
                "impossible-move",
                site,
                f"'{name}' is moved from {source.value} to {target.value}, which no chip can do; "
                f"produce it in {target.value} instead",
            )
        for site in plan.splits:
            report(
                Severity.NOTE,
                "split-accumulate",
                site,
                "the accumulator cannot be brought into Acc; the product is added to it in Vec",
            )
        for site in plan.peels:
            report(
                Severity.NOTE,
                "peel-zero-fill",
                site,
                "a fill cannot write Acc; the loop's first trip computes the plain product instead",
            )
        for name, space in plan.rehomes.items():
            report(
                Severity.NOTE,
                "rehome-written",
                encoded.index.definitions[name].site,
                f"'{name}' is written in place in {space.value}; all its readers use the tile there",
            )
        return found
