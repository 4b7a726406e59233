"""The columns of everything that has a table, and the sorts of terms, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir_terms.relations import RELATIONS
from tilesat.ir_terms.relations.placement import TERMS
from tilesat.ir_terms.schema import CONSTRUCTORS

COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{relation.name: relation.columns for relation in RELATIONS},
    **{con.name: con.columns for con in CONSTRUCTORS},
    **{term.name: term.columns for term in TERMS},
}
"""The columns of each relation, function and term, its value last."""

SORT_OF: Mapping[str, str] = {
    **{con.name: con.sort for con in CONSTRUCTORS},
    **{term.name: term.sort for term in TERMS},
}
"""The sort of each term."""
