"""Which tiles hold the same, whose buffers are where, and from where contents can be had."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "contents"


def _rule(name: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, "contents", meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "contents-read",
        "what operands read and what flows into slots are contents",
        """
        (rule ((operand-at site k v e)) ((Of v e)))
        (rule ((flow-at site k v e)) ((Of v e)))
        """,
    ),
    _rule(
        "contents-of-alias",
        "an alias holds what it names",
        "(rule ((same-as y x) (= c (Of y e))) ((union c (Of x e))))",
    ),
    _rule(
        "contents-of-copy",
        "a copy holds what its source held when it was made, as long as nobody writes either",
        "(rule ((copied-at site w f v e)) ((union (Of w f) (Of v e))))",
    ),
    _rule(
        "contents-of-window",
        "a slice and an extract of equal offsets and shape hold the same; not a slice that states a pad",
        """
        (rule ((view-at site h m) (= c (Of h e)) (= s (Assign site n type (Op "tile.slice" args (NoName) attrs)))
               (= args (Cons x (Cons (ListE shape) (Cons (ListE offsets) (Nil))))))
              ((union c (Window (Of m e) offsets shape))))
        (rule ((extract-at site h f m e) (= s (Assign site n type (Op "tile.extract" args kwargs attrs)))
               (= args (Cons x (Cons row (Cons col (Cons (ListE shape) rest))))))
              ((union (Of h f) (Window (Of m e) (Cons row (Cons col (Nil))) shape))))
        """,
    ),
    _rule(
        "contents-behind-view",
        "to look at a tile its source must be had, to look at a copy in a space that allows it",
        """
        (rule ((view-at site h m) (= c (Of h e))) ((view-of c site (Of m e))))
        (rule ((extract-at site h f m e)) ((window-of (Of h f) site (Of m e))))
        (rule ((view-of c site d) (lookable site s)) ((shown-in c s site d)))
        """,
    ),
    _rule(
        "wanted-from",
        "the first site at which a content, or something that shows it, is read",
        """
        (rule ((operand-at site k v e) (= c (Of v e))) ((set (wanted-from c) site)))
        (rule ((flow-at site k v e) (= c (Of v e))) ((set (wanted-from c) site)))
        (rule ((view-of c site d) (= first (wanted-from c))) ((set (wanted-from d) first)))
        (rule ((window-of c site d) (= first (wanted-from c))) ((set (wanted-from d) first)))
        (rule ((= c (Window b offsets shape)) (= first (wanted-from c))) ((set (wanted-from b) first)))
        """,
    ),
    _rule(
        "own-where-produced",
        "a producer that stays leaves its tile where it does",
        "(rule ((owner v s)) ((owns v s) (offer (Own v s) (Home v s))))",
    ),
    _rule(
        "own-where-made",
        "a load or create produces a tile in each space it may be told",
        "(rule ((made-in v s)) ((owns v s) (offer (Own v s) (Made v s))))",
        "INF-P3-04",
    ),
    _rule(
        "own-view",
        "a view, and the result of an op that follows an operand, are where that is; so is the view of a copy",
        """
        (rule ((own-view h m) (owns m s) (view-at site h m) (view-anywhere site))
              ((owns h s) (lookable site s) (offer (Own h s) (Home h s))))
        (rule ((own-view h m) (owns m s) (view-at site h m) (view-only site s))
              ((owns h s) (lookable site s) (offer (Own h s) (Home h s))))
        (rule ((follows h m) (owns m s)) ((owns h s) (offer (Own h s) (Home h s))))
        """,
    ),
    _rule(
        "own-alias",
        "an alias names the buffer itself",
        "(rule ((own-alias y x) (owns x s)) ((owns y s) (union (Own y s) (Own x s))))",
    ),
    _rule(
        "own-slot",
        "iter-args and results are in the space of their slot",
        "(rule ((slot-of v l k) (slot-may l k s)) ((owns v s) (offer (Own v s) (Slot v s))))",
    ),
    _rule(
        "own-spaces",
        "the set of spaces a buffer may be in",
        "(rule ((owns v s)) ((set (own-mask v) (<< 1 s))))",
    ),
    _rule(
        "reach-own",
        "a content can be had where a producer leaves it",
        """
        (rule ((owns v s) (= c (Of v e))) ((content-own c s)))
        (rule ((content-own c s)) ((may-reach c s)))
        """,
    ),
    _rule(
        "reach-load",
        "and where a load can be told to put it",
        "(rule ((load-in v s) (= c (Of v e))) ((content-own c s)))",
        "INF-P4-14",
    ),
    _rule(
        "reach-by-move",
        "and in the spaces through which chains of moves lead",
        "(rule ((may-reach c s) (move-edge s t) (stop t)) ((may-reach c t)))",
    ),
    _rule(
        "reach-by-view",
        "a view can be had where its source can, a window where it can be cut",
        """
        (rule ((shown-in c s site d) (may-reach d s)) ((may-reach c s)))
        (rule ((window-of c site d) (may-reach d s) (cut-edge s t) (stop t)) ((may-reach c t)))
        """,
    ),
    _rule(
        "live-outside",
        "a tile from outside a region can be had before it, if entering it changes nothing",
        "(rule ((live-in r v e) (= c (Of v e))) ((live r c)))",
    ),
    _rule(
        "live-view",
        "so can a view or window of it whose offsets come from outside",
        """
        (rule ((view-of c site d) (live r d) (fixed-in site r)) ((live r c)))
        (rule ((window-of c site d) (live r d) (fixed-in site r)) ((live r c)))
        """,
    ),
    _rule(
        "load-of-window",
        "loads by what they read, and how",
        """
        (rule ((load-at s v g n) (load-options s o) (= x (Assign s v type (Op "tile.load" args kwargs attrs))))
              ((loads args o s v)))
        """,
    ),
    _rule(
        "equal-standing-loads",
        "loads of one window of a tensor that nobody writes hold the same, wherever they stand",
        """
        (rule ((loads args o s v) (loads args o q w) (< q s) (floating v) (floating w)
               (load-at s v g n) (load-at q w h n) (content-version v e) (content-version w f))
              ((union (Of v e) (Of w f))))
        """,
        "INF-P4-14",
    ),
    _rule(
        "equal-loads",
        "two loads of one window with no write between are equal; the later one may use the last earlier one",
        """
        (rule ((loads args o s v) (loads args o q w) (< q s) (load-at s v g n) (load-at q w g m)
               (site-region s r) (site-region q b) (ancestor r b d))
              ((decide (last-equal-load v) q)))
        """,
    ),
)
