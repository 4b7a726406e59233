"""The relations rules read and write: facts of the syntax, analyses, decisions.

*Seeds* are read off the syntax by Python (:mod:`tilesat.ir_terms.facts`): regions, sites, op-table rows, static
sizes, memory versions. *Derived* relations follow from terms and seeds. *Decisions* are what a pass carries
out; each has a table ``why-<name>`` that collects the names of the rules that made it.

Spaces are numbers (``$Vec`` in the text of a rule stands for one), variables are names, statements are sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tilesat.ir.types import MemorySpace

SPACE_NUMBERS = {
    MemorySpace.DDR: 0,
    MemorySpace.Vec: 1,
    MemorySpace.Mat: 2,
    MemorySpace.Left: 3,
    MemorySpace.Right: 4,
    MemorySpace.Acc: 5,
    MemorySpace.Bias: 6,
    MemorySpace.ScalarLocal: 7,
    MemorySpace.LeftScale: 8,
    MemorySpace.RightScale: 9,
}
SPACES = {number: space for space, number in SPACE_NUMBERS.items()}


class Role(StrEnum):
    SEED = "seed"
    DERIVED = "derived"
    DECISION = "decision"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation, or with ``output`` a function whose values ``merge`` combines."""

    name: str
    args: tuple[str, ...]
    role: Role
    meaning: str
    output: str | None = None
    merge: str | None = None

    def declaration(self) -> str:
        args = " ".join(self.args)
        if self.output is None:
            return f"(relation {self.name} ({args}))"
        merge = f":merge {self.merge}" if self.merge else ":no-merge"
        return f"(function {self.name} ({args}) {self.output} {merge})"

    def why_declaration(self) -> str:
        columns = " ".join((*self.args, self.output) if self.output else self.args)
        return f"(function why-{self.name} ({columns}) Why :merge (set-union old new))"


_V, _N = "String", "i64"
_MIN, _MAX, _OR = "(min old new)", "(max old new)", "(| old new)"
_S, _D, _X = Role.SEED, Role.DERIVED, Role.DECISION

RELATIONS: tuple[Relation, ...] = (
    # Structure.
    Relation("region", (_N, _N, _N), _S, "region, its parent (-1 for the body), its depth"),
    Relation("site-region", (_N, _N), _S, "the region a site is directly in"),
    Relation("body-of", (_N, _N, _N), _S, "structure site, arm (0: loop body or then, 1: else), its region"),
    Relation("yield-at", (_N, _N, _N), _S, "structure site, arm, site of the yield that ends it"),
    Relation("trips", (_N, _N), _S, "loop site with constant bounds, times its body runs"),
    Relation("defined-in", (_V, _N), _S, "variable, region where it is bound"),
    Relation("ancestor", (_N, _N, _N), _D, "region, a region around it or itself, depth of that"),
    # Variables.
    Relation("tile", (_V,), _S, "tile-typed variable"),
    Relation("declared", (_V, _N), _S, "space stated in the variable's annotation, DDR left out"),
    Relation("undeclared", (_V,), _S, "tile variable whose annotation states no space"),
    Relation("uses", (_V, _N), _S, "variable, number of places that read it"),
    Relation("holds-data", (_V,), _S, "tile variable not bound by a create"),
    Relation("pinned", (_V,), _S, "tile variable whose producer lets nobody choose its space"),
    Relation("pristine", (_V,), _S, "result of a create that is only read, never written or viewed"),
    Relation("tainted", (_V,), _S, "result of a create that is written or viewed under its own name"),
    Relation("version", (_N, _V, _N), _S, "site, variable it reads, written version of its buffer there"),
    # Ops that occur in the function.
    Relation("op-fixed", (_V, _N), _S, "op whose result always lives in this space"),
    Relation("op-target", (_V,), _S, "op whose result lives where its target_memory says"),
    Relation("op-default", (_V, _N), _S, "op with target_memory, space when it is absent"),
    Relation("op-inherits", (_V,), _S, "op whose result lives where its first tile input does"),
    Relation("op-annotated", (_V,), _S, "tile op without an output rule: its annotation counts"),
    Relation("op-unresolved", (_V,), _S, "registered tile op with a rule that names no space"),
    Relation("op-unknown", (_V,), _S, "tile op that the table lacks"),
    Relation("op-unknown-cube", (_V,), _S, "unknown op named like a scaled matmul"),
    Relation("op-foreign", (_V,), _S, "op outside the tile family"),
    Relation("op-creates", (_V,), _S, "op that makes a tile without contents, in any space"),
    Relation("op-loads", (_V,), _S, "op that brings a tile from global memory"),
    Relation("op-view", (_V,), _S, "zero-copy view"),
    Relation("op-accumulates", (_V, _V), _S, "accumulating op, the op that computes its product"),
    Relation("slot-first", (_V, _N, _N), _S, "op, argument, first space it may live in"),
    Relation("slot-mask", (_V, _N, _N), _S, "op, argument, bit set of the spaces it may live in"),
    Relation("wants-row-major", (_V, _N), _S, "op, argument that the backend wants row-major"),
    Relation("untargeted", (_N,), _S, "call of an op with target_memory that does not give it"),
    Relation("writes-arg", (_N, _N), _S, "call, argument it writes in place"),
    Relation("splittable", (_N,), _S, "accumulating call without an initial-value condition"),
    Relation("without-tile", (_N,), _S, "call without a tile argument"),
    Relation("zero-fill", (_V,), _S, "variable bound by a fill with zero"),
    Relation("space-path", (_V, _N), _S, "spelling of a space in a program, its number"),
    # Hardware.
    Relation("hop", (_N, _N, _N), _S, "from space, to space, first step of the shortest chain of moves"),
    Relation("no-path", (_N, _N), _S, "spaces that no chain of moves connects"),
    Relation("can-land", (_N,), _S, "space a load from global memory can reach"),
    Relation("cannot-land", (_N,), _S, "space it cannot reach"),
    Relation("cannot-insert", (_N, _N), _S, "source, target space between which assemble cannot write"),
    # Read off the terms.
    Relation("binds", (_N, _V), _D, "call site, variable it assigns"),
    Relation("op-at", (_N, _V), _D, "site, op it calls"),
    Relation("operands-from", (_N, _N, "Exprs"), _D, "site, position, arguments from there on"),
    Relation("operand", (_N, _N, "Expr"), _D, "site, position, argument"),
    Relation("reads", (_N, _N, _V), _D, "site, position, tile variable given there"),
    Relation("keywords-from", (_N, "Named"), _D, "site, rest of its keywords"),
    Relation("target", (_N, _N), _D, "site, space its target_memory names"),
    Relation("first-tile", (_N,), _D, "position of the first tile argument of a call", _N, _MIN),
    Relation("same-as", (_V, _V), _D, "y = x: y, x"),
    Relation("called", (_V,), _D, "tile variable bound by a function call or an op outside the tile family"),
    Relation("projected", (_V,), _D, "tile variable taken out of a tuple"),
    Relation("carries-from", (_N, _N, "Carries"), _D, "loop site, position, iter-args from there on"),
    Relation("results-from", (_N, _N, "Results"), _D, "loop site, position, results from there on"),
    Relation("yields-from", (_N, _N, _N, "Exprs"), _D, "structure site, arm, position, yielded values from there"),
    Relation("iter-arg", (_N, _N, _V), _D, "loop site, position, tile iter-arg"),
    Relation("starts-from", (_N, _N, _V), _D, "loop site, position, variable it starts from"),
    Relation("loop-result", (_N, _N, _V), _D, "loop site, position, tile result"),
    Relation("if-result", (_N, _N, _V), _D, "if site, position, tile result"),
    Relation("phis-from", (_N, _N, "Results"), _D, "if site, position, results from there on"),
    Relation("yielded", (_N, _N, _N, _V), _D, "structure site, arm, position, tile variable yielded"),
    # Analyses.
    Relation("demand", (_V,), _D, "what consumers of a variable ask for first; non-Vec first", _N, _MIN),
    Relation("wanted", (_V, _N), _D, "variable that a carried slot would like to find in this space"),
    Relation("stuck", (_V, _N), _D, "variable that cannot be had in this space"),
    Relation("blocked", (_N, _N), _D, "loop site, position: the init cannot reach the slot's space"),
    # Decisions.
    Relation("space", (_V,), _X, "rank * 16 + space of a tile variable; see the ranks", _N, _MAX),
    Relation("seen", (_V,), _D, "the same as its readers see it, after a re-homing", _N, _MAX),
    Relation("retarget", (_V, _N), _X, "a load or create is told to produce this space"),
    Relation("clone", (_V, _N), _X, "a second create, in this space, for slots that want it there"),
    Relation("remedy", (_N, _N), _X, "blocked slot: 1 keep the init's space, 2 peel the first trip", _N, _MAX),
    Relation("split", (_N,), _X, "accumulating call done as product plus vector sum"),
    Relation("rehome", (_V, _N), _X, "variable moved once, for all its readers, because one writes it in place"),
    Relation("have", (_V,), _D, "bit set of the spaces a variable can be read in without a copy", _N, _OR),
    Relation("mask", (_N, _N), _D, "bit set of the spaces a call accepts for an argument", _N, _OR),
    Relation("need", (_N, _N, _V, _N), _X, "site, slot, variable, space: a copy is needed there"),
    Relation("need-via", (_N, _N, _V, _N), _D, "the same for the stops on the way"),
    Relation("copy-wanted", (_N, _N, _V, _N), _D, "either of the two"),
    Relation("first-need", (_V, _N, _N, _N), _D, "variable, version, space, region: first consumer", _N, _MIN),
    Relation("serve", (_N, _N, _V, _N), _X, "site, slot, variable, space: depth of the serving copy", _N, _MIN),
    Relation("row-major", (_V, _N, _N, _N), _X, "variable, version, space, region: the copy is row-major, unboxed"),
    # Asserted when a run is repeated with what an earlier one decided.
    Relation("grounded", (_N, _N), _S, "slot that keeps the space of its init"),
    Relation("peeled", (_N, _N), _S, "slot whose first trip is peeled"),
    Relation("was-split", (_N,), _S, "call that was split"),
    Relation("rehomed", (_V, _N), _S, "variable that was re-homed"),
    # Whole program: who calls a kernel with what. Variables are "function:name".
    Relation("kernel-param", (_V, _N, _V), _S, "kernel, position, its tensor parameter"),
    Relation("param-in", (_V, _N), _S, "kernel, position of a tensor parameter of direction In"),
    Relation("param-writable", (_V, _N), _S, "kernel, position of a tensor parameter of direction Out or InOut"),
    Relation("call-from", (_V, _V, _N), _S, "kernel, caller, number of a call"),
    Relation("submit-from", (_V, _V, _N), _S, "kernel, caller, number of a submit"),
    Relation("root-function", (_V,), _S, "orchestration function that nobody in the program calls"),
    Relation("other-function", (_V,), _S, "any other function"),
    Relation("actual", (_N, _N, _V), _S, "number of a call, position, variable given there"),
    Relation("actual-unnamed", (_N, _N), _S, "number of a call, position of a tensor that is no variable"),
    Relation("created", (_V, _V), _S, "variable bound by tensor.create, function"),
    Relation("external", (_V,), _S, "tensor parameter, as its function sees it"),
    Relation("untraced", (_V,), _S, "tensor from an op or call whose storage is not followed"),
    Relation("same-storage", (_V, _V), _S, "variable, variable whose storage it shares or may share"),
    Relation("call-result", (_V, _N, _N), _S, "variable, number of the call, index of the result it is"),
    Relation("returned", (_V, _N, _V), _S, "kernel, index of a result, variable returned"),
    Relation("storage", (_V, _V), _D, "variable, variable whose storage it may be"),
    Relation("source-obstacle", (_V, _N, _V), _X, "kernel, position, why its tensor is no safe source"),
    Relation("direct-calls", (_V,), _D, "kernel: 1 when a root orchestration function calls it", _N, _MAX),
    # Residency of loads in loops.
    Relation("loop-at", (_N, _N, _N), _S, "loop site, its body region, the region it stands in"),
    Relation("unfit-loop", (_N, _V), _S, "loop site, why nothing may be moved out of it"),
    Relation("ordering-at", (_N,), _S, "site with an effect that a load must not cross"),
    Relation("ends-prefix", (_N,), _S, "site after which nothing in its list moves"),
    Relation("mat-load", (_N, _V), _S, "site of a load into Mat, its result"),
    Relation("bridge-load", (_N,), _S, "load that carries the compiler's mark"),
    Relation("manual-load", (_N,), _S, "load that does not"),
    Relation("load-source", (_N, _N), _S, "load site, position of the tensor parameter it reads directly"),
    Relation("load-source-other", (_N, _V), _S, "load site that reads something else, what"),
    Relation("source-unsafe", (_N, _V), _S, "position of a parameter, why it is no safe source"),
    Relation("in-branch", (_N,), _S, "site in a branch of an if, with no loop between"),
    Relation("uses-name", (_N, _V), _S, "site, variable it reads; the tile that a chain passes on left out"),
    Relation("name-region", (_V, _N), _S, "variable of any type, region where it is bound"),
    Relation("escapes", (_V,), _S, "variable read other than as a direct operand of an op call"),
    Relation("use-count", (_V, _N), _S, "variable, times it is read anywhere"),
    Relation("staged-in", (_V, _N), _S, "result of a move or extract, its space"),
    Relation("not-fed", (_V, _N, _N), _S, "op, operand, space in which nothing is staged for that operand"),
    Relation("use-other", (_N, _N), _S, "site, operand that is neither viewed transposed nor staged there"),
    Relation("space-total", (_N, _N), _S, "space, aligned bytes of all its allocations in the function"),
    Relation("space-capacity", (_N, _N), _S, "space, bytes it has"),
    Relation("space-unknown", (_N,), _S, "space with an allocation of unknown size"),
    Relation("space-replicated", (_N,), _S, "space with an allocation in a pipeline loop"),
    Relation("reserved", (_N,), _S, "site that reserves a buffer outside the tiles"),
    Relation("over-capacity", (_N, _V), _D, "space whose allocations do not surely fit, why"),
    Relation("candidate", (_N, _N), _D, "load site, loop site around it"),
    Relation("ordered-loop", (_N,), _D, "loop with an ordering effect somewhere inside"),
    Relation("prefix-end", (_N,), _D, "first site of a region after which nothing moves", _N, _MIN),
    Relation("varies-in", (_N, _N), _D, "site, loop: it reads something bound inside the loop"),
    Relation("bad-panel", (_V, _V), _D, "tile, use that does not stage a product's operand"),
    Relation("stay", (_N, _V), _X, "load site, condition that keeps it in its loop"),
    Relation("obstacles", (_N,), _D, "load or staging site: 0 or 1 when something keeps it", _N, _OR),
    Relation("chain-next", (_N, _N), _D, "site, site of the single consumer of its result"),
    Relation("hoist", (_N, _N), _X, "site, loop in front of which it moves"),
)
BY_NAME = {relation.name: relation for relation in RELATIONS}


@lru_cache(maxsize=1)
def relations_program() -> str:
    """The egglog text that declares all relations."""
    lines = ["(sort Why (Set String))"]
    for relation in RELATIONS:
        lines.append(relation.declaration())
        if relation.role is Role.DECISION:
            lines.append(relation.why_declaration())
    return "\n".join(lines)
