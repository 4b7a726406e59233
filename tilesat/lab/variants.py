"""Several results of one run of a rule set: as documented, the cheapest, and random other legal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tilesat.bridge.decisions import Decision
from tilesat.bridge.explain import placement_decisions
from tilesat.bridge.infer import infer_tile_memory_space
from tilesat.bridge.place import PlaceElaborator
from tilesat.bridge.placing import OBSERVER
from tilesat.bridge.residency import strip_marks
from tilesat.errors import SolveError
from tilesat.extract.cost import Cost
from tilesat.extract.graph import Choice
from tilesat.extract.places import PlaceGraph
from tilesat.extract.sampling import sample
from tilesat.extract.solve import Solution
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Function, Program
from tilesat.rules.rule import RuleSet

DOCUMENTED, CHEAPEST = "as documented", "the cheapest"
SEARCH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Variant:
    """One result. ``name`` says which: :data:`DOCUMENTED`, :data:`CHEAPEST` or ``random 1`` and so on.

    ``decisions`` computes what was decided; it is called for the results that turn out to be wrong. A result that
    ``gives_up`` inputs overwrites parameters In, and says so.
    """

    name: str
    program: Program
    decisions: Callable[[], list[Decision]]
    gives_up: bool = False


@dataclass(frozen=True, slots=True)
class Variants:
    """What one run gave; ``impossible`` counts moves of which the pass itself says that no chip can make them."""

    found: tuple[Variant, ...]
    impossible: int


@dataclass(slots=True)
class _Draw:
    function: Function
    decisions: Callable[[], list[Decision]]


@dataclass(slots=True)
class _Drawer:
    """Draws random placements of each function while its choices are at hand."""

    samples: int
    seed: int
    documented: dict[Function, Function] = field(default_factory=dict)
    draws: dict[Function, list[_Draw]] = field(default_factory=dict)

    def __call__(self, before: Function, after: Function, places: PlaceGraph) -> None:
        key = shape_of(after)
        if key in self.draws:
            return
        self.documented[key] = before
        self.draws[key] = [_drawn(places, choice) for choice in sample(places.choices, self.seed, self.samples)]

    def program(self, result: Program, functions: dict[Function, Function]) -> Program:
        """``result`` with other placements of its functions."""
        chosen = [replace(functions.get(shape_of(f), f), name=f.name) for f in result.functions]
        return strip_marks(replace(result, functions=tuple(chosen)))


def variants(
    program: Program,
    rules: RuleSet,
    chip: Hardware | None,
    *,
    samples: int = 2,
    seed: int = 0,
    cost: Cost = "traffic",
    options: Sequence[str] = (),
) -> Variants:
    """Run ``rules`` over ``program`` once; the results by name, none of them verified.

    ``samples`` random legal placements are drawn with ``seed`` besides the cheapest one. Rule sets without placement
    have one result. Raises what :func:`tilesat.infer_tile_memory_space` raises, but for the errors of a wrong result,
    and :class:`tilesat.SolveError` for a function that keeps its placement: the rules have given it none.
    """
    drawer = _Drawer(samples, seed)
    token = OBSERVER.set(drawer)
    try:
        result = infer_tile_memory_space(
            program,
            rules=rules,
            hardware=chip,
            cost=cost,
            options=options,
            time_limit=SEARCH_SECONDS,
            seed=seed,
            check=False,
        )
    finally:
        OBSERVER.reset(token)
    for decision in result.decisions:
        if decision.keeps_placement:
            raise SolveError(decision.text)
    impossible = sum(diagnostic.check == "impossible-move" for diagnostic in result.diagnostics)
    decided = list(result.decisions)
    documented = drawer.program(result.program, drawer.documented)
    found = [Variant(DOCUMENTED, documented, lambda: decided), Variant(CHEAPEST, result.program, lambda: decided)]
    for number in range(samples if drawer.draws else 0):
        functions = {key: draws[number].function for key, draws in drawer.draws.items()}
        random = drawer.program(result.program, functions)
        found.append(Variant(f"random {number + 1}", random, _explanation(drawer, number)))
    return Variants(tuple(found), impossible)


def shape_of(function: Function) -> Function:
    """``function`` as the pass tells functions apart: without its name."""
    (bare,) = strip_marks(Program("p", (function,))).functions
    return replace(bare, name="")


def _drawn(places: PlaceGraph, choice: Choice) -> _Draw:
    elaborator = PlaceElaborator(places, choice)
    function = elaborator.function()
    solution = Solution(choice, places.choices.cost(choice), 0.0, "heuristic")
    return _Draw(function, lambda: placement_decisions(places, solution, elaborator, FunctionIndex(function)))


def _explanation(drawer: _Drawer, number: int) -> Callable[[], list[Decision]]:
    return lambda: [decision for draws in drawer.draws.values() for decision in draws[number].decisions()]
