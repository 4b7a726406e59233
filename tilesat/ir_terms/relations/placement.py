"""Terms and relations of placement: contents, where they can be had, and who reads them.

``Content`` is what a tile holds at one version of its buffer, wherever it lives: equal contents are one class.
``Place`` is a way to have something at hand: a variable's own buffer (``Own``), or a content in a space and
region (``At``). The members of a place's class are the ways to make it: leave the variable where it is, move it,
keep what an outer region has (``Up``, directed and free: a union would let sibling loops share a copy that only
one of them made), look at a view, cut a window out. ``Use`` is one operand of one statement; its members are the
places it may read.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilesat.ir_terms.relations.base import (
    DECISION,
    DERIVED,
    MAX,
    MIN,
    OR,
    SEED,
    Column,
    N,
    R,
    Relation,
    S,
    T,
    V,
    type_of,
)

M = Column.MEMORY


@dataclass(frozen=True, slots=True)
class Term:
    """A constructor of the placement layer. ``way`` marks those that are ways to make a place.

    A way's first argument, beside those listed, is the class it is a way to make: without it two places that are
    made alike would be one place, and whoever may read one could read all that serves the other.
    """

    name: str
    sort: str
    inputs: tuple[str, ...]
    meaning: str
    way: bool = False

    @property
    def args(self) -> tuple[str, ...]:
        """The egglog types of the arguments."""
        return tuple(map(type_of, self.inputs))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of its table, the class last."""
        return (self.sort, *self.inputs, self.sort) if self.way else (*self.inputs, self.sort)


TERMS: tuple[Term, ...] = (
    Term("Of", "Content", (V, N), "variable, version: what it holds then"),
    Term("Window", "Content", ("Content", "Exprs", "Exprs"), "content, offsets, shape: a window of it"),
    Term("Own", "Place", (V, N), "variable, space: its own buffer"),
    Term("At", "Place", ("Content", N, N, R), "content, space, layout (0 any, 1 row-major unboxed), region"),
    Term("Home", "Place", (V, N), "variable, space: its producer leaves it there", True),
    Term("Made", "Place", (V, N), "load or create, space: executed with that target", True),
    Term("Load", "Place", (V, N, R), "load, space, region: executed there with that target", True),
    Term("Slot", "Place", (V, N), "iter-arg or result, space: its slot lives there", True),
    Term("Alike", "Place", ("Place",), "own buffer of an equal earlier load", True),
    Term("Read", "Place", ("Place",), "own buffer: read where it is", True),
    Term("Move", "Place", ("Place", N, N, N, R), "source, from, to, layout, region", True),
    Term("Up", "Place", ("Place", R), "the same place in the surrounding region", True),
    Term("AnyOf", "Place", ("Place",), "a place with a particular layout, where any will do", True),
    Term("Look", "Place", (S, "Place", R), "site of a view, its source, region: the view of a copy", True),
    Term("Cut", "Place", (S, "Place", N, R), "site of an extract, its source, to, region", True),
    Term("Slice", "Place", ("Place", "Exprs", "Exprs", R), "source, offsets, shape, region: a new slice", True),
    Term("UseOf", "Use", (S, N), "site, slot: what an operand reads"),
    Term("FlowOf", "Use", (S, N, N), "site, slot, space: what flows into a slot that lives there"),
    Term("Take", "Use", ("Place",), "a place, read", True),
)
WAYS = {term.name: term for term in TERMS if term.way}

RELATIONS: tuple[Relation, ...] = (
    # Whose buffers are where.
    Relation("owner", (V, N), SEED, "variable whose producer leaves it in this space"),
    Relation("made-in", (V, N), SEED, "load or create, space it may be told to produce"),
    Relation("has-buffer", (V,), SEED, "variable with a buffer that no earlier variable shares"),
    Relation("row-major-home", (V,), SEED, "variable in Vec that is row-major without boxes"),
    Relation("view-at", (S, V, V), SEED, "site of a zero-copy view, its result, its source"),
    Relation("own-view", (V, V), SEED, "view of a buffer that stays, its source"),
    Relation("own-alias", (V, V), SEED, "alias of a buffer that stays, what it names"),
    Relation("follows", (V, V), SEED, "result of an op that leaves it in the space of this operand"),
    Relation("owns", (V, N), DERIVED, "variable, space its own buffer may be in"),
    Relation("own-mask", (V,), DERIVED, "bit set of those spaces", N, OR),
    # What contents are.
    Relation("floating", (V,), SEED, "copy, window or view of one: placed anew wherever it is wanted"),
    Relation("copied-at", (S, V, N, V, N), SEED, "site of a move, its result and version, source and version"),
    Relation("extract-at", (S, V, N, V, N), SEED, "site of an extract, its result and version, source and version"),
    Relation("view-of", ("Content", S, "Content"), DERIVED, "content, site of the view that gives it, of what"),
    Relation("window-of", ("Content", S, "Content"), DERIVED, "content, site of the extract that gives it, of what"),
    Relation("shown-in", ("Content", N, S, "Content"), DERIVED, "view-of, with each space that the view can look in"),
    Relation("equal-type", (V, V), SEED, "view of a view, what that looks at, of the same type"),
    Relation("bound-at", (V, S), SEED, "variable, site that binds it"),
    Relation("wanted-from", ("Content",), DERIVED, "first site at which a content is read", S, MIN),
    Relation("content-own", ("Content", N), DERIVED, "content, space in which some producer leaves it"),
    Relation("may-reach", ("Content", N), DERIVED, "content, space in which it can be had and moved on"),
    # Who reads what.
    Relation("operand-at", (S, N, V, N), SEED, "site that stays, slot, tile it reads, version"),
    Relation("accepts", (S, N, N), SEED, "site, slot, bit set of the spaces it accepts"),
    Relation("accepts-space", (S, N, N), SEED, "the same, space by space"),
    Relation("accepts-both", (S, N, N, N), DERIVED, "site, slot, two spaces it accepts, the second a move away"),
    Relation("copy-layout", (S, N, N), SEED, "site, slot that may read a copy, layout of that (1: row-major)"),
    Relation("flow-at", (S, N, V, N), SEED, "site, slot, tile that flows into a carried slot or if result, version"),
    Relation("slot-of", (V, S, N), SEED, "iter-arg or result, structure site, position"),
    Relation("slot-flow", (S, N, S, N), SEED, "structure site, position, site and slot of what flows in"),
    Relation("slot-base", (S, N, N), SEED, "structure site, position, space its variables have"),
    Relation("slot-may", (S, N, N), DECISION, "structure site, position, space it could live in"),
    Relation("carriable", (N,), SEED, "space in which a slot may live"),
    Relation("block-window", (S,), SEED, "site of an extract at constant offsets, its columns on a 32-byte boundary"),
    Relation("sliceable", ("Content",), DERIVED, "window that one slice of a tile in Vec gives"),
    # Where copies may be made.
    Relation("move-edge", (N, N), SEED, "spaces that one move connects"),
    Relation("cut-edge", (N, N), SEED, "spaces between which an extract cuts"),
    Relation("stop", (N,), SEED, "space through which chains of moves lead"),
    Relation("live-in", (R, V, N), SEED, "region, tile from outside, version it has where the region is entered"),
    Relation("fixed-in", (S, R), SEED, "site of a view or extract, region in which nothing it depends on is bound"),
    Relation("stands", (V, R), SEED, "floating load, region in which it may be executed"),
    Relation("load-in", (V, N), SEED, "floating load, space it may be told to land in"),
    Relation("live", (R, "Content"), DERIVED, "region, content that can be had before it is entered"),
    Relation("own-move", (S, N, N), SEED, "move that only changes the layout: site, space, layout of the copy"),
    Relation("own-edge", (S, N, N, N), SEED, "move that no chip has an edge for: site, from, to, layout of the copy"),
    Relation("view-anywhere", (S,), SEED, "site of a view that every space has"),
    Relation("view-only", (S, N), SEED, "site of a view that does not, a space that has it"),
    Relation("plain-view", (S,), SEED, "site of a view that is row-major whatever it looks at"),
    Relation(
        "lookable", (S, N), SEED, "site of a view, space in which it can look at a copy; known before phase placement"
    ),
    # Equal loads.
    Relation("load-at", (S, V, M, M), SEED, "load whose result nobody writes: site, result, versions of memory"),
    Relation("loads", ("Exprs", T, S, V), DERIVED, "arguments, keywords, site and result of a load"),
    Relation("load-options", (S, T), SEED, "site of a load, its keywords other than target_memory"),
    Relation("content-version", (V, N), SEED, "load, the version at which it is read"),
    Relation("last-equal-load", (V,), DECISION, "site of the last equal load that runs before a load", S, MAX),
)


def places_program(mentioned: frozenset[str] | None = None) -> str:
    """The egglog text that declares the placement terms and, for every way, who offered it.

    With the names that rules have ``mentioned`` only terms among them.
    """
    sorts = dict.fromkeys(term.sort for term in TERMS)
    lines = [f"(sort {sort})" for sort in sorts]
    for term in TERMS:
        if mentioned is not None and not {term.name, f"why-{term.name}"} & mentioned:
            continue
        args = " ".join((term.sort, *term.args) if term.way else term.args)
        lines.append(f"(constructor {term.name} ({args}) {term.sort})")
        if term.way:
            lines.append(f"(function why-{term.name} ({args}) Why :merge (set-union old new))")
    return "\n".join(lines)
