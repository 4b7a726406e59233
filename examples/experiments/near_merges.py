"""A replaced rule: loads are merged only within one block, never into a loop or branch."""

from tilesat import Rule


def extend(rules):
    return rules.replace(
        Rule(
            name="merge-loads",
            family="merge-loads",
            phase="placement",
            meaning="a load uses the buffer of an equal load that ran before it in the same block",
            text="""
            (rule ((= q (last-equal-load v)) (load-at q w g n) (load-at s v h m) (site-region s r) (site-region q r)
                   (owns v t) (owns w t) (made-in v t))
                  ((offer (Own v t) (Alike (Own w t)))))
            """,
        )
    )
