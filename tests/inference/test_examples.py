"""The general example of the document that describes the pass, and the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tilesat
from tests.inference.texts import assert_equal, body_of

ROOT = Path(__file__).parent.parent.parent
DOCS = ("architecture", "semantics", "program-format")

BEFORE = """
import pypto.language as pl

@pl.program
class Before:
    @pl.function(type=pl.FunctionType.InCore)
    def main_incore_0(
        self,
        x: pl.Tensor[[16, 128], pl.BF16],
        y: pl.Tensor[[128, 128], pl.BF16],
        out_0: pl.Out[pl.Tensor[[16, 128], pl.FP32]],
    ) -> pl.Tensor[[16, 128], pl.FP32]:
        x_tile: pl.Tile[[16, 128], pl.BF16] = pl.load(x, [0, 0], [16, 128])
        y_tile: pl.Tile[[128, 128], pl.BF16] = pl.load(y, [0, 0], [128, 128])
        z_tile: pl.Tile[[16, 128], pl.FP32] = pl.matmul(x_tile, y_tile)
        out_0: pl.Tensor[[16, 128], pl.FP32] = pl.store(z_tile, [0, 0], out_0)
        return out_0
"""
AFTER = """
import pypto.language as pl

@pl.program
class After:
    @pl.function(type=pl.FunctionType.InCore)
    def main_incore_0(
        self,
        x: pl.Tensor[[16, 128], pl.BF16],
        y: pl.Tensor[[128, 128], pl.BF16],
        out_0: pl.Out[pl.Tensor[[16, 128], pl.FP32]],
    ) -> pl.Tensor[[16, 128], pl.FP32]:
        x_tile: pl.Tile[[16, 128], pl.BF16, pl.MemorySpace.Vec] = pl.load(x, [0, 0], [16, 128])
        y_tile: pl.Tile[[128, 128], pl.BF16, pl.MemorySpace.Vec] = pl.load(y, [0, 0], [128, 128])
        x_tile_L: pl.Tile[[16, 128], pl.BF16, pl.MemorySpace.Left] = pl.move(
            x_tile, target_memory=pl.MemorySpace.Left
        )
        y_tile_R: pl.Tile[[128, 128], pl.BF16, pl.MemorySpace.Right] = pl.move(
            y_tile, target_memory=pl.MemorySpace.Right
        )
        z_tile: pl.Tile[[16, 128], pl.FP32, pl.MemorySpace.Acc] = pl.matmul(x_tile_L, y_tile_R)
        out_0: pl.Tensor[[16, 128], pl.FP32] = pl.store(z_tile, [0, 0], out_0)
        return out_0
"""


def renamed(text: str, name: str) -> tilesat.Program:
    """The program of ``text`` under another name: names of programs are compared."""
    return tilesat.parse(re.sub(r"class \w+:", f"class {name}:", text))


def without_space(text: str) -> str:
    """``text`` with loads that name no space at all, as a producer without the keyword leaves them."""
    return re.sub(r"pl\.load\((\w), (\[.*?\]), (\[.*?\])\)", r"pl.tile.load(\1, \2, \3, \3)", text)


@pytest.mark.parametrize("text", [BEFORE, without_space(BEFORE)], ids=["default Vec", "no keyword"])
@pytest.mark.parametrize("rules", ["reference", "reference again"])
def test_the_general_example(text: str, rules: str) -> None:
    """INF-P0-01, INF-P1-03, INF-P1-06, INF-P2-01, INF-P3-02: Before gives After, and After stays as it is."""
    result = tilesat.infer_tile_memory_space(renamed(text, "P")).program
    if rules == "reference again":
        result = tilesat.infer_tile_memory_space(result).program
    assert_equal(result, renamed(AFTER, "P"))


def test_the_second_program_of_the_example_is_its_own_result() -> None:
    """INF-S-06: After holds all that the pass establishes."""
    assert_equal(tilesat.infer_tile_memory_space(renamed(AFTER, "P")).program, renamed(AFTER, "P"))


def test_the_example_with_mat_loads() -> None:
    """INF-P1-04: an author's Mat is kept, and the moves start there."""
    into_mat = re.sub(r"(pl\.load\(.*?\]), (\[.*?\])\)", r"\1, \2, target_memory=pl.MemorySpace.Mat)", BEFORE)
    text = body_of(tilesat.infer_tile_memory_space(tilesat.parse(into_mat)), "main_incore_0")
    assert text.count("target_memory=pl.Mem.Mat") == 2
    assert "x_tile_Left: pl.Tile[[16, 128], pl.BF16, pl.Mem.Left] = pl.tile.move(x_tile, " in text


def test_inserted_names_end_in_the_full_space_name() -> None:
    """INF-P3-02, peer behaviour 12.8: the document's `x_tile_L` is not what the pass gives."""
    text = body_of(tilesat.infer_tile_memory_space(tilesat.parse(BEFORE)), "main_incore_0")
    assert "x_tile_Left: " in text
    assert "y_tile_Right: " in text


def blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_code_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one script, from top to bottom; its example, whose types are left to deduction, gives After."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(ROOT / "README.md"):
        exec(compile(block, "README.md", "exec"), names)
    result = names["result"]
    assert isinstance(result, tilesat.PassResult)
    assert_equal(result.program, renamed(AFTER, "Product"))


def test_the_readme_starts_with_the_two_commands() -> None:
    """What to type stands before what it is."""
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.strip()]
    assert lines[1].split("#")[0].strip() == "make demo"
    assert lines[2].split("#")[0].strip() == "make test"


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md"])
def test_links_of_the_documents_lead_somewhere(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("path", [ROOT / "docs" / f"{name}.md" for name in DOCS], ids=DOCS)
def test_links_of_the_docs_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
