"""The relations rules read and write: facts of the syntax, analyses, decisions.

*Seeds* are read off the syntax by Python (:mod:`tilesat.ir_terms.facts` and its neighbours): regions, sites,
op-table rows, static sizes, memory versions. *Derived* relations follow from terms and seeds. *Decisions* are what
a pass carries out; each has a table ``why-<name>`` that collects the names of the rules that made it.

Spaces are numbers (``$Vec`` in the text of a rule stands for one), variables are names, statements are sites.
"""

from __future__ import annotations

from functools import lru_cache

from tilesat.ir_terms.relations import inference, orchestration, placement, residency
from tilesat.ir_terms.relations.base import SPACE_NUMBERS, SPACES, Relation, Role

__all__ = ["BY_NAME", "RELATIONS", "SPACES", "SPACE_NUMBERS", "Relation", "Role", "relations_program"]

RELATIONS: tuple[Relation, ...] = (
    *inference.RELATIONS,
    *residency.EVIDENCE,
    *residency.RELATIONS,
    *placement.RELATIONS,
    *orchestration.RELATIONS,
)
BY_NAME = {relation.name: relation for relation in RELATIONS}


# An e-graph costs what it declares, so each stage of a pass has one with its own relations only.
_OF_STAGE = {
    "inference": inference.RELATIONS,
    "evidence": residency.EVIDENCE,
    "residency": residency.RELATIONS,
    "placement": placement.RELATIONS,
    "reuse": (*orchestration.PROGRAM, *orchestration.REUSE),
    "strides": (*orchestration.PROGRAM, *orchestration.STRIDES),
    "gather": (*orchestration.PROGRAM, *orchestration.GATHER),
    "windows": (*orchestration.PROGRAM, *orchestration.WINDOWS),
}


_BORROWED = {"residency": inference.RELATIONS, "placement": inference.RELATIONS}


@lru_cache(maxsize=64)
def relations_program(stage: str, mentioned: frozenset[str] | None = None) -> str:
    """The egglog text that declares the relations of ``stage``, and the terms for places where it has them.

    With the names that rules have ``mentioned`` only those, reasons of decisions included.
    """
    lines = ["(sort Why (Set String))"]
    if stage == "placement":
        lines.append(placement.places_program(mentioned))
    own = frozenset(relation.name for relation in _OF_STAGE[stage])
    for relation in (*_BORROWED.get(stage, ()), *_OF_STAGE[stage]):
        if mentioned is not None and not {relation.name, f"why-{relation.name}"} & mentioned:
            continue
        lines.append(relation.declaration())
        if relation.role is Role.DECISION and relation.name in own:
            lines.append(relation.why_declaration())
    return "\n".join(lines)
