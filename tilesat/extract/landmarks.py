"""What every derivation of a class needs: classes that no choice can do without."""

from __future__ import annotations

from tilesat.extract.problem import Problem


def needs(problem: Problem, alive: bytearray) -> list[int]:
    """For each class a bit set of the classes that all its derivations use, itself included.

    The greatest fixpoint of: itself, and what all its alive ways have in common of what their children need.
    """
    everything = (1 << len(problem.ways)) - 1
    needed = [everything] * len(problem.ways)
    order = children_first(problem)
    changed = True
    while changed:
        changed = False
        for cls in order:
            common = -1
            for way in problem.ways[cls]:
                if alive[way]:
                    required = 0
                    for child in problem.children[way]:
                        required |= needed[child]
                    common &= required
            common = (common | 1 << cls) & everything
            if common != needed[cls]:
                needed[cls] = common
                changed = True
    return needed


def members(bits: int) -> list[int]:
    """The classes of a bit set."""
    found: list[int] = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def children_first(problem: Problem) -> list[int]:
    """Classes that can be reached from the roots, most of them after their children."""
    order: list[int] = []
    state = bytearray(len(problem.ways))
    stack = list(problem.roots)
    while stack:
        cls = stack[-1]
        if state[cls]:
            stack.pop()
            if state[cls] == 1:
                state[cls] = 2
                order.append(cls)
            continue
        state[cls] = 1
        stack.extend(child for way in problem.ways[cls] for child in problem.children[way] if not state[child])
    return order
