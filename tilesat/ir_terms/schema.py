"""The program as egglog terms: sorts and constructors of the syntax layer.

Terms are flat: a node is entered under a number (``E``, ``X``, ... are the classes by number) and
united with its constructor, whose children are classes again. So no term nests on the way in, and
equal nodes share a class. A statement carries its site, its place in program order, because two
equal statements at different places are different effects.

Every constructor is loaded from a relation of the same name with ``in-`` in front: its first column is the
number of the node, the others are the arguments, with numbers in place of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tilesat.ir_terms.relations.base import Column, type_of

# Arguments are columns, or of one of the sorts below.
SORTS = (
    "Expr",
    "Exprs",
    "Named",
    "Stmt",
    "Block",
    "Carries",
    "Results",
    "Types",
    "Params",
    "Func",
    "Funcs",
    "Prog",
)


@dataclass(frozen=True, slots=True)
class Constructor:
    """A term constructor: its sort and the kinds of its arguments."""

    name: str
    sort: str
    inputs: tuple[str, ...]

    @property
    def args(self) -> tuple[str, ...]:
        """The egglog types of the arguments, sorts included."""
        return tuple(map(type_of, self.inputs))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of its table, the class last."""
        return (*self.inputs, self.sort)


_I, _S, _V, _AT = Column.NUMBER, Column.TEXT, Column.VARIABLE, Column.SITE
CONSTRUCTORS: tuple[Constructor, ...] = tuple(
    Constructor(name, sort, inputs)
    for name, sort, inputs in (
        # Expressions.
        ("Var", "Expr", (_V,)),
        ("IntC", "Expr", (_I, _S)),  # value, dtype
        ("BigC", "Expr", (_S, _S)),  # an integer beyond 64 bits, as text
        ("FloatC", "Expr", (_S, _S)),  # as text: every bit counts, the sign of zero too
        ("BoolC", "Expr", (_I, _S)),
        ("StrC", "Expr", (_S, _S)),  # value, quote
        ("NoneC", "Expr", ()),
        ("EnumC", "Expr", (_S,)),
        ("ListE", "Expr", ("Exprs",)),
        ("DictE", "Expr", ("Named",)),
        ("Bin", "Expr", (_S, "Expr", "Expr")),
        ("Un", "Expr", (_S, "Expr")),
        ("Fn", "Expr", (_S, "Exprs")),
        ("CastE", "Expr", ("Expr", _S)),
        ("Get", "Expr", ("Expr", _I)),
        ("OpaqueE", "Expr", (_V, _V)),  # text, names: both speak of variables
        ("Op", "Expr", (_S, "Exprs", "Named", "Named")),  # op, args, kwargs, attrs
        ("Invoke", "Expr", (_S, "Exprs", "Named", "Named")),  # callee, args, kwargs, attrs
        ("SubmitE", "Expr", (_S, "Exprs", "Named", "Named", _I)),  # ..., spmd
        # Lists of expressions, and of named ones.
        ("Nil", "Exprs", ()),
        ("Cons", "Exprs", ("Expr", "Exprs")),
        ("NoName", "Named", ()),
        ("Name", "Named", (_S, "Expr", "Named")),
        # Statements; the first argument is the site.
        ("Assign", "Stmt", (_AT, _V, _S, "Expr")),  # site, name, type, value
        ("Eval", "Stmt", (_AT, "Expr")),
        ("ForS", "Stmt", (_AT, _S, _V, "Exprs", "Carries", "Block", "Results", "Named", "Named")),
        ("WhileS", "Stmt", (_AT, "Carries", "Expr", "Block", "Results")),
        ("IfS", "Stmt", (_AT, "Expr", "Block", "Block", _I, "Results")),  # ..., has else
        ("ScopeS", "Stmt", (_AT, "Named", "Block")),
        ("YieldS", "Stmt", (_AT, "Exprs")),
        ("ReturnS", "Stmt", (_AT, "Exprs")),
        ("CommentS", "Stmt", (_AT, _S)),
        ("OpaqueS", "Stmt", (_AT, _S, _V, _V)),  # site, lines, names it reads, names it binds
        ("End", "Block", ()),
        ("Seq", "Block", ("Stmt", "Block")),
        ("NoCarry", "Carries", ()),
        ("Carry", "Carries", (_V, _S, "Expr", "Carries")),  # name, type, init
        ("NoResult", "Results", ()),
        ("Result", "Results", (_V, _S, "Results")),  # name, type
        # Functions and programs.
        ("NoType", "Types", ()),
        ("TypeT", "Types", (_S, "Types")),
        ("NoParam", "Params", ()),
        ("ParamP", "Params", (_V, _S, _S, "Params")),  # name, direction, type
        ("FuncF", "Func", (_S, _S, _S, _S, "Params", "Types", "Block", "Named", "Named")),
        ("NoFunc", "Funcs", ()),
        ("FuncsF", "Funcs", ("Func", "Funcs")),
        ("ProgramP", "Prog", (_S, _S, _S, _I, "Funcs")),  # name, dims, preamble, final newline
    )
)
BY_NAME = {constructor.name: constructor for constructor in CONSTRUCTORS}
INGEST = "ingest"


def handle(sort: str) -> str:
    """The function from a node's number to its class."""
    return f"at-{sort}"


EXPRESSIONS = frozenset({"Expr", "Exprs", "Named"})


def loaded_from(constructor: str) -> str:
    """The relation from which terms of ``constructor`` are loaded."""
    return f"in-{constructor}"


@lru_cache(maxsize=64)
def syntax_program(mentioned: frozenset[str] | None = None, given: frozenset[str] | None = None) -> str:
    """The egglog text that declares the syntax layer and how it is loaded.

    An e-graph costs what it declares. With the names that rules have ``mentioned``, what none of them can match is
    left out: terms of statements that are not among them, and all terms where none is. ``given`` are the constructors
    of which there are terms; without it there may be any.
    """
    terms = CONSTRUCTORS if mentioned is None else _matched(mentioned, given)
    used = {sort for con in terms for sort in (con.sort, *con.args)} | (mentioned or frozenset())
    sorts = [sort for sort in SORTS if sort in used]
    lines = [f"(ruleset {INGEST})"]
    lines += [f"(sort {sort})" for sort in sorts]
    lines += [f"(constructor {handle(sort)} (i64) {sort})" for sort in sorts]
    for con in terms:
        lines += _constructor_lines(con)
    return "\n".join(lines)


def _matched(mentioned: frozenset[str], given: frozenset[str] | None) -> tuple[Constructor, ...]:
    """Expressions stay together: that two of them are equal makes those equal that contain them."""
    if not any(con.name in mentioned or con.sort in mentioned for con in CONSTRUCTORS):
        return ()
    present = frozenset(con.name for con in CONSTRUCTORS) if given is None else given
    return tuple(
        con for con in CONSTRUCTORS if con.name in mentioned or (con.sort in EXPRESSIONS and con.name in present)
    )


def _constructor_lines(con: Constructor) -> list[str]:
    """The constructor, the relation it is loaded from, and the rule that makes a term of a row, which it uses up."""
    columns = " ".join("i64" if kind in SORTS else kind for kind in con.args)
    names = [f"a{i}" for i in range(len(con.args))]
    given = " ".join(
        f"({handle(kind)} {name})" if kind in SORTS else name for name, kind in zip(names, con.args, strict=True)
    )
    source = loaded_from(con.name)
    return [
        f"(constructor {con.name} ({' '.join(con.args)}) {con.sort})",
        f"(relation {source} (i64 {columns}))",
        f"(rule (({source} n {' '.join(names)})) "
        f"((union ({handle(con.sort)} n) ({con.name} {given})) (delete ({source} n {' '.join(names)}))) "
        f":ruleset {INGEST})",
    ]
