"""A new algebraic rule: a slice of the whole tile is the tile, so one copy serves both."""

from tilesat import Rule


def extend(rules):
    return rules + Rule(
        name="whole-slices",
        family="views",
        phase="contents",
        meaning="a slice that begins at the origin and has the type of its source holds what that holds",
        text="""
        (rule ((view-at site h m) (= x (Assign site h type (Op "tile.slice" args kwargs attrs)))
               (= args (Cons a (Cons shape (Cons (ListE (Cons (IntC 0 d) (Cons (IntC 0 d) (Nil)))) (Nil)))))
               (= y (Assign made m type value)) (= c (Of h e)))
              ((union c (Of m e))))
        """,
        sound=lambda random: (tile := [random.random() for _ in range(8)])[0 : len(tile)] == tile,
    )
