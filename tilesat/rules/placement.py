"""Every legal placement: what each operand may read, and every way to have it there."""

from __future__ import annotations

from tilesat.rules.rule import Rule

# Without the first two no placement need exist; the others can be left out, and what remains is still a legal set.
OPERANDS, MOVES, HOIST, VIEWS, LOADS, SLOTS = "operands", "placing", "hoist", "views", "merge-loads", "slots"


def _rule(name: str, family: str, meaning: str, text: str, *requirements: str, phase: str = "placement") -> Rule:
    return Rule(name, family, phase, meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    # -- operands
    _rule(
        "take-own",
        OPERANDS,
        "an operand reads its variable where it is, if its slot accepts that",
        """
        (rule ((operand-at site k v e) (owns v s) (accepts-space site k s)) ((offer (UseOf site k) (Take (Own v s)))))
        """,
    ),
    _rule(
        "take-copy",
        OPERANDS,
        "an operand that is, or may be, somewhere else reads a copy in any space its slot accepts",
        """
        (rule ((operand-at site k v e) (floating v) (accepts-space site k t) (copy-layout site k l) (!= t $Vec)
               (site-region site r))
              ((offer (UseOf site k) (Take (At (Of v e) t 0 r)))))
        (rule ((operand-at site k v e) (floating v) (accepts-space site k $Vec) (copy-layout site k l)
               (site-region site r))
              ((offer (UseOf site k) (Take (At (Of v e) $Vec l r)))))
        (rule ((operand-at site k v e) (= o (own-mask v)) (accepts site k m) (!= 0 (& o (- 1023 m)))
               (accepts-space site k t) (copy-layout site k l) (!= t $Vec) (site-region site r))
              ((offer (UseOf site k) (Take (At (Of v e) t 0 r)))))
        (rule ((operand-at site k v e) (= o (own-mask v)) (accepts site k m) (!= 0 (& o (- 1023 m)))
               (accepts-space site k $Vec) (copy-layout site k l) (site-region site r))
              ((offer (UseOf site k) (Take (At (Of v e) $Vec l r)))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "choice-of-spaces",
        OPERANDS,
        "an operand that may read a copy can go from a space that its slot accepts to another one",
        """
        (rule ((accepts-space site k s) (accepts-space site k t) (move-edge s t) (stop t) (!= s t)
               (copy-layout site k l))
              ((accepts-both site k s t)))
        """,
        phase="contents",
    ),
    _rule(
        "take-copy-elsewhere",
        OPERANDS,
        "or, though its slot accepts where it is, a copy in another space that the slot accepts as well",
        """
        (rule ((accepts-both site k s t) (!= t $Vec) (operand-at site k v e) (owns v s) (site-region site r))
              ((offer (UseOf site k) (Take (At (Of v e) t 0 r)))))
        (rule ((accepts-both site k s $Vec) (operand-at site k v e) (owns v s) (copy-layout site k l)
               (site-region site r))
              ((offer (UseOf site k) (Take (At (Of v e) $Vec l r)))))
        """,
    ),
    _rule(
        "flow-own",
        OPERANDS,
        "what flows into a slot is there already",
        """
        (rule ((slot-flow l k site slot) (flow-at site slot v e) (slot-may l k s) (owns v s))
              ((offer (FlowOf site slot s) (Take (Own v s)))))
        """,
        "INF-P1-10",
    ),
    _rule(
        "flow-copy",
        OPERANDS,
        "or a copy of it is made",
        """
        (rule ((slot-flow l k site slot) (flow-at site slot v e) (slot-may l k s) (site-region site r))
              ((offer (FlowOf site slot s) (Take (At (Of v e) s 0 r)))))
        """,
        "INF-P1-10",
        "INF-P1-12",
    ),
    _rule(
        "slot-as-inferred",
        OPERANDS,
        "a slot lives where inference put it",
        "(rule ((slot-base l k s)) ((decide (slot-may l k s))))",
        "INF-P1-10",
        "INF-P1-12",
        phase="contents",
    ),
    # -- placing copies
    _rule(
        "read-in-place",
        MOVES,
        "a content can be read from the buffer of a variable that holds it, inside its scope, if it is bound by then",
        """
        (rule ((= p (At (Of v e) s 0 r)) (owns v s) (defined-in v d) (ancestor r d n)
               (bound-at v born) (= first (wanted-from (Of v e))) (<= born first))
              ((offer p (Read (Own v s)))))
        (rule ((= p (At (Of v e) $Vec 1 r)) (owns v $Vec) (row-major-home v) (defined-in v d) (ancestor r d n)
               (bound-at v born) (= first (wanted-from (Of v e))) (<= born first))
              ((offer p (Read (Own v $Vec)))))
        """,
    ),
    _rule(
        "move",
        MOVES,
        "a copy is made by a move along any edge the hardware has; several moves where only those exist",
        """
        (rule ((= p (At c t 0 r)) (!= t $Vec) (may-reach c s) (move-edge s t)) ((offer p (Move (At c s 0 r) s t 0 r))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "move-to-vec",
        MOVES,
        "a copy in Vec is row-major, or keeps the layout of its source where that is no accumulator",
        """
        (rule ((= p (At c $Vec 1 r)) (may-reach c s) (move-edge s $Vec)) ((offer p (Move (At c s 0 r) s $Vec 1 r))))
        (rule ((= p (At c $Vec 0 r)) (may-reach c s) (move-edge s $Vec) (!= s $Acc))
              ((offer p (Move (At c s 0 r) s $Vec 0 r))))
        """,
        "INF-P3-03",
    ),
    _rule(
        "keep-own-move",
        MOVES,
        "a move that the input has stays possible within one space, and where it stands along an edge that no chip has",
        """
        (rule ((copied-at site w f v e) (own-move site s l) (= p (At (Of w f) s l r)))
              ((offer p (Move (At (Of v e) s 0 r) s s l r))))
        (rule ((copied-at site w f v e) (own-edge site s t l) (site-region site r) (= p (At (Of w f) t l r)))
              ((offer p (Move (At (Of v e) s 0 r) s t l r))))
        """,
    ),
    _rule(
        "any-layout",
        MOVES,
        "who accepts any layout accepts the row-major one",
        "(rule ((= p (At c $Vec 0 r))) ((offer p (AnyOf (At c $Vec 1 r)))))",
        "INF-P3-03",
    ),
    # -- moving copies out of loops and branches
    _rule(
        "keep-from-outside",
        HOIST,
        "a copy made before a loop or branch serves inside it, if entering it changes nothing the copy depends on",
        "(rule ((= p (At c s l r)) (live r c) (region r q d) (>= q 0)) ((offer p (Up (At c s l q) r))))",
        "INF-P2-02",
    ),
    _rule(
        "load-anywhere",
        HOIST,
        "a load that nothing holds in its loops is executed in any region it may stand in",
        """
        (rule ((= p (At (Of v e) s 0 r)) (stands v r) (load-in v s) (!= s $Vec)) ((offer p (Load v s r))))
        (rule ((= p (At (Of v e) $Vec 1 r)) (stands v r) (load-in v $Vec)) ((offer p (Load v $Vec r))))
        """,
        "INF-P4-14",
    ),
    # -- views
    _rule(
        "look-at-copy",
        MOVES,
        "a view of a copy instead of a copy of the view",
        """
        (rule ((= p (At c s l r)) (shown-in c s site d)) ((offer p (Look site (At d s l r) r))))
        (rule ((= p (At c s 1 r)) (shown-in c s site d) (plain-view site)) ((offer p (Look site (At d s 0 r) r))))
        """,
        "INF-P1-05",
    ),
    _rule(
        "cut-window",
        MOVES,
        "an extract cuts its window out of any place its source can be had",
        """
        (rule ((= p (At c t 0 r)) (window-of c site d) (may-reach d s) (cut-edge s t))
              ((offer p (Cut site (At d s 0 r) t r))))
        (rule ((= p (At c $Vec 1 r)) (window-of c site d) (extract-at site h f m e) (row-major-home h)
               (may-reach d s) (cut-edge s $Vec))
              ((offer p (Cut site (At d s 0 r) $Vec r))))
        """,
    ),
    _rule(
        "slice-of-slice",
        VIEWS,
        "a window of a window at constant offsets is one window",
        """
        (rule ((= c (Window (Window b (Cons (IntC i d) (Cons (IntC j d) (Nil))) outer)
                            (Cons (IntC m d) (Cons (IntC n d) (Nil))) inner)))
              ((let offsets (Cons (IntC (+ i m) d) (Cons (IntC (+ j n) d) (Nil))))
               (sliceable c)
               (union c (Window b offsets inner))))
        """,
        phase="contents",
    ),
    _rule(
        "reshape-of-reshape",
        VIEWS,
        "a reshape of a reshape is one reshape",
        """
        (rule ((= p (At c s l r)) (shown-in c s site d) (plain-view site) (view-of d inner b) (plain-view inner))
              ((offer p (Look site (At b s l r) r))))
        """,
    ),
    _rule(
        "look-past-view",
        VIEWS,
        "a view of a view may be made anew for its reader, past the view between",
        """
        (rule ((operand-at site k h e) (own-view h m) (view-at inner m x) (owns h s) (accepts-space site k s)
               (copy-layout site k l) (!= s $Vec) (site-region site r))
              ((offer (UseOf site k) (Take (At (Of h e) s 0 r)))))
        (rule ((operand-at site k h e) (own-view h m) (view-at inner m x) (owns h $Vec) (accepts-space site k $Vec)
               (copy-layout site k l) (site-region site r))
              ((offer (UseOf site k) (Take (At (Of h e) $Vec l r)))))
        """,
    ),
    _rule(
        "slice-for-extract",
        VIEWS,
        "a window that an extract copies can be looked at instead, where it begins at a block boundary",
        "(rule ((extract-at site h f m e) (block-window site)) ((sliceable (Of h f))))",
        phase="contents",
    ),
    _rule(
        "slice-directly",
        VIEWS,
        "what one window of a tile holds can be had by one slice of it in Vec",
        """
        (rule ((= p (At c $Vec l r)) (= c (Window b offsets shape)) (sliceable c) (may-reach b $Vec))
              ((offer p (Slice (At b $Vec l r) offsets shape r))))
        """,
    ),
    _rule(
        "view-back",
        VIEWS,
        "a view of a view that comes out as what they look at is that: reshape there and back, transposed twice",
        """
        (rule ((equal-type h x) (= c (Of h e))) ((union c (Of x e))))
        """,
        phase="contents",
    ),
    _rule(
        "take-equal",
        VIEWS,
        "such a view need not be looked through",
        """
        (rule ((operand-at site k h e) (equal-type h x) (owns x s) (accepts-space site k s))
              ((offer (UseOf site k) (Take (Own x s)))))
        """,
    ),
    # -- equal loads
    _rule(
        "merge-loads",
        LOADS,
        "a load uses the buffer of an equal load that ran before it",
        """
        (rule ((= q (last-equal-load v)) (load-at q w g n) (owns v s) (owns w s) (made-in v s))
              ((offer (Own v s) (Alike (Own w s)))))
        """,
    ),
    _rule(
        "share-copies-of-loads",
        LOADS,
        "and the copies made of it",
        """
        (rule ((= q (last-equal-load v)) (load-at q w g n) (content-version w e) (= p (At (Of v f) t l r)))
              ((offer p (AnyOf (At (Of w e) t l r)))))
        """,
    ),
    # -- carried slots and if results
    _rule(
        "slot-elsewhere",
        SLOTS,
        "or in any space in which all that flows into it can be had; a value that is handed on is where the slot is",
        """
        (rule ((slot-base l k b) (slot-flow l k p i) (slot-flow l k q j) (!= p q)
               (flow-at p i v e) (flow-at q j w f) (may-reach (Of v e) s) (may-reach (Of w f) s) (!= s b)
               (carriable s))
              ((decide (slot-may l k s))))
        (rule ((slot-base l k b) (slot-flow l k p i) (slot-flow l k q j) (!= p q)
               (flow-at p i v e) (flow-at q j w f) (slot-of w l k) (may-reach (Of v e) s) (!= s b) (carriable s))
              ((decide (slot-may l k s))))
        """,
        "INF-P1-12",
        phase="contents",
    ),
)

# Opt-in: what a user may allow. Each is off in the presets.
OPTIONS: tuple[Rule, ...] = (
    _rule(
        "retarget-loads",
        "retarget_loads",
        "a load may land where its readers want it, whatever its target_memory says",
        """
        (rule ((load-at s v g n) (has-buffer v)) ((made-in v $Vec) (made-in v $Mat)))
        (rule ((floating v) (load-at s v g n)) ((load-in v $Vec) (load-in v $Mat)))
        """,
        "INF-P3-04",
        phase="contents",
    ),
    _rule(
        "equal-loads-noalias",
        "assume_noalias",
        "distinct tensor parameters do not overlap: only writes to the loaded tensor itself come between",
        """
        (rule ((loads args o s v) (loads args o q w) (< q s) (load-at s v g n) (load-at q w h n)
               (site-region s r) (site-region q b) (ancestor r b d))
              ((decide (last-equal-load v) q)))
        """,
        phase="contents",
    ),
)
