"""A deliberately unsound rule: it forgets that a write makes a copy stale. `new_rule.py` shows a sound one."""

from tilesat import Rule


def extend(rules):
    return rules + Rule(
        name="stale-copies",
        family="mistakes",
        phase="contents",
        meaning="a copy holds what its source holds, whenever that is read",
        text="(rule ((copied-at site w f v e) (operand-at other k v g)) ((union (Of w f) (Of v g))))",
    )
