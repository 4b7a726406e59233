"""Scenes of loops that gather blocks in a tile: covered or not, read meanwhile, with more tensors in the buffer."""

from __future__ import annotations

from tilesat.lab.orch_callers import Caller

_CREATE = "pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)"
_FULL = "pl.tile.full([8, 16], dtype=pl.FP32, value=0.5)"
_HEADER = "(x: S, o: pl.Out[S]) -> S"
_SMALL = "pl.Tensor[[8, 16], pl.FP32]"


def _start(c: Caller) -> str:
    return c.choices.pick((_CREATE, _FULL))


def _loop(c: Caller, init: str, trips: int, *, at: str = "r", inner: str = "") -> str:
    """A loop that puts blocks of ``x`` into a tile; ``inner`` are more statements of its body."""
    kind = c.choices.pick(("range", "range", "parallel"))
    to = c.choices.pick(("r", "4 - r")) if trips == 2 else "r"
    lines = [
        f"z: T = {init}",
        f"for j, (acc,) in pl.{kind}({trips}, init_values=(z,)):",
        "    r = j * 4",
        f"    b = pl.load(x, [{at}, 0], [4, 16])",
        f"    e = pl.{c.choices.pick(('exp', 'neg', 'abs'))}(b)",
        f"    n = pl.tile.assemble(acc, e, [{to}, 0])",
        *(f"    {line}" for line in inner.splitlines()),
        "    f: T = pl.yield_(n)",
    ]
    return "\n".join(lines)


def _launched(c: Caller, kernel: str, *, is_shared: bool) -> None:
    """A launch of a kernel of one input and one output, which may be one buffer."""
    n = c.fresh("n")
    if is_shared:
        buf = c.choices.pick((c.made(), c.param("io", "InOut", "S")))
        c.emit(f"{n} = self.{kernel}({buf}, {buf})")
    else:
        buf = c.choices.pick((c.param("o", "Out", "S"), c.create(_SMALL)))
        c.emit(f"{n} = self.{kernel}({c.any_tensor()}, {buf})")
    c.show(n)


def gathered_blocks(c: Caller) -> None:
    """Blocks that cover their tile, from the same or other rows, into another tensor or into the one they come from."""
    at = c.choices.pick(("r", "4 - r"))
    body = _loop(c, _start(c), 2, at=at) + "\ns = pl.store(f, [0, 0], o)\nreturn s"
    _launched(c, c.kernel(_HEADER, body), is_shared=not c.choices.chance(3))


def gaps_between_blocks(c: Caller) -> None:
    """Blocks that do not cover their tile, which starts with data or with nothing."""
    body = _loop(c, _start(c), 1) + "\ns = pl.store(f, [0, 0], o)\nreturn s"
    _launched(c, c.kernel(_HEADER, body), is_shared=c.choices.chance(3))


def nested_blocks(c: Caller) -> None:
    """Blocks gathered by loops in a loop."""
    inner = c.choices.pick((2, 1))
    kernel = c.kernel(
        _HEADER,
        f"""
        z: T = {_start(c)}
        for j, (acc,) in pl.range(2, init_values=(z,)):
            for i, (bcc,) in pl.range({inner}, init_values=(acc,)):
                r = j * 4 + i * 2
                b = pl.load(x, [{c.choices.pick(("r", "6 - r"))}, 0], [{4 // inner}, 16])
                n = pl.tile.assemble(bcc, b, [r, 0])
                g: T = pl.yield_(n)
            f: T = pl.yield_(g)
        s = pl.store(f, [0, 0], o)
        return s
        """.replace("6 - r", f"{8 - 4 // inner} - r"),
    )
    _launched(c, kernel, is_shared=c.choices.chance(3))


def guarded_blocks(c: Caller) -> None:
    """Blocks of which some are put in under a condition."""
    other = "acc" if c.choices.chance(2) else "m1"
    kernel = c.kernel(
        _HEADER,
        f"""
        z: T = {_start(c)}
        for j, (acc,) in pl.range(2, init_values=(z,)):
            b = pl.load(x, [j * 4, 0], [4, 16])
            if j == 0:
                n0: T = pl.tile.assemble(acc, b, [0, 0])
                n: T = pl.yield_(n0)
            else:
                m1: T = pl.tile.assemble(acc, b, [4, 0])
                n: T = pl.yield_({other})
            f: T = pl.yield_(n)
        s = pl.store(f, [0, 0], o)
        return s
        """,
    )
    _launched(c, kernel, is_shared=c.choices.chance(3))


def gathered_tile_read(c: Caller) -> None:
    """A gathered tile that is read in the loop, or stored twice."""
    if c.choices.chance(2):
        inner = "v = pl.exp(n)\nw = pl.store(v, [0, 0], p)"
        body = _loop(c, _start(c), 2, inner=inner) + "\ns = pl.store(f, [0, 0], o)\nreturn s"
    else:
        body = (
            _loop(c, _start(c), 2) + "\nt = pl.exp(f)\nu = pl.store(t, [0, 0], p)\ns = pl.store(f, [0, 0], o)\nreturn s"
        )
    kernel = c.kernel("(x: S, o: pl.Out[S], p: pl.Out[S]) -> S", body)
    n, second = c.fresh("n"), c.param("p", "Out", "S")
    first = c.param("o", "Out", "S") if c.choices.chance(2) else second
    c.emit(f"{n} = self.{kernel}({c.any_tensor()}, {first}, {second})")
    c.show(n)


def written_meanwhile(c: Caller) -> None:
    """Another output, which may be the same buffer, written before the gathered tile is stored."""
    way = c.choices.pick(("Out", "InOut"))
    kernel = c.kernel(
        f"(x: S, o: pl.Out[S], p: pl.{way}[S]) -> tuple[S, S]",
        f"a0 = pl.load(x, [0, 0], [8, 16])\nb0 = pl.exp(a0)\n{_loop(c, _start(c), 2)}\n"
        "w = pl.store(b0, [0, 0], p)\ns = pl.store(f, [0, 0], o)\nreturn s, w",
    )
    _pair_of_outputs(c, kernel, "outputs", "outputs", "none", "input")


def read_before_the_store(c: Caller) -> None:
    """An input, which may be the same buffer, read behind the loop and before the gathered tile is stored."""
    kernel = c.kernel(
        "(x: S, o: pl.Out[S], p: pl.Out[S]) -> tuple[S, S]",
        f"{_loop(c, _start(c), 2)}\na0 = pl.load(x, [0, 0], [8, 16])\n"
        "s = pl.store(f, [0, 0], o)\nw = pl.store(a0, [0, 0], p)\nreturn s, w",
    )
    _pair_of_outputs(c, kernel, "input", "input", "none", "outputs")


def _pair_of_outputs(c: Caller, kernel: str, *kinds: str) -> None:
    """A launch with two outputs: the outputs are one tensor, the input is an output, or all are apart."""
    first, second = c.param("io", "InOut", "S"), c.param("p", "Out", "S")
    sharing = c.choices.pick(kinds)
    args = {
        "outputs": f"{c.any_tensor()}, {first}, {first}",
        "input": f"{first}, {first}, {second}",
        "none": f"{c.any_tensor()}, {first}, {second}",
    }[sharing]
    t, n, m = c.fresh("t"), c.fresh("n"), c.fresh("m")
    c.emit(f"{t}: pl.Tuple[S, S] = self.{kernel}({args})\n{n}: S = {t}[0]\n{m}: S = {t}[1]")
    c.show(n)
    c.show(m)


SCENES = (
    gathered_blocks,
    gaps_between_blocks,
    nested_blocks,
    guarded_blocks,
    gathered_tile_read,
    written_meanwhile,
    read_before_the_store,
)
