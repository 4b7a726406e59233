"""Choosing, launch by launch, which copy of its kernel runs: a choice graph where a copy is paid once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tilesat.extract.graph import Choice, ChoiceGraph, Node, used_classes
from tilesat.extract.sampling import sample
from tilesat.extract.solve import solve

Variant = Hashable
"""What makes a copy of a kernel differ from it; ``None`` for the kernel as it is."""


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run a launch: the copy it calls, and what the launch costs then."""

    variant: Variant
    cost: float


@dataclass(slots=True)
class LaunchOptions:
    """A launch of ``kernel`` with its options; ``start`` is the one that the reference takes."""

    kernel: str
    options: list[Option]
    start: int = 0


class Chooser(Protocol):
    """Who decides: a search for the cheapest, or chance."""

    def choose(self, graph: ChoiceGraph, start: Choice) -> Choice:
        """A legal choice of ``graph``; ``start`` is one."""
        ...


@dataclass(slots=True)
class CheapestChoice:
    """The cheapest choice found within a time limit; ``statuses`` are those of the searches so far."""

    exact: bool = False
    time_limit: float = 10.0
    seed: int = 0
    statuses: list[str] = field(default_factory=list)

    def choose(self, graph: ChoiceGraph, start: Choice) -> Choice:
        solution = solve(graph, exact=self.exact, time_limit=self.time_limit, seed=self.seed, start=start)
        self.statuses.append(solution.status)
        return solution.choice


@dataclass(slots=True)
class RandomChoice:
    """Any legal choice, whatever it costs: to test that all of them mean the same."""

    seed: int = 0

    def choose(self, graph: ChoiceGraph, start: Choice) -> Choice:
        self.seed += 1
        return next(iter(sample(graph, self.seed, 1)))


def choose_variants(
    launches: Sequence[LaunchOptions],
    kernel_price: float,
    chooser: Chooser,
    *,
    tie: float = 0.0,
    is_free: bool = False,
) -> list[Variant]:
    """The variant of each launch. Each variant of a kernel that is used costs ``kernel_price``, once.

    With ``is_free`` the kernel as it is costs nothing, because it stays anyway. Other options than the first cost
    ``tie`` more, so that among equals the reference's choice stays.
    """
    graph = ChoiceGraph()
    variants: dict[tuple[str, Variant], int] = {}
    start: Choice = {}
    classes: list[int] = []
    for number, launch in enumerate(launches):
        cls = graph.new_class(f"launch {number} of {launch.kernel}")
        classes.append(cls)
        graph.roots.append(cls)
        for position, option in enumerate(launch.options):
            key = (launch.kernel, option.variant)
            if key not in variants:
                variants[key] = graph.new_class(f"{launch.kernel} as {option.variant}")
                price = 0.0 if is_free and option.variant is None else kernel_price
                made = graph.add(Node(variants[key], "variant", (option.variant,), (), price))
                start[variants[key]] = made
            # Among equals, what the documents do.
            cost = option.cost if position == launch.start else option.cost + tie
            node = graph.add(Node(cls, "launch", (option.variant,), (variants[key],), cost))
            if position == launch.start:
                start[cls] = node
    if not launches:
        return []
    choice = chooser.choose(graph, {cls: start[cls] for cls in used_classes(graph, start)})
    return [graph.nodes[choice[cls]].data[0] for cls in classes]
