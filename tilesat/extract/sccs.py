"""Groups of classes that may depend on each other: the only places where a choice can be cyclic."""

from __future__ import annotations

from tilesat.extract.problem import Problem


def cyclic_groups(problem: Problem, alive: bytearray | None = None) -> list[int]:
    """For each class the number of its non-trivial strongly connected component, -1 where there is none.

    An edge leads from a class to each child of its ways (only those in ``alive``, if given).
    """
    successors = _inner_edges(problem, alive)
    component = [-1] * len(problem.ways)
    if not successors:
        return component
    count = 0
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_classes: list[int] = []
    is_open: set[int] = set()
    for start in successors:
        if start in index:
            continue
        stack = [(start, iter(successors[start]))]
        index[start] = low[start] = len(index)
        open_classes.append(start)
        is_open.add(start)
        while stack:
            cls, rest = stack[-1]
            for child in rest:
                if child not in index:
                    index[child] = low[child] = len(index)
                    open_classes.append(child)
                    is_open.add(child)
                    stack.append((child, iter(successors[child])))
                    break
                if child in is_open:
                    low[cls] = min(low[cls], index[child])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[cls])
                if low[cls] == index[cls]:
                    count += _close(cls, open_classes, is_open, component, count)
    return component


def _close(root: int, open_classes: list[int], is_open: set[int], component: list[int], number: int) -> int:
    """Number the component whose root is ``root``; 1 if it has more than one class, else 0."""
    if open_classes[-1] == root:
        is_open.discard(open_classes.pop())
        return 0
    while True:
        cls = open_classes.pop()
        is_open.discard(cls)
        component[cls] = number
        if cls == root:
            return 1


def _inner_edges(problem: Problem, alive: bytearray | None) -> dict[int, list[int]]:
    """Edges among what is left when classes without children are peeled off again and again."""
    cls, children = problem.cls, problem.children
    live = range(len(cls)) if alive is None else [way for way, yes in enumerate(alive) if yes]
    open_edges = [0] * len(problem.ways)
    for way in live:
        open_edges[cls[way]] += len(children[way])
    done = [c for c, count in enumerate(open_edges) if not count]
    parents = problem.parents
    while done:
        for way in parents[done.pop()]:
            if alive is not None and not alive[way]:
                continue
            open_edges[cls[way]] -= 1
            if not open_edges[cls[way]]:
                done.append(cls[way])
    left = {c for c, count in enumerate(open_edges) if count}
    edges: dict[int, list[int]] = {c: [] for c in sorted(left)}
    for way in live:
        if cls[way] in left:
            edges[cls[way]].extend(child for child in children[way] if child in left)
    return edges
