"""A new algebraic rule: two tiles filled with the same number hold the same, so one copy serves both."""

from tilesat import Rule


def extend(rules):
    return rules + Rule(
        name="equal-fills",
        family="fills",
        phase="contents",
        meaning="tiles filled with the same number hold the same until somebody writes to one of them",
        text="""
        (rule ((= x (Assign s v type (Op "tile.full" args kwargs attrs))) (= c (Of v 0))
               (= y (Assign q w type (Op "tile.full" args kwargs attrs))) (= d (Of w 0)) (< q s))
              ((union c d)))
        """,
        sound=lambda random: fill(3, number := random.random()) == fill(3, number),
    )


def fill(size, number):
    return [[number] * size for _ in range(size)]
