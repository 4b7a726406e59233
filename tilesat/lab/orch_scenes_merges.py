"""Scenes of in-place merges: results that come back as inputs, and all that speaks against one buffer for both."""

from __future__ import annotations

from tilesat.lab.orch_callers import Caller

_OPS = ("add", "sub", "mul")
_ROWS = ("0", "4")


def bump(c: Caller) -> str:
    """A kernel of two whole inputs and a whole output; its name."""
    op = c.choices.pick(_OPS)
    return c.kernel(
        "(x: S, d: S, o: pl.Out[S]) -> S",
        f"""
        a = pl.load(x, [0, 0], [8, 16])
        b = pl.load(d, [0, 0], [8, 16])
        t = pl.{op}(a, b)
        r = pl.store(t, [0, 0], o)
        return r
        """,
    )


def _shift(c: Caller) -> str:
    """A kernel that stores block by block, and reads the same or other blocks of its inputs."""
    rows = ("j * 4", "4 - j * 4")
    first, second, at = c.choices.pick(rows), c.choices.pick(rows[::-1]), c.choices.pick(rows)
    return c.kernel(
        "(x: S, y: S, o: pl.Out[S]) -> S",
        f"""
        for j, (c,) in pl.range(2, init_values=(o,)):
            a = pl.load(x, [{first}, 0], [4, 16])
            b = pl.load(y, [{second}, 0], [4, 16])
            t = pl.{c.choices.pick(_OPS)}(a, b)
            r = pl.store(t, [{at}, 0], c)
            f: S = pl.yield_(r)
        return f
        """,
    )


def _pair(c: Caller) -> str:
    """A kernel of two inputs and two outputs."""
    return c.kernel(
        "(x: S, y: S, o: pl.Out[S], p: pl.Out[S]) -> tuple[S, S]",
        f"""
        a = pl.load(x, [0, 0], [8, 16])
        b = pl.load(y, [0, 0], [8, 16])
        s = pl.{c.choices.pick(_OPS)}(a, b)
        m = pl.{c.choices.pick(_OPS)}(b, a)
        r = pl.store(s, [0, 0], o)
        q = pl.store(m, [0, 0], p)
        return r, q
        """,
    )


def _trips(c: Caller) -> int:
    return c.choices.pick((2, 3, 1))


def _start(c: Caller) -> str:
    """What a loop starts from: an input that nothing else uses, a tensor made for it, or any."""
    kind = c.choices.pick(("input", "made", "any"))
    if kind == "input":
        return c.param("in", "In", "S")
    return c.made() if kind == "made" else c.any_tensor()


def carried_call(c: Caller, start: str, call: str, *, before: str = "", buffer: str = "") -> str:
    """A loop that carries on what ``call`` gives; ``{c}`` in it is the iter-arg, ``{b}`` a new buffer. Its result.

    ``before`` are statements of the body before the call.
    """
    index, carry, result, out = (c.fresh(p) for p in ("i", "c", "n", "f"))
    buf = buffer or c.fresh("b")
    lines = [f"{buf} = NEW"] if not buffer else []
    lines += before.format(c=carry, b=buf, i=index).strip("\n").splitlines()
    lines += [f"{result} = {call.format(c=carry, b=buf, i=index)}", f"{out}: S = pl.yield_({result})"]
    body = "\n".join(f"    {line}" for line in lines)
    kind = c.choices.pick(("range", "range", "parallel"))
    c.emit(f"for {index}, ({carry},) in pl.{kind}({_trips(c)}, init_values=({start},)):\n{body}")
    return out


def _bumped_after(c: Caller, kernel: str, first: str, second: str) -> None:
    """A launch that reads two tensors afterwards."""
    buf, result = c.fresh("b"), c.fresh("g")
    c.emit(f"{buf} = NEW\n{result} = self.{kernel}({first}, {second}, {buf})")
    c.show(result)


def carried_result(c: Caller) -> None:
    """A kernel's result carried back as its input through a new buffer; the start perhaps used afterwards."""
    kernel, start = bump(c), _start(c)
    out = carried_call(c, start, f"self.{kernel}({{c}}, {c.any_tensor()}, {{b}})")
    c.show(out)
    if c.choices.chance(3):
        _bumped_after(c, kernel, start, out)


def old_names(c: Caller) -> None:
    """A loop that works on a tensor of which another name is used before or after it."""
    kernel, start, other = bump(c), _start(c), c.fresh("y")
    is_late = c.choices.chance(2)
    if not is_late:
        c.emit(f"{other}: S = {start}")
    out = carried_call(c, start, f"self.{kernel}({{c}}, {c.any_tensor()}, {{b}})")
    if is_late:
        c.emit(f"{other}: S = {start}")
    _bumped_after(c, kernel, other, out)
    c.show(out)


def start_of_branch(c: Caller) -> None:
    """A loop that starts from what one branch or the other gives, of which one is used afterwards."""
    kernel, first, second, phi = bump(c), _start(c), _start(c), c.fresh("y")
    c.emit(
        f"if n == 0:\n    {phi}: S = pl.yield_({first})\nelse:\n    {phi}: S = pl.yield_({second})",
    )
    out = carried_call(c, phi, f"self.{kernel}({{c}}, {c.any_tensor()}, {{b}})")
    _bumped_after(c, kernel, c.choices.pick((first, second)), out)


def carried_on(c: Caller) -> None:
    """Two carries, of which the second takes what the first one was before."""
    kernel, start, other = bump(c), _start(c), c.any_tensor()
    i, k, p, b, n, f, g = (c.fresh(x) for x in ("i", "c", "p", "b", "n", "f", "g"))
    c.emit(
        f"""
        for {i}, ({k}, {p}) in pl.range({_trips(c)}, init_values=({start}, {other})):
            {b} = NEW
            {n} = self.{kernel}({k}, {p}, {b})
            {f}, {g} = pl.yield_({n}, {k})
        """
    )
    _bumped_after(c, kernel, f, g)


def side_by_side(c: Caller) -> None:
    """Two carries that start from one tensor, each worked on by a launch of its own."""
    kernel, start = bump(c), _start(c)
    second = start if not c.choices.chance(3) else _start(c)
    other = c.any_tensor()
    i, k, p, b, n, e, m, f, g = (c.fresh(x) for x in ("i", "c", "p", "b", "n", "e", "m", "f", "g"))
    c.emit(
        f"""
        for {i}, ({k}, {p}) in pl.range({_trips(c)}, init_values=({start}, {second})):
            {b} = NEW
            {n} = self.{kernel}({k}, {other}, {b})
            {e} = NEW
            {m} = self.{kernel}({p}, {n}, {e})
            {f}, {g} = pl.yield_({n}, {m})
        """
    )
    _bumped_after(c, kernel, f, g)


def clashing_carries(c: Caller) -> None:
    """One kernel with two results that come back, straight or crossed, as inputs that may be one buffer."""
    kernel, start = _pair(c), _start(c)
    second = start if not c.choices.chance(3) else _start(c)
    i, k, p, b, e, t, n, m, f, g = (c.fresh(x) for x in ("i", "c", "p", "b", "e", "t", "n", "m", "f", "g"))
    results = c.choices.pick((f"{n}, {m}", f"{m}, {n}"))
    c.emit(
        f"""
        for {i}, ({k}, {p}) in pl.range({_trips(c)}, init_values=({start}, {second})):
            {b} = NEW
            {e} = NEW
            {t}: pl.Tuple[S, S] = self.{kernel}({k}, {p}, {b}, {e})
            {n}: S = {t}[0]
            {m}: S = {t}[1]
            {f}, {g} = pl.yield_({results})
        """
    )
    c.show(f)
    c.show(g)


def next_trip(c: Caller) -> None:
    """A tensor from outside a loop that launches in the loop read in every trip, perhaps under a name made there."""
    kernel, outside = bump(c), c.made()
    other = c.any_tensor()
    m = c.fresh("m")
    b = c.fresh("b")
    before = f"{b} = NEW\n{m} = self.{kernel}({outside}, {other}, {b})"
    if c.choices.chance(2):
        name = c.fresh("y")
        before = f"{name}: S = {outside}\n" + before.replace(f"({outside}, ", f"({name}, ", 1)
    c.show(carried_call(c, c.any_tensor(), f"self.{kernel}({m}, {{c}}, {{b}})", before=before))


def buffer_used_before(c: Caller) -> None:
    """A launch into a buffer that something has been written into before, or that is made outside the loop."""
    kernel, start, other = bump(c), _start(c), c.any_tensor()
    if c.choices.chance(2):
        outside = c.create("pl.Tensor[[8, 16], pl.FP32]")
        c.show(carried_call(c, start, f"self.{kernel}({{c}}, {other}, {{b}})", buffer=outside))
        return
    before = f"{c.fresh('m')} = self.{kernel}({other}, {other}, {{b}})"
    c.show(carried_call(c, start, f"self.{kernel}({{c}}, {other}, {{b}})", before=before))


def whole_carry(c: Caller) -> None:
    """A kernel that takes an input as a whole through a loop, called outside of loops."""
    kernel = c.kernel(
        "(x: S, d: S, o: pl.Out[S]) -> S",
        f"""
        a = pl.load(x, [0, 0], [8, 16])
        b = pl.load(d, [0, 0], [8, 16])
        for k, (s,) in pl.range({_trips(c)}, init_values=(a,)):
            t = pl.{c.choices.pick(_OPS)}(s, b)
            e: T = pl.yield_(t)
        r = pl.store(e, [0, 0], o)
        return r
        """,
    )
    start, other = _start(c), c.any_tensor()
    b, n = c.fresh("b"), c.fresh("n")
    c.emit(f"{b} = NEW\n{n} = self.{kernel}({start}, {other}, {b})")
    c.show(n)
    if c.choices.chance(4):
        c.show(start, writable=False)


def blocks_and_aliases(c: Caller) -> None:
    """A kernel that reads blocks where it has stored already, given one tensor once or twice."""
    kernel, start = _shift(c), _start(c)
    second = c.any_tensor() if c.choices.chance(3) else "{c}"
    c.show(carried_call(c, start, f"self.{kernel}({{c}}, {second}, {{b}})"))


def partly_filled(c: Caller) -> None:
    """A kernel that writes only a part of its output."""
    kernel = c.kernel(
        "(x: S, o: pl.Out[S]) -> S",
        f"""
        a = pl.load(x, [{c.choices.pick(_ROWS)}, 0], [4, 16])
        r = pl.store(a, [{c.choices.pick(_ROWS)}, 0], o)
        return r
        """,
    )
    c.show(carried_call(c, _start(c), f"self.{kernel}({{c}}, {{b}})"))


def output_read(c: Caller) -> None:
    """A kernel that reads its output before it writes it."""
    kernel = c.kernel(
        "(x: S, o: pl.Out[S]) -> S",
        f"""
        b = pl.load(o, [0, 0], [8, 16])
        a = pl.load(x, [0, 0], [8, 16])
        t = pl.{c.choices.pick(_OPS)}(a, b)
        r = pl.store(t, [0, 0], o)
        return r
        """,
    )
    c.show(carried_call(c, _start(c), f"self.{kernel}({{c}}, {{b}})"))


def written_elsewhere_too(c: Caller) -> None:
    """A launch that writes its input through another parameter."""
    kernel = c.kernel(
        "(x: S, s: pl.InOut[S], o: pl.Out[S], p: pl.Out[S]) -> tuple[S, S]",
        """
        a = pl.load(x, [0, 0], [8, 16])
        m = pl.muls(a, 2.0)
        r = pl.store(m, [0, 0], o)
        b = pl.load(s, [0, 0], [8, 16])
        q = pl.store(b, [0, 0], p)
        return r, q
        """,
    )
    first = c.made()
    second = first if not c.choices.chance(3) else c.any_tensor(writable=True)
    b, e, t, n, m = (c.fresh(x) for x in ("b", "e", "t", "n", "m"))
    c.emit(
        f"""
        {b} = NEW
        {e} = NEW
        {t}: pl.Tuple[S, S] = self.{kernel}({first}, {second}, {b}, {e})
        {n}: S = {t}[0]
        {m}: S = {t}[1]
        """
    )
    c.show(n)
    c.show(m)


def argument_of_a_tuple(c: Caller) -> None:
    """An element of a tuple given to a launch as it is."""
    kernel, start, other, t = _shift(c), _start(c), c.any_tensor(), c.fresh("t")
    before = f"{t}: pl.Tuple[S, S] = [{other}, {c.choices.pick(('{c}', other))}]"
    c.show(carried_call(c, start, f"self.{kernel}({{c}}, {t}[1], {{b}})", before=before))


def tuple_of_a_branch(c: Caller) -> None:
    """A tensor out of a tuple that a branch gives, which nobody follows."""
    kernel, first, other = bump(c), c.made(), c.any_tensor()
    x, y, t, v, b, n = (c.fresh(p) for p in ("x", "y", "t", "v", "b", "n"))
    c.emit(
        f"""
        if n == 0:
            {x}: pl.Tuple[S, S] = [{first}, {other}]
            {t}: pl.Tuple[S, S] = pl.yield_({x})
        else:
            {y}: pl.Tuple[S, S] = [{other}, {first}]
            {t}: pl.Tuple[S, S] = pl.yield_({y})
        {v}: S = {t}[{c.choices.integer(0, 1)}]
        {b} = NEW
        {n} = self.{kernel}({first if c.choices.chance(4) else v}, {c.any_tensor()}, {b})
        """
    )
    c.show(n)
    _bumped_after(c, kernel, c.choices.pick((first, v)), n)


def window_given(c: Caller) -> None:
    """A window of a larger tensor given as an input."""
    kernel, w, b, n = bump(c), c.fresh("w"), c.fresh("b"), c.fresh("n")
    large = c.fresh("l")
    offset = c.choices.pick(("[0, 0]", "[8, 16]", "[4, 8]"))
    c.emit(
        f"""
        {b}l = NEW_L
        {large}: L = pl.tensor.assemble({b}l, {c.any_tensor("pl.Tensor[[16, 32], pl.FP32]")}, [0, 0])
        {w}: S = pl.tensor.slice({large}, [8, 16], {offset})
        {b} = NEW
        {n} = self.{kernel}({w}, {c.any_tensor()}, {b})
        """
    )
    c.show(n)
    if c.choices.chance(2):
        c.show(large, "L", writable=False)


def recast_given(c: Caller) -> None:
    """A tensor in another shape given as an input."""
    kernel, y, b, n = bump(c), c.fresh("y"), c.fresh("b"), c.fresh("n")
    shape = c.choices.pick(("[16, 8]", "[4, 32]"))
    wide = f"pl.Tensor[{shape}, pl.FP32]"
    source = c.param("odd", "In", wide)
    m, z = c.fresh("m"), c.fresh("z")
    c.emit(
        f"""
        {m}: {wide} = pl.tensor.create({shape}, dtype=pl.FP32, layout=pl.TensorLayout.ND)
        {z}: {wide} = pl.tensor.assemble({m}, {source}, [0, 0])
        {y}: S = pl.tensor.reshape({z}, [8, 16])
        {b} = NEW
        {n} = self.{kernel}({y}, {c.any_tensor()}, {b})
        """
    )
    c.show(n)
    if c.choices.chance(2):
        c.show(z, wide, writable=False)


def fixed_launch(c: Caller) -> None:
    """A launch that stays as it is: on several blocks, or in a manual scope."""
    kernel, start, other = bump(c), c.made(), c.any_tensor()
    if not c.choices.chance(3):
        c.show(carried_call(c, start, f"self.{kernel}({{c}}, {other}, {{b}}, attrs={{{{'core_num': 2}}}})"))
        return
    b, t, n = c.fresh("b"), c.fresh("t"), c.fresh("n")
    c.emit(
        f"""
        {b} = NEW
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            {t}: pl.Tuple[S, TASK] = pl.submit(self.{kernel}, {start}, {other}, {b})
            {n}: S = {t}[0]
        """
    )
    c.show(n)


def one_argument_twice(c: Caller) -> None:
    """Another orchestration function, given one tensor for two parameters or two for two."""
    kernel = _shift(c) if c.choices.chance(2) else bump(c)
    inner = Caller(c.choices, f"inner{len(c.added)}", (("x", "In", "S"), ("y", "In", "S")), [], budget=0)
    b, z = inner.fresh("b"), inner.fresh("z")
    inner.emit(f"{b} = NEW\n{z}: S = pl.tensor.assemble({b}, x, [0, 0])")
    out = carried_call(inner, c.choices.pick(("x", z)), f"self.{kernel}({{c}}, y, {{b}})")
    inner.show(out)
    if c.choices.chance(2):
        _bumped_after(inner, kernel, "x", out)
    name = c.include(inner)
    first = c.made()
    second = first if c.choices.chance(2) else c.any_tensor()
    types = ", ".join("S" for _ in inner.shown)
    whole = c.fresh("r")
    if len(inner.shown) == 1:
        c.emit(f"{whole}: S = self.{name}({first}, {second})")
        c.show(whole)
        return
    c.emit(f"{whole}: pl.Tuple[{types}] = self.{name}({first}, {second})")
    for position in range(len(inner.shown)):
        part = c.fresh("v")
        c.emit(f"{part}: S = {whole}[{position}]")
        c.show(part)


SCENES = (
    carried_result,
    old_names,
    start_of_branch,
    carried_on,
    side_by_side,
    clashing_carries,
    next_trip,
    buffer_used_before,
    whole_carry,
    blocks_and_aliases,
    partly_filled,
    output_read,
    written_elsewhere_too,
    argument_of_a_tuple,
    tuple_of_a_branch,
    window_given,
    recast_given,
    fixed_launch,
    one_argument_twice,
)
