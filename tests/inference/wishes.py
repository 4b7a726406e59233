"""Rules that give the op table rows it lacks, so that every documented row can be shown.

No op of the table asks for Mat, and every one with ``target_memory`` but without a default is a load or a create. The
documents provide for others; a user's rule is how such an op would come in.
"""

from __future__ import annotations

from tilesat.rules.catalogue import preset
from tilesat.rules.rule import Rule, RuleSet

ASKS_FOR_MAT = Rule(
    "panel-reads-mat",
    "wishes",
    "read",
    "tile.panel reads its operand in Mat",
    '(rule ((op-at site "tile.panel")) ((slot-first "tile.panel" 0 $Mat) (slot-mask "tile.panel" 0 4)))',
)
NAMES_NO_SPACE = Rule(
    "vague-names-no-space",
    "wishes",
    "read",
    "the table has an output rule for tile.vague, but none that gives a space",
    '(rule ((op-at site "tile.vague")) ((op-unresolved "tile.vague")))',
)
READS_ANYTHING_ACC = Rule(
    "sink-reads-acc",
    "wishes",
    "read",
    "tile.sink reads its operand in Acc",
    '(rule ((op-at site "tile.sink")) ((slot-first "tile.sink" 0 $Acc) (slot-mask "tile.sink" 0 32)))',
)


def reference_with(*rules: Rule) -> RuleSet:
    """The reference rules and ``rules``."""
    return preset("reference") + rules
