"""Scenes of windows: kernels that ask for them, launched where windows are apart, overlap, or cannot be made."""

from __future__ import annotations

from tilesat.lab.orch_callers import Caller

_LARGE = "pl.Tensor[[16, 32], pl.FP32]"
_ROWS = "pl.Tensor[[NR, 32], pl.FP32]"
_WINDOW = "pl.Tensor[[8, 32], pl.FP32]"
_HEADER = "(x: L, r: N, o: pl.Out[L]) -> L"
_UNARY = ("exp", "neg", "abs")


def _strip(c: Caller, type_: str = "L") -> str:
    """A kernel that reads one window of a tensor and writes one."""
    source = "0" if c.choices.chance(3) else "r"
    columns, at = c.choices.pick((("32", "0"), ("16", "16")))
    return c.kernel(
        f"(x: {type_}, r: N, o: pl.Out[{type_}]) -> {type_}",
        f"""
        a = pl.load(x, [{source}, {at}], [8, {columns}])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s: {type_} = pl.store(b, [r, {at}], o)
        return s
        """,
        windowize=True,
    )


def _adding(c: Caller) -> str:
    """A kernel that adds to one window of a tensor."""
    return c.kernel(
        "(x: L, r: N, o: pl.InOut[L]) -> L",
        """
        d = pl.load(o, [r, 0], [8, 32])
        a = pl.load(x, [r, 0], [8, 32])
        b = pl.add(a, d)
        s = pl.store(b, [r, 0], o)
        return s
        """,
        windowize=True,
    )


def _any_strip(c: Caller) -> tuple[str, str]:
    """A kernel that writes a window, and what its output has to be."""
    return (_strip(c), "Out") if not c.choices.chance(3) else (_adding(c), "InOut")


def _reading(c: Caller) -> str:
    """A kernel that reads a window and writes a tensor as a whole."""
    return c.kernel(
        f"(x: L, r: N, o: pl.Out[{_WINDOW}]) -> {_WINDOW}",
        f"""
        a = pl.load(x, [r, 0], [8, 32])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s = pl.store(b, [0, 0], o)
        return s
        """,
        windowize=True,
    )


def _aggregating(c: Caller, at: str, trips: int) -> str:
    """A kernel that writes a tensor part by part: one window, or several pieces."""
    return c.kernel(
        _HEADER,
        f"""
        for j, (c,) in pl.range({trips}, init_values=(o,)):
            at = {at}
            a = pl.load(x, [at, 0], [2, 32])
            b = pl.{c.choices.pick(_UNARY)}(a)
            s = pl.store(b, [at, 0], c)
            f: L = pl.yield_(s)
        return f
        """,
        windowize=True,
    )


def _copy(c: Caller) -> str:
    """A kernel that writes a tensor as a whole."""
    return c.kernel(
        "(x: L, o: pl.Out[L]) -> L",
        f"""
        a = pl.load(x, [0, 0], [16, 32])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s = pl.store(b, [0, 0], o)
        return s
        """,
    )


def _large(c: Caller) -> str:
    return c.any_tensor(_LARGE)


def _row(c: Caller) -> str:
    return c.choices.pick(("8", "0", "4"))


def _call(c: Caller, kernel: str, parent: str, row: str, type_: str = "L", source: str = "") -> str:
    """A launch that writes a window of ``parent``; its result."""
    z = c.fresh("z")
    given = source or _large(c)
    if c.choices.chance(5):
        t = c.fresh("t")
        c.emit(f"{t}: pl.Tuple[{type_}, TASK] = pl.submit(self.{kernel}, {given}, {row}, {parent})")
        c.emit(f"{z}: {type_} = {t}[0]")
    else:
        c.emit(f"{z} = self.{kernel}({given}, {row}, {parent})")
    return z


def _looped(c: Caller, kernel: str, parent: str, row: str, trips: int, kind: str = "range") -> str:
    """A loop that writes a window of ``parent`` in every trip; its result. ``{i}`` in ``row`` is the index."""
    i, k, z, f = (c.fresh(x) for x in ("i", "k", "z", "f"))
    c.emit(
        f"""
        for {i}, ({k},) in pl.{kind}({trips}, init_values=({parent},)):
            {z} = self.{kernel}({_large(c)}, {row.format(i=i)}, {k})
            {f}: L = pl.yield_({z})
        """
    )
    return f


def windows_in_sequence(c: Caller) -> None:
    """Launches one after the other that write windows of one tensor, which overlap or not."""
    kernel, way = _any_strip(c)
    current = c.param("y", way, "L")
    for _ in range(c.choices.integer(1, 2)):
        current = _call(c, kernel, current, _row(c))
    c.show(current, "L")


def windows_of_trips(c: Caller) -> None:
    """A loop whose trips write windows that are apart, overlap, or are always the same."""
    kernel, way = _any_strip(c)
    row = c.choices.pick(("{i} * 8", "8 - {i} * 8", "8", "{i} * 4", "{i} % 2 * 8", "{i} * {i}", "pl.min({i}, 1) * 8"))
    kind = c.choices.pick(("range", "range", "parallel"))
    c.show(_looped(c, kernel, c.param("y", way, "L"), row, c.choices.integer(1, 2), kind), "L")


def overlapping_trips(c: Caller) -> None:
    """A loop whose trips write overlapping windows, or windows at places that only running it tells."""
    kernel, way = _any_strip(c)
    row = c.choices.pick(("{i} * 4", "4 - {i} * 4", "{i} % 2 * 8", "{i} * {i}", "pl.min({i}, 1) * 8"))
    c.show(_looped(c, kernel, c.param("y", way, "L"), row, 2), "L")


def loops_of_trips(c: Caller) -> None:
    """A loop in a loop, of which one, both or none move the window."""
    kernel, way = _any_strip(c)
    i, k, j, e, z, g, f = (c.fresh(x) for x in ("i", "k", "j", "e", "z", "g", "f"))
    row = c.choices.pick(("{i} * 8", "{j} * 8", "{i} * 8 + {j} * 0", "{i} * 8 - {j} * 8 + 8", "{i} * 4 + {j} * 4"))
    row = row.format(i=i, j=j)
    # Rows below 0 are no place: the outer loop then runs from its end.
    start = 1 if "-" in row else 0
    c.emit(
        f"""
        for {i}, ({k},) in pl.range({start}, 2, 1, init_values=({c.param("y", way, "L")},)):
            for {j}, ({e},) in pl.range({start}, 2, 1, init_values=({k},)):
                {z} = self.{kernel}({_large(c)}, {row}, {e})
                {g}: L = pl.yield_({z})
            {f}: L = pl.yield_({g})
        """
    )
    c.show(f, "L")


def made_in_trips(c: Caller) -> None:
    """A loop that writes windows of tensors made in its trips, or that may be made there."""
    kernel, copy = _strip(c), _copy(c)
    i, k, b, p, z, n, f = (c.fresh(x) for x in ("i", "k", "b", "p", "z", "n", "f"))
    chosen = f"if {i} == 0:\n    {p}: L = pl.yield_({b})\nelse:\n    {p}: L = pl.yield_({k})"
    is_sure = c.choices.chance(2)
    body = [f"{b} = NEW_L", *([f"{p}: L = {b}"] if is_sure else chosen.splitlines())]
    body += [f"{z} = self.{kernel}({_large(c)}, {i} * 4, {p})", f"{n} = self.{copy}({z}, {k})"]
    body.append(f"{f}: L = pl.yield_({n if is_sure else k})")
    lines = "\n".join(f"    {line}" for line in body)
    c.emit(f"for {i}, ({k},) in pl.range(2, init_values=({c.param('y', 'Out', 'L')},)):\n{lines}")
    c.show(f, "L")


def no_place_for_windows(c: Caller) -> None:
    """A launch in a while loop, or without a name for its result, or that leaves its output to the runtime."""
    kernel, y = _strip(c), c.param("y", "Out", "L")
    kind = c.choices.pick(("while", "unnamed", "left out"))
    z, f = c.fresh("z"), c.fresh("f")
    if kind == "while":
        i, k = c.fresh("i"), c.fresh("k")
        c.emit(
            f"""
            for ({i}, {k}) in pl.while_(init_values=(0, {y})):
                pl.cond({i} < 2)
                {z} = self.{kernel}({_large(c)}, {i} * 8, {k})
                {c.fresh("e")}, {f} = pl.yield_({i} + 1, {z})
            """
        )
        c.show(f, "L")
    elif kind == "unnamed":
        c.emit(f"self.{kernel}({_large(c)}, {_row(c)}, {y})")
        c.show(y, "L")
    else:
        t = c.fresh("t")
        c.emit(f"{t}: pl.Tuple[L, TASK] = pl.submit(self.{kernel}, {_large(c)}, {_row(c)})\n{z}: L = {t}[0]")
        c.show(z, "L")


def whole_sibling(c: Caller) -> None:
    """Another launch that writes the same tensor as a whole: before or after, under another name, in a branch."""
    kernel, copy, y = _strip(c), _copy(c), c.param("y", "Out", "L")
    kind = c.choices.pick(("plain", "alias", "branch", "loop", "behind"))
    v = c.fresh("v")
    if kind == "behind":
        z = _call(c, kernel, y, _row(c))
        c.emit(f"{v} = self.{copy}({_large(c)}, {z})")
        c.show(v, "L")
        return
    if kind == "branch":
        w = c.fresh("w")
        c.emit(
            f"""
            if n == 0:
                {w} = self.{copy}({_large(c)}, {y})
                {v}: L = pl.yield_({w})
            else:
                {v}: L = pl.yield_({y})
            """
        )
    elif kind == "loop":
        i, k, w = c.fresh("i"), c.fresh("k"), c.fresh("w")
        c.emit(
            f"""
            for {i}, ({k},) in pl.range(2, init_values=({y},)):
                {w} = self.{copy}({_large(c)}, {k})
                {v}: L = pl.yield_({w})
            """
        )
    else:
        name = c.fresh("q") if kind == "alias" else y
        if kind == "alias":
            c.emit(f"{name}: L = {y}")
        c.emit(f"{v} = self.{copy}({_large(c)}, {name})")
    c.show(_call(c, kernel, v, _row(c)), "L")


def two_windows_of_one(c: Caller) -> None:
    """A launch with windows of two outputs, which are one tensor or two."""
    kernel = c.kernel(
        "(x: L, r: N, o: pl.Out[L], p: pl.Out[L]) -> tuple[L, L]",
        f"""
        a = pl.load(x, [r, 0], [8, 32])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s = pl.store(b, [r, 0], o)
        t = pl.store(a, [{c.choices.pick(("8 - r", "r", "0"))}, 0], p)
        return s, t
        """,
        windowize=True,
    )
    y = c.param("y", "Out", "L")
    second = y if not c.choices.chance(4) else c.param("v", "Out", "L")
    t, z, w = c.fresh("t"), c.fresh("z"), c.fresh("w")
    c.emit(
        f"""
        {t}: pl.Tuple[L, L] = self.{kernel}({_large(c)}, {_row(c)}, {y}, {second})
        {z}: L = {t}[0]
        {w}: L = {t}[1]
        """
    )
    c.show(z, "L")
    c.show(w, "L")


def results_of_loops(c: Caller) -> None:
    """A loop's result given, which is the tensor the loop started from, or another one."""
    y, i, k, f = c.param("y", "InOut", "L"), c.fresh("i"), c.fresh("k"), c.fresh("f")
    if c.choices.chance(3):
        c.emit(f"for {i}, ({k},) in pl.range(2, init_values=({y},)):\n    {f}: L = pl.yield_({k})")
    else:
        b, n = c.fresh("b"), c.fresh("n")
        c.emit(
            f"""
            for {i}, ({k},) in pl.range({c.choices.integer(1, 2)}, init_values=({y},)):
                {b} = NEW_L
                {n} = pl.tensor.assemble({b}, {_large(c)}, [0, 0])
                {f}: L = pl.yield_({n})
            """
        )
    kernel = _strip(c)
    is_input = c.choices.chance(2)
    parent = c.param("v", "Out", "L") if is_input else f
    c.show(_call(c, kernel, parent, _row(c), source=f if is_input else ""), "L")


def symbolic_rows(c: Caller) -> None:
    """Windows of tensors whose number of rows is not known, at places that are, or are not."""
    if 'NR = pl.dynamic("NR")' not in c.heads:
        c.heads.append('NR = pl.dynamic("NR")')
    kernel = _strip(c, _ROWS)
    row = c.choices.pick(("8", "0", "n", "4"))
    source, y = c.param("x", "In", _ROWS), c.param("y", "Out", _ROWS)
    c.show(_call(c, kernel, y, row, _ROWS, source), _ROWS)


def windows_of_windows(c: Caller) -> None:
    """A window given as input or output to a kernel that takes a window of it, and perhaps a whole tensor elsewhere."""
    kernel = c.kernel(
        "(x: S, r: N, o: pl.Out[S]) -> S",
        f"""
        a = pl.load(x, [r, 0], [4, 16])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s = pl.store(b, [{c.choices.pick(("r", "0"))}, 0], o)
        return s
        """,
        windowize=True,
    )
    w, v, z, u = (c.fresh(x) for x in ("w", "v", "z", "u"))
    corner = c.choices.pick(("[8, 16]", "[0, 0]", "[4, 8]"))
    c.emit(f"{w}: S = pl.tensor.slice({_large(c)}, [8, 16], {corner})")
    c.emit(f"{v}: S = pl.tensor.slice({c.param('y', 'InOut', 'L')}, [8, 16], {corner})")
    is_output = not c.choices.chance(3)
    given, target = (c.any_tensor(), v) if is_output else (w, c.param("o", "Out", "S"))
    c.emit(f"{z} = self.{kernel}({given}, {c.choices.pick(('4', '0'))}, {target})")
    c.show(z)
    if not c.choices.chance(4):
        second = c.any_tensor() if not is_output or c.choices.chance(2) else w
        c.emit(f"{u} = self.{kernel}({second}, 0, {c.param('o', 'Out', 'S')})")
        c.show(u)


def input_windows_alone(c: Caller) -> None:
    """A kernel that reads a window and writes a whole tensor, by submit or call, its result assembled or not."""
    kernel, z = _reading(c), c.fresh("z")
    kind = c.choices.pick(("assembled", "submit", "call"))
    if kind == "assembled":
        b, n = c.fresh("b"), c.fresh("n")
        c.emit(
            f"""
            {b}: {_WINDOW} = pl.tensor.create([8, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND)
            {z} = self.{kernel}({_large(c)}, {_row(c)}, {b})
            {n}: L = pl.tensor.assemble({c.param("y", "Out", "L")}, {z}, [{_row(c)}, 0])
            """
        )
        c.show(n, "L")
        return
    y = c.param("y", "Out", _WINDOW)
    if kind == "submit":
        t = c.fresh("t")
        c.emit(f"{t}: pl.Tuple[{_WINDOW}, TASK] = pl.submit(self.{kernel}, {_large(c)}, {_row(c)}, {y})")
        c.emit(f"{z}: {_WINDOW} = {t}[0]")
    else:
        c.emit(f"{z} = self.{kernel}({_large(c)}, {_row(c)}, {y})")
    c.show(z, _WINDOW)


def parts_of_loops(c: Caller) -> None:
    """A kernel whose loop writes parts that fill one window, leave gaps, overlap, or cover everything."""
    at, trips = c.choices.pick(
        (("r + j * 2", 2), ("r + 6 - j * 2", 4), ("r + j * 4", 2), ("j * 4", 3), ("j", 3), ("j * 2", 8))
    )
    kernel = _aggregating(c, at, trips)
    c.show(_call(c, kernel, c.param("y", "Out", "L"), c.choices.pick(("8", "0"))), "L")


def pieces_depended_on(c: Caller) -> None:
    """A submit whose result falls into pieces, on which another submit depends by hand."""
    kernel = _aggregating(c, *c.choices.pick((("j * 4", 3), ("r + j * 4", 2), ("r + j * 2", 2))))
    second = _strip(c)
    t, z, d, u, w = (c.fresh(x) for x in ("t", "z", "d", "u", "w"))
    c.emit(
        f"""
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            {t}: pl.Tuple[L, TASK] = pl.submit(self.{kernel}, {_large(c)}, 0, {c.param("y", "Out", "L")})
            {z}: L = {t}[0]
            {d}: TASK = {t}[1]
            {u}: pl.Tuple[L, TASK] = pl.submit(self.{second}, {_large(c)}, 8, {z}, deps=[{d}])
            {w}: L = {u}[0]
        """
    )
    c.show(w, "L")


def no_windows(c: Caller) -> None:
    """A kernel that accesses its tensors in other ways: twice, masked, at places read from memory, as a whole."""
    kind = c.choices.pick(("twice", "twice", "whole", "elsewhere", "scalar"))
    extra, load, store = {
        "twice": ("t = pl.store(a, [8 - r, 0], o)", "[r, 0], [8, 32]", "[r, 0]"),
        "whole": ("", "[0, 0], [16, 32]", "[0, 0]"),
        "elsewhere": ("e = pl.load(x, [8 - r, 0], [8, 32])", "[r, 0], [8, 32]", "[r, 0]"),
        "scalar": ("e: pl.Scalar[pl.FP32] = pl.tensor.read(x, [0, 0])", "[r, 0], [8, 32]", "[r, 0]"),
    }[kind]
    kernel = c.kernel(
        _HEADER,
        f"a = pl.load(x, {load})\n{extra}\nb = pl.exp(a)\ns = pl.store(b, {store}, o)\nreturn s",
        windowize=True,
    )
    c.show(_call(c, kernel, c.param("y", "Out", "L"), _row(c)), "L")


SCENES = (
    windows_in_sequence,
    windows_of_trips,
    overlapping_trips,
    loops_of_trips,
    made_in_trips,
    no_place_for_windows,
    whole_sibling,
    two_windows_of_one,
    results_of_loops,
    symbolic_rows,
    windows_of_windows,
    input_windows_alone,
    parts_of_loops,
    pieces_depended_on,
    no_windows,
)
