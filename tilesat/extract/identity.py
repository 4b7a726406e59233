"""The choice that a function's own text makes: where the search starts, and what it may never exceed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tilesat.extract.graph import Choice, Node, violation
from tilesat.extract.places import PlaceGraph
from tilesat.ir.nodes import Assign, OpCall, Var
from tilesat.ir.types import MemorySpace, TileType
from tilesat.ir_terms.facts import LOAD
from tilesat.ir_terms.relations import SPACE_NUMBERS


def identity_choice(places: PlaceGraph) -> Choice | None:
    """The placement the input has, ``None`` where the rules at hand do not offer all of it."""
    return _Identity(places).run()


# Where ways lead back to where they came from the search tries others; it gives up after so many steps.
STEPS_PER_CLASS = 20


class _Identity:
    def __init__(self, places: PlaceGraph) -> None:
        self.places = places
        self.graph = places.choices
        self.index = places.index
        self.operands = places.operand_names
        self._steps = 0
        self._use_key = {cls: key for key, cls in places.operand_class.items()}
        self._use_key.update({cls: key[:2] for key, cls in places.flow_class.items()})

    def run(self) -> Choice | None:
        """Depth first; where the input's own way leads back to where it came from, the next best way."""
        choice: Choice = {}
        for root in self.graph.roots:
            if root not in choice and not self._satisfy(root, choice):
                return None
        return choice if violation(self.graph, choice) is None else None

    def _satisfy(self, root: int, choice: Choice) -> bool:
        """Choose for ``root`` and all that it needs and has no choice yet; false where that cannot be done."""
        path: dict[int, Iterator[int]] = {root: self._candidates(root)}
        trial: dict[int, int | None] = {root: None}
        while path:
            if self._steps > STEPS_PER_CLASS * len(self.graph.classes):
                return False
            self._steps += 1
            cls = next(reversed(path))
            number = trial[cls]
            if number is None:
                number = trial[cls] = next(path[cls], None)
            if number is None:
                path.popitem()
                if not path:
                    return False
                trial[next(reversed(path))] = None
                continue
            needed = [child for child in self.graph.nodes[number].children if child not in choice]
            if not path.keys().isdisjoint(needed):
                trial[cls] = None
            elif needed:
                path[needed[0]] = self._candidates(needed[0])
                trial[needed[0]] = None
            else:
                choice[cls] = number
                path.popitem()
        return True

    def _candidates(self, cls: int) -> Iterator[int]:
        """The way the input has ``cls``, then what is read where it is, then the rest."""
        numbers = self.graph.classes[cls]
        if len(numbers) > 1:
            first = self._pick(cls)
            rest = [number for number in numbers if number != first]
            ordered = sorted(rest, key=lambda number: self.graph.nodes[number].kind != "Read")
            numbers = ordered if first is None else [first, *ordered]
        for number in numbers:
            guard = self.graph.nodes[number].guard
            if guard is None or self._pick(guard[0]) == guard[1]:
                yield number

    def _pick(self, cls: int) -> int | None:
        numbers = self.graph.classes[cls]
        if len(numbers) == 1:
            return numbers[0]
        if cls in self._use_key:
            return self._take(cls)
        if cls in self.places.at:
            return self._place(cls)
        # Own buffers as they are made now, slots where they are: those come first.
        return next((n for n in numbers if self.graph.nodes[n].kind != "Alike"), None)

    def _take(self, cls: int) -> int | None:
        name = self.operands[self._use_key[cls]]
        space = self._space(name)
        if name not in self.places.floating:
            own = self.places.own_class.get((name, SPACE_NUMBERS[space]))
            return self._first(cls, lambda node: node.children[0] == own)
        return self._first(cls, lambda node: self._at_space(node.children[0]) is space)

    def _at_space(self, cls: int) -> MemorySpace | None:
        place = self.places.at.get(cls)
        return None if place is None else next(s for s, n in SPACE_NUMBERS.items() if n == place[1])

    def _space(self, name: str) -> MemorySpace:
        type_ = self.index.types[name]
        assert isinstance(type_, TileType)
        assert type_.space is not None
        return type_.space

    def _first(self, cls: int, fits: Callable[[Node], bool]) -> int | None:
        return next((n for n in self.graph.classes[cls] if fits(self.graph.nodes[n])), None)

    def _place(self, cls: int) -> int | None:
        """How the input has a content in a space: a copy made in this region or around it, or the buffer itself."""
        content, number, layout, region = self.places.at[cls]
        space = next(s for s, n in SPACE_NUMBERS.items() if n == number)
        around = self.index.ancestors(region)
        for name, _ in self.places.members.get(content, ()):
            definition = self.index.definitions[name]
            if name in self.places.floating and self._space(name) is space and definition.region in around:
                up = definition.region != region
                made = self._first(cls, lambda node: node.kind == "Up") if up else self._made(cls, name, layout)
                if made is not None:
                    return made
        found = self._first(cls, lambda node: node.kind == "Read")
        return found if found is not None else self._first(cls, lambda node: node.kind == "Look")

    def _made(self, cls: int, name: str, layout: int) -> int | None:
        site = self.index.definitions[name].site
        stmt = self.index.sites[site]
        assert isinstance(stmt, Assign)
        call = stmt.value
        if not isinstance(call, OpCall):
            return self._first(cls, lambda node: node.kind == "Read")
        if call.op == LOAD:
            found = self._first(cls, lambda node: node.kind == "Load" and node.data[0] == site)
            return found if found is not None else self._first(cls, lambda node: node.kind == "AnyOf")
        source = call.args[0]
        origin = self._space(source.name) if isinstance(source, Var) else None

        kind = {"tile.move": "Move", "tile.extract": "Cut"}.get(call.op, "Look")

        def fits(node: Node) -> bool:
            if node.kind != kind or self._at_space(node.children[0]) is not origin:
                return False
            return bool(node.data[2] == layout if kind == "Move" else node.data[0] == site)

        found = self._first(cls, fits)
        return found if found is not None else self._first(cls, lambda node: node.kind == "AnyOf")
