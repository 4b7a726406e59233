"""Scenes of strides: kernels whose tensors are windows of larger ones, and all that leaves their strides unknown."""

from __future__ import annotations

from tilesat.lab.orch_callers import Caller

_OTHER = "pl.Tensor[[16, 48], pl.FP32]"
_WIDE = "pl.Tensor[[16, 32], pl.FP32, pl.TensorView(stride=[128, 1], layout=pl.TensorLayout.ND)]"
_CUBE = "pl.Tensor[[2, 16, 72], pl.FP32]"
_FLAT_CUBE = "pl.Tensor[[1, 8, 16], pl.FP32]"
_ROWS = "pl.Tensor[[NB, 32], pl.FP32]"
_UNARY = ("exp", "neg", "abs")


def _block(c: Caller) -> str:
    """A kernel that places a block: straight, or in parts by a loop."""
    op = c.choices.pick(_UNARY)
    if c.choices.chance(3):
        return c.kernel(
            "(x: L, r: N, o: pl.Out[S]) -> S",
            f"""
            for j, (c,) in pl.range(2, init_values=(o,)):
                a = pl.load(x, [r + j * 4, 0], [4, 16])
                b = pl.{op}(a)
                s: S = pl.store(b, [j * 4, 0], c)
                f: S = pl.yield_(s)
            return f
            """,
        )
    return c.kernel(
        "(x: L, r: N, o: pl.Out[S]) -> S",
        f"""
        a = pl.load(x, [r, {c.choices.pick(("0", "16"))}], [8, 16])
        b = pl.{op}(a)
        s = pl.store(b, [0, 0], o)
        return s
        """,
    )


def reader(c: Caller) -> str:
    """A kernel that reads a whole small tensor."""
    return c.kernel(
        "(x: S, o: pl.Out[S]) -> S",
        f"""
        a = pl.load(x, [0, 0], [8, 16])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s = pl.store(b, [0, 0], o)
        return s
        """,
    )


def _row(c: Caller) -> str:
    return c.choices.pick(("0", "8", "4"))


def _corner(c: Caller) -> str:
    return c.choices.pick(("[0, 0]", "[8, 16]", "[4, 8]"))


def _large(c: Caller) -> str:
    return c.any_tensor("pl.Tensor[[16, 32], pl.FP32]")


def _parent(c: Caller) -> tuple[str, str, str]:
    """A tensor to assemble into: its name, its type, a place in it."""
    kind = c.choices.pick(("dense", "strided", "wider", "cube"))
    if kind == "cube":
        return c.param("y", "Out", _CUBE), _CUBE, f"[{c.choices.integer(0, 1)}, 8, {c.choices.pick(('0', '8'))}]"
    types = {"dense": "L", "strided": _WIDE, "wider": _OTHER}
    return c.param("y", "Out", types[kind]), types[kind], _corner(c)


def _placed(c: Caller, kernel: str, parent: str, type_: str, at: str) -> str:
    """A launch whose result is only assembled into ``parent``; the parent's new name."""
    b, r, n = c.fresh("b"), c.fresh("r"), c.fresh("n")
    c.emit(
        f"""
        {b} = NEW
        {r} = self.{kernel}({_large(c)}, {_row(c)}, {b})
        {n}: {type_} = pl.tensor.assemble({parent}, {r}, {at})
        """
    )
    return n


def _placed_in(c: Caller, kernel: str, parent: tuple[str, str, str]) -> None:
    name, type_, at = parent
    c.show(_placed(c, kernel, name, type_, at), type_)


def _read(c: Caller, kernel: str, given: str) -> str:
    """A launch of a reader by call or submit; its result."""
    b, r = c.fresh("b"), c.fresh("r")
    if c.choices.chance(4):
        t = c.fresh("t")
        c.emit(f"{b} = NEW\n{t}: pl.Tuple[S, TASK] = pl.submit(self.{kernel}, {given}, {b})\n{r}: S = {t}[0]")
    else:
        c.emit(f"{b} = NEW\n{r} = self.{kernel}({given}, {b})")
    return r


def _window(c: Caller) -> str:
    """A window of a larger tensor: straight, of a window, or of a tensor of higher rank."""
    w = c.fresh("w")
    kind = c.choices.pick(("large", "wider", "window", "cube"))
    if kind == "large":
        c.emit(f"{w}: S = pl.tensor.slice({_large(c)}, [8, 16], {_corner(c)})")
    elif kind == "wider":
        c.emit(f"{w}: S = pl.tensor.slice({c.param('big', 'In', _OTHER)}, [8, 16], {_corner(c)})")
    elif kind == "window":
        v = c.fresh("v")
        c.emit(f"{v}: {_OTHER} = pl.tensor.slice({c.param('big', 'In', 'B')}, [16, 48], [8, 8])")
        c.emit(f"{w}: S = pl.tensor.slice({v}, [8, 16], {_corner(c)})")
    else:
        big = c.param("big", "In", "pl.Tensor[[16, 8, 24], pl.FP32]")
        c.emit(f"{w}: S = pl.tensor.slice({big}, [8, 1, 16], [{_row(c)}, 3, 0], [], [1])")
    return w


def placed_blocks(c: Caller) -> None:
    """Launches whose results are assembled into one parent or into several, in a loop or one by one."""
    kernel = _block(c)
    parent, type_, at = _parent(c)
    if c.choices.chance(3) and type_ != _CUBE:
        i, p, b, r, n, f = (c.fresh(x) for x in ("i", "p", "b", "r", "n", "f"))
        c.emit(
            f"""
            for {i}, ({p},) in pl.range({c.choices.integer(1, 2)}, init_values=({parent},)):
                {b} = NEW
                {r} = self.{kernel}({_large(c)}, {i} * 8, {b})
                {n}: {type_} = pl.tensor.assemble({p}, {r}, [{i} * 8, 0])
                {f}: {type_} = pl.yield_({n})
            """
        )
        c.show(f, type_)
    else:
        c.show(_placed(c, kernel, parent, type_, at), type_)
    if c.choices.chance(3):
        _placed_in(c, kernel, _parent(c))


def placed_and_used(c: Caller) -> None:
    """A result that is assembled into a parent and used as it is, or whose buffer others have."""
    kernel = _block(c)
    parent, type_, at = _parent(c)
    buf = c.create("pl.Tensor[[8, 16], pl.FP32]") if c.choices.chance(2) else c.param("o", "Out", "S")
    r, n = c.fresh("r"), c.fresh("n")
    c.emit(
        f"""
        {r} = self.{kernel}({_large(c)}, {_row(c)}, {buf})
        {n}: {type_} = pl.tensor.assemble({parent}, {r}, {at})
        """
    )
    c.show(n, type_)
    c.show(r)


def placed_and_plain(c: Caller) -> None:
    """A kernel whose output is placed at one launch and written as it is at another."""
    kernel = _block(c)
    _placed_in(c, kernel, _parent(c))
    m = c.fresh("m")
    c.emit(f"{m} = self.{kernel}({_large(c)}, {_row(c)}, {c.param('o', 'Out', 'S')})")
    c.show(m)


def open_parent(c: Caller) -> None:
    """A parent with an extent that is not constant."""
    _dynamic(c, "NB")
    kernel, y = _block(c), c.param("y", "Out", _ROWS)
    c.show(_placed(c, kernel, y, _ROWS, _corner(c)), _ROWS)


def _dynamic(c: Caller, name: str) -> None:
    head = f'{name} = pl.dynamic("{name}")'
    if head not in c.heads:
        c.heads.append(head)


def unclear_parent(c: Caller) -> None:
    """A parent that is one tensor or a window of another, depending on a branch or a trip."""
    kernel, y, big = _block(c), c.param("y", "Out", "L"), c.param("big", "InOut", "B")
    v, p = c.fresh("v"), c.fresh("p")
    c.emit(
        f"""
        {v}: L = pl.tensor.slice({big}, [16, 32], [{_row(c)}, 8])
        if n == 0:
            {p}: L = pl.yield_({y})
        else:
            {p}: L = pl.yield_({v})
        """
    )
    c.show(_placed(c, kernel, p, "L", _corner(c)), "L")


def unclear_output(c: Caller) -> None:
    """A buffer given as output that is a whole tensor or a window, depending on a branch."""
    kernel, big = _block(c), c.param("big", "InOut", "B")
    first = c.any_tensor(writable=True)
    v, p, m = c.fresh("v"), c.fresh("p"), c.fresh("m")
    c.emit(
        f"""
        {v}: S = pl.tensor.slice({big}, [8, 16], [{_row(c)}, 8])
        if n == 0:
            {p}: S = pl.yield_({first})
        else:
            {p}: S = pl.yield_({v})
        """
    )
    _placed_in(c, kernel, _parent(c))
    c.emit(f"{m} = self.{kernel}({_large(c)}, {_row(c)}, {p})")
    c.show(m)


def parent_of_lower_rank(c: Caller) -> None:
    """A block of higher rank than the parent it is assembled into."""
    kernel = c.kernel(
        f"(x: L, r: N, o: pl.Out[{_FLAT_CUBE}]) -> {_FLAT_CUBE}",
        f"""
        a = pl.load(x, [r, 0], [8, 16])
        b = pl.{c.choices.pick(_UNARY)}(a)
        s = pl.store(b, [0, 0, 0], o)
        return s
        """,
    )
    b, r, n = c.fresh("b"), c.fresh("r"), c.fresh("n")
    c.emit(
        f"""
        {b}: {_FLAT_CUBE} = pl.tensor.create([1, 8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)
        {r} = self.{kernel}({_large(c)}, {_row(c)}, {b})
        {n}: L = pl.tensor.assemble({c.param("y", "Out", "L")}, {r}, {_corner(c)})
        """
    )
    c.show(n, "L")


def local_extent(c: Caller) -> None:
    """A window of a tensor whose rows are as long as a variable of the caller says."""
    kernel, m, b, z, w = reader(c), c.fresh("m"), c.fresh("b"), c.fresh("z"), c.fresh("w")
    extent = c.choices.pick((32, 48))
    type_ = f"pl.Tensor[[16, {m}], pl.FP32]"
    c.emit(
        f"""
        {m}: N = {extent}
        {b}: {type_} = pl.tensor.create([16, {m}], dtype=pl.FP32, layout=pl.TensorLayout.ND)
        {z}: {type_} = pl.tensor.assemble({b}, {_large(c)}, [0, 0])
        {w}: S = pl.tensor.slice({z}, [8, 16], {_corner(c)})
        """
    )
    c.show(_read(c, kernel, w))


def known_extent(c: Caller) -> None:
    """A window of a tensor whose rows are as long as a dimension of the program says."""
    _dynamic(c, "NC")
    kernel, w = reader(c), c.fresh("w")
    big = c.param("big", "In", "pl.Tensor[[16, NC], pl.FP32]")
    c.emit(f"{w}: S = pl.tensor.slice({big}, [8, 16], [{_row(c)}, 0])")
    c.show(_read(c, kernel, w))


def sliced_inputs(c: Caller) -> None:
    """A kernel given windows of tensors, perhaps of different ones, perhaps a whole tensor besides."""
    kernel = reader(c)
    c.show(_read(c, kernel, _window(c)))
    for _ in range(c.choices.integer(0, 2)):
        c.show(_read(c, kernel, c.any_tensor() if c.choices.chance(3) else _window(c)))


def chosen_inputs(c: Caller) -> None:
    """A window or something else, depending on a branch or on the trip of a loop, given to a kernel."""
    kernel, first = reader(c), _window(c)
    second = c.any_tensor() if c.choices.chance(2) else _window(c)
    p = c.fresh("p")
    if c.choices.chance(2):
        c.emit(f"if n == 0:\n    {p}: S = pl.yield_({first})\nelse:\n    {p}: S = pl.yield_({second})")
    else:
        i, k = c.fresh("i"), c.fresh("k")
        trips = c.choices.integer(1, 2)
        c.emit(f"for {i}, ({k},) in pl.range({trips}, init_values=({first},)):\n    {p}: S = pl.yield_({second})")
    c.show(_read(c, kernel, p))
    if c.choices.chance(2):
        c.show(_read(c, kernel, first))


def inputs_of_tuples(c: Caller) -> None:
    """An element of a tuple given to a kernel that is given a window, too."""
    kernel, w, t = reader(c), _window(c), c.fresh("t")
    c.show(_read(c, kernel, w))
    c.emit(f"{t}: pl.Tuple[S, S] = [{c.any_tensor()}, {w}]")
    c.show(_read(c, kernel, f"{t}[{c.choices.integer(0, 1)}]"))


def part_of_a_window(c: Caller) -> None:
    """A function that slices its parameter, for which a window of a larger tensor is given, or a whole one."""
    inner = Caller(c.choices, f"inner{len(c.added)}", (("part", "In", _OTHER),), [], budget=0)
    kernel = reader(c)
    w = inner.fresh("w")
    inner.emit(f"{w}: S = pl.tensor.slice(part, [8, 16], {_corner(inner)})")
    inner.show(_read(inner, kernel, w))
    name = c.include(inner)
    p, r = c.fresh("p"), c.fresh("r")
    if c.choices.chance(3):
        c.emit(f"{p}: {_OTHER} = {c.param('big', 'In', _OTHER)}")
    else:
        c.emit(f"{p}: {_OTHER} = pl.tensor.slice({c.param('big', 'In', 'B')}, [16, 48], [{_row(c)}, 8])")
    c.emit(f"{r} = self.{name}({p})")
    c.show(r)


def handed_back(c: Caller) -> None:
    """A window that a kernel hands back, given to another one."""
    kernel = reader(c)
    keep = c.kernel(
        "(x: pl.InOut[S]) -> S",
        """
        a = pl.load(x, [0, 0], [8, 16])
        b = pl.exp(a)
        s = pl.store(b, [0, 0], x)
        return s
        """,
    )
    w, v = c.fresh("w"), c.fresh("v")
    big = c.param("big", "InOut", c.choices.pick(("B", "L")))
    c.emit(f"{w}: S = pl.tensor.slice({big}, [8, 16], {_corner(c)})")
    if c.choices.chance(2):
        c.show(_read(c, kernel, w))
    c.emit(f"{v} = self.{keep}({w})")
    c.show(_read(c, kernel, v))


SCENES = (
    placed_blocks,
    placed_and_used,
    placed_and_plain,
    open_parent,
    unclear_parent,
    unclear_output,
    parent_of_lower_rank,
    local_extent,
    known_extent,
    sliced_inputs,
    chosen_inputs,
    inputs_of_tuples,
    part_of_a_window,
    handed_back,
)
