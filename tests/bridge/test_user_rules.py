"""What a user's rule makes equal may be impossible to have at one time: the function stays as it is, and says so."""

from __future__ import annotations

import tilesat
from tests.inference.texts import function, program
from tilesat.rules.catalogue import preset

FILLS = tilesat.Rule(
    name="equal-fills",
    family="fills",
    phase="contents",
    meaning="tiles filled with one number hold the same",
    text="""
    (rule ((= x (Assign s v type (Op "tile.full" args kwargs attrs)))
           (= y (Assign q w type (Op "tile.full" args kwargs attrs))) (= c (Of v e)) (= d (Of w f)))
          ((union c d)))
    """,
)
# The first fill is in scope in its branch only, the second is bound after the branch has been left.
BODY = """
if n >= 0:
    t = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)
    u = pl.yield_(t)
else:
    s = pl.load(x, [0, 0], [16, 32])
    u = pl.yield_(s)
v = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)
w = pl.tile.move(v, target_memory=pl.Mem.Vec)
p = pl.store(u, [0, 0], o)
q = pl.store(w, [0, 0], p)
return q
"""


def test_a_function_without_a_legal_choice_stays_as_it_is() -> None:
    params = "x: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
    given = tilesat.parse(program(function(BODY, params=params)))
    reference = tilesat.infer_tile_memory_space(given, hardware="910b")
    result = tilesat.infer_tile_memory_space(given, rules=preset("optimal") + FILLS, hardware="910b")
    assert tilesat.validate(given, result.program).ok
    assert str(result.program) == str(reference.program)
    assert (result.cost, result.status) == (result.reference_cost, "heuristic")
    (stays,) = [decision for decision in result.decisions if decision.stage == "placement"]
    assert "no legal choice" in stays.text
    assert stays.rules == ("equal-fills",)
