"""The verifier on real texts: silent about good ones, and about each bad one it says what is wrong.

Every exception is listed with its reason; a case that leaves or joins the lists fails the test.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest

from tests.ir.verifying import DATA
from tilesat.diagnostics import errors
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse_text
from tilesat.ir.verify import DEFAULT_PROPERTIES, INPUT_PROPERTIES, OUTPUT_PROPERTIES, verify

TEXTS = tuple(str(path.relative_to(DATA).with_suffix("")) for path in sorted(DATA.glob("*/*/*.py")))
INFERRED = tuple(
    name
    for name in TEXTS
    if (name.startswith(("cases/I", "cases/R")) and name.endswith("peer_after")) or name.endswith("infer_peer")
)
# What holds before and after every pass, whether spaces are decided or not.
ALWAYS = (*INPUT_PROPERTIES, "TypesConsistent")

# Uses without a definition, which the peer left behind and its printer marked.
LOST_DEFINITIONS = {
    "cases/O17/peer_after": {"SSAForm"},  # the create went with the first kernel that used it
    "cases/O36/peer_after": {"SSAForm"},  # the assemble loop became stores, its result had a reader
}
# Texts whose types disagree.
WRONG_TYPES = {
    "cases/O14/peer_after": {"TypesConsistent"},  # a submit still passes the parameter that was merged
    "cases/I11/peer_after": {"TypesConsistent"},  # tile.full relabelled to Acc
    "cases/I16/peer_after": {"TypesConsistent"},  # a view in another space than its source
    "cases/I17/peer_after": {"TypesConsistent"},  # the same, between nested loops
    "cases/I66/peer_after": {"TypesConsistent"},  # the promoted load lost its valid shape
}
# What the peer's inference got wrong, by the properties that show it.
WRONG_SPACES = {
    "cases/I11/peer_after": {"TypesConsistent"},
    "cases/I13/peer_after": {"TileMemoryInferred", "CarrySpaces"},  # branches in different spaces
    "cases/I14/peer_after": {"CarrySpaces"},  # an if's result promoted, its branches not
    "cases/I16/peer_after": {"TypesConsistent", "ViewSpaces"},
    "cases/I17/peer_after": {"TypesConsistent", "ViewSpaces"},
    "cases/I60/peer_after": {"ViewSpaces"},  # Mat block assembled into a Vec target
    "cases/I63/peer_after": {"TileMemoryInferred"},  # a body of one statement got no move
    "cases/I66/peer_after": {"TypesConsistent"},
    # One create seeds two loops: the text shows the carry with the create's space, hence the operand.
    "cases/I67/peer_after": {"TileMemoryInferred", "CarrySpaces", "ViewSpaces"},
    "kernels/seeded_mix/infer_peer": {"TileMemoryInferred", "CarrySpaces"},  # arms in different spaces
}
# Transfers that no chip has.
IMPOSSIBLE_PATHS = {
    "cases/I28/peer_after": "Acc to Left",
    "cases/I29/peer_after": "Vec to Bias",
    "cases/I41/peer_after": "into Acc",
    "cases/I64/peer_after": "Vec to Acc",
    "cases/I66/peer_after": "into Acc",
}
# Well formed, though not what the program should do: I26 writes a copy, I61 and I80 move too much.
NOTHING_TO_SEE = ("cases/I26/peer_after", "cases/I61/peer_after", "cases/I80/peer_after")


@cache
def parsed(name: str) -> Program:
    path: Path = (DATA / name).with_suffix(".py")
    return parse_text(path.read_text(), path.name)


def violated(name: str, properties: Collection[str]) -> set[str]:
    return {finding.check for finding in errors(verify(parsed(name), properties=properties))}


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_is_fit_for_a_pass(name: str) -> None:
    """INF-S-03: nothing that a pass may get is refused but programs with lost definitions."""
    assert violated(name, INPUT_PROPERTIES) == LOST_DEFINITIONS.get(name, set())


@pytest.mark.parametrize("name", TEXTS)
def test_types_agree_in_every_text(name: str) -> None:
    """Orchestration stage and inference stage alike, warnings included."""
    found = {finding.check for finding in verify(parsed(name), properties=["TypesConsistent"])}
    assert found == WRONG_TYPES.get(name, set())


@pytest.mark.parametrize("name", INFERRED)
def test_inferred_programs_have_the_promised_properties(name: str) -> None:
    """INF-S-04, INF-S-05."""
    assert violated(name, OUTPUT_PROPERTIES) == WRONG_SPACES.get(name, set())


@pytest.mark.parametrize("name", INFERRED)
@pytest.mark.parametrize("chip", [None, "910b", "950"])
def test_inferred_programs_use_paths_that_exist(name: str, chip: str | None) -> None:
    found = verify(parsed(name), properties=["HardwarePaths"], hardware=chip)
    if name in IMPOSSIBLE_PATHS:
        assert [IMPOSSIBLE_PATHS[name] in finding.message for finding in found] == [True]
    else:
        assert found == ()


@pytest.mark.parametrize("name", NOTHING_TO_SEE)
def test_what_no_property_can_show(name: str) -> None:
    """Whether a program computes the right thing is for interpretation to tell, not for the verifier."""
    assert verify(parsed(name), properties=DEFAULT_PROPERTIES) == ()


def test_layouts_are_declared_as_deduced() -> None:
    """AssignTypeSymmetry looks at layouts, too; two more texts show for that."""
    found = {name for name in TEXTS if violated(name, ["AssignTypeSymmetry"])}
    layouts = {
        "cases/O26/peer_after",  # the parameter got a stride, a carry started from it did not
        "kernels/chain_three/infer_before",  # compact mode of a cast tile
    }
    assert found == layouts | {name for name in WRONG_TYPES if name != "cases/O14/peer_after"}


def test_old_names_of_written_buffers() -> None:
    """InOutUseValid: O07 is the hazard; windows are cut from a loop's init on purpose (ORC-5-06)."""
    found = {name for name in TEXTS if verify(parsed(name), properties=["InOutUseValid"])}
    windowed = {
        f"kernels/{kernel}/{stage}"
        for kernel in ("window_rows", "window_scopes")
        for stage in ("orch_peer", "infer_before", "infer_peer")
    }
    assert found == windowed | {"cases/O07/peer_after"}
