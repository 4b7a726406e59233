"""Placement of one function: every legal placement in the e-graph, the cheapest one back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import compress

from tilesat.bridge.decisions import Decision
from tilesat.bridge.explain import placement_decisions
from tilesat.bridge.place import PlaceElaborator
from tilesat.bridge.residency import Standing
from tilesat.errors import SolveError
from tilesat.extract.alternatives import Alternatives
from tilesat.extract.capacity import MOST_ATTEMPTS, MOST_EXACT_ATTEMPTS, Attempt, Fitter
from tilesat.extract.cost import CheckedModel
from tilesat.extract.count import indexed_cost
from tilesat.extract.identity import identity_choice
from tilesat.extract.lifetimes import Needs
from tilesat.extract.places import PlaceGraph
from tilesat.extract.solve import Solution, solve
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign, Function, OpCall
from tilesat.ir.ops import op_info
from tilesat.ir.walk import walk
from tilesat.ir_terms.placement_facts import PlacementCollector
from tilesat.ir_terms.session import Clock, Encoded, Session, Syntax

# Sees each function before and after, with the choices it had: the laboratory draws random ones.
OBSERVER: ContextVar[Callable[[Function, Function, PlaceGraph], None] | None] = ContextVar("placements", default=None)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search: ``exact`` with a solver, seconds it may take in all, and the seed of random choices.

    ``explain`` also finds what each decision rejected; that may take as long again.
    """

    exact: bool = False
    time_limit: float = 10.0
    seed: int = 0
    explain: bool = False

    def __post_init__(self) -> None:
        limit = self.time_limit
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < math.inf:
            raise SolveError(f"the time limit is {limit!r}", hint="a number of seconds above 0")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SolveError(f"the seed is {self.seed!r}", hint="an integer")


@dataclass(frozen=True, slots=True)
class PlacementTask:
    """A function to place, and what the passes before know of it.

    ``free`` names open loads and creates, ``made`` copies that inference made, ``standing`` has the regions for loads
    that may leave their loops, ``syntax`` what is read of the function, where a stage before has done that.
    """

    function: Function
    free: frozenset[str]
    made: frozenset[str]
    standing: Standing
    syntax: Syntax | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled without the syntax: it is large, and soon read again."""
        return PlacementTask, (self.function, self.free, self.made, self.standing)

    @property
    def given(self) -> Hashable:
        """What it says beside its function."""
        return self.free, self.made, tuple(self.standing.items())


def placement_task(
    before: Function, after: Function, standing: Standing | None = None, syntax: Syntax | None = None
) -> PlacementTask:
    """The task to place ``after``, which inference made of ``before``."""
    return PlacementTask(after, _open_producers(before), _new_tiles(before, after), standing or {}, syntax)


def _new_tiles(before: Function, after: Function) -> frozenset[str]:
    """Variables that inference added: its copies, which no user has asked to be as they are."""
    had, has = ({stmt.name for stmt in walk(f.body) if isinstance(stmt, Assign)} for f in (before, after))
    return frozenset(has - had)


def _open_producers(function: Function) -> frozenset[str]:
    """Loads and creates whose text names no space."""
    found: set[str] = set()
    for stmt in walk(function.body):
        if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall):
            info = op_info(stmt.value.op)
            if info is not None and info.retargetable and stmt.value.kwarg("target_memory") is None:
                found.add(stmt.name)
    return frozenset(found)


@dataclass(slots=True)
class Placed:
    """A function after placement, and what that cost."""

    function: Function
    cost: float
    reference_cost: float
    lower_bound: float
    status: str
    decisions: list[Decision] = field(default_factory=list)


_Made = tuple[Solution, PlaceElaborator, FunctionIndex]
"""A solution, who elaborated it, and the function that is."""


class PlacementStage:
    """Places copies, loads and slots of functions whose spaces are decided.

    ``seconds`` are left for the search from now on, by default all that ``options`` allow.
    """

    def __init__(
        self,
        session: Session,
        chip: Hardware | None,
        model: CheckedModel,
        options: SearchOptions,
        clock: Clock,
        seconds: float | None = None,
    ) -> None:
        self.session = session
        self.chip = chip
        self.model = model
        self.options = options
        self.clock = clock
        self._deadline = time.monotonic() + (options.time_limit if seconds is None else seconds)
        self._bound = 0.0

    def run(self, tasks: Sequence[PlacementTask]) -> list[Placed]:
        """Each function in its cheapest placement, never dearer than it is; they share an e-graph."""
        each = [(task, task.syntax or Syntax.of(task.function)) for task in tasks]
        has_tiles = [bool(syntax.index.tile_names()) for _, syntax in each]
        places = iter(self._places(list(compress(each, has_tiles))))
        return [
            self._placed(next(places)) if is_open else self._unchanged(syntax.index)
            for (_, syntax), is_open in zip(each, has_tiles, strict=True)
        ]

    def _unchanged(self, index: FunctionIndex) -> Placed:
        cost = indexed_cost(index, self.model)
        return Placed(index.function, cost, cost, cost, "optimal")

    def _placed(self, places: PlaceGraph) -> Placed:
        index, function = places.index, places.index.function
        reference_cost = indexed_cost(index, self.model)
        try:
            fitting = self._fitting(places, index)
        except SolveError as error:
            return self._left(function, reference_cost, error)
        if fitting is None:
            # Every result found needs more of a memory than there is.
            return Placed(function, reference_cost, reference_cost, min(self._bound, reference_cost), "heuristic")
        solution, elaborator, made = fitting
        result, cost = made.function, indexed_cost(made, self.model)
        observer = OBSERVER.get()
        if observer is not None:
            observer(function, function if cost > reference_cost else result, places)
        if cost > reference_cost:
            # The input's own placement should be among the choices; where it is not, their bound is not one for it.
            bound = min(solution.lower_bound, reference_cost)
            return Placed(function, reference_cost, reference_cost, bound, "heuristic")
        decisions = placement_decisions(places, solution, elaborator, made, self._alternatives(places, solution))
        return Placed(result, cost, reference_cost, min(solution.lower_bound, cost), solution.status, decisions)

    def _left(self, function: Function, cost: float, error: SolveError) -> Placed:
        """``function`` as it is, since rules made equal what cannot be had at one time; the user's are suspected."""
        suspects = tuple(sorted(self.session.graph.suspects))
        text = f"the placement stays as it is: {error}"
        decision = Decision(function.name, "stays", "", text, function.name, suspects, stage="placement")
        return Placed(function, cost, cost, 0.0, "heuristic", [decision])

    def _alternatives(self, places: PlaceGraph, solution: Solution) -> Alternatives | None:
        options = self.options
        if not options.explain:
            return None
        return Alternatives(places.choices, solution.choice, options.time_limit, options.seed)

    def _places(self, tasks: Sequence[tuple[PlacementTask, Syntax]]) -> list[PlaceGraph]:
        """The choice graph of each function, priced."""
        if not tasks:
            return []
        start = time.perf_counter()
        each = [
            Encoded(
                syntax,
                PlacementCollector(syntax.index, syntax.memory, self.chip, task.free, task.made, task.standing).rows,
            )
            for task, syntax in tasks
        ]
        start = self.clock.add("encode", start)
        self.session.enter_all([(encoded, {}) for encoded in each])
        start = self.clock.add("load terms", start)
        self.session.saturate("read", "contents", "placement", what="placement")
        start = self.clock.add("saturate", start)
        found = [
            PlaceGraph(tables, encoded.facts, encoded.index, encoded.syntax.memory, self.model)
            for tables, encoded in zip(self.session.tables(), each, strict=True)
        ]
        # The choice graphs have all that the search needs; what was read from the e-graph can go.
        self.session.graph.forget()
        self.clock.add("pull", start)
        return found

    def _fitting(self, places: PlaceGraph, index: FunctionIndex) -> _Made | None:
        """The cheapest result found that needs no more of a memory than there is, or than the input needs."""
        if self.chip is None:
            return self._solve(places)

        def attempt() -> Attempt[_Made]:
            made = self._solve(places)
            return Attempt(made[0], made[2], made[1].schedule.names, made)

        most = MOST_EXACT_ATTEMPTS if self.options.exact else MOST_ATTEMPTS
        fitter = Fitter(places, self.chip, Needs(index, self.chip, places.memory), attempt, self._deadline, most)
        found = fitter.run()
        self._bound = fitter.bound
        return None if found is None else (found.solution, *found.made[1:])

    def _solve(self, places: PlaceGraph) -> _Made:
        start = time.perf_counter()
        left = max(0.1, self._deadline - time.monotonic())
        options = self.options
        own = identity_choice(places)
        solution = solve(places.choices, exact=options.exact, time_limit=left, seed=options.seed, start=own)
        start = self.clock.add("extract", start)
        elaborator = PlaceElaborator(places, solution.choice)
        result = FunctionIndex(elaborator.function())
        self.clock.add("elaborate", start)
        return solution, elaborator, result
