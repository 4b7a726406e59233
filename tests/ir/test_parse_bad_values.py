"""Bad types, calls and constants are refused with one error that points to the part that is wrong.

Every case is the text, the place as ``line:column``, the message, and the hint: the error is compared in full.
"""

from __future__ import annotations

import pytest

from tests.ir.parsing import refused_body

# The text is the body of a kernel; lines count from the first of the body.
CASES: dict[str, tuple[str, str, str, str]] = {
    "a call of unknown type": (
        "r = given(a)",
        "1:9",
        "the type of 'r' cannot be deduced",
        "annotate it: r: pl.Tile[...] = ...",
    ),
    "an op of unknown type": (
        "r = pl.tile.swirl(x)",
        "1:9",
        "the type of 'r' cannot be deduced",
        "annotate it: r: pl.Tile[...] = ...",
    ),
    "an annotation that states no shape": (
        "r: pl.Tensor = given(a)",
        "1:9",
        "the type of 'r' cannot be deduced",
        "annotate it: r: pl.Tile[...] = ...",
    ),
    "a function that is not there": (
        "r = self.g(a)",
        "1:9",
        "the program has no function 'g'",
        "define it, or annotate the result",
    ),
    "the result of a void function": (
        "r = self.f(a, b, c, p, x, out)",
        "1:9",
        "function 'f' returns nothing",
        "call it without assigning the result",
    ),
    "two names for a scalar": (
        "r, q = a",
        "1:9",
        "2 names for a value that is no tuple",
        "give one name",
    ),
    "three names for a tuple of one": (
        "r, q, s = pl.submit(self.f, a, b)",
        "1:9",
        "3 names for a tuple of 1 element",
        "give one name for each",
    ),
    "a matmul whose K extents differ": (
        """
            l = pl.create_tile([16, 32], dtype=pl.FP16, target_memory=pl.Mem.Left)
            r = pl.create_tile([64, 16], dtype=pl.FP16, target_memory=pl.Mem.Right)
            z = pl.matmul(l, r)
        """,
        "3:13",
        "tile.matmul: argument 'rhs' has 64 rows",
        "32 are needed",
    ),
    "a tensor where a tile belongs": (
        "z = pl.tile.exp(x)",
        "1:13",
        "tile.exp: argument 'tile' is 'x' of type pl.Tensor[[64, 64], pl.FP32]",
        "a tile is needed",
    ),
    "too few arguments": (
        "z = pl.tile.load(x)",
        "1:13",
        "tile.load takes 3 to 4 arguments, not 1",
        "give tensor, offsets, shapes, valid_shape",
    ),
    "an unknown space to load to": (
        "t = pl.load(x, [0, 0], [16, 64], target_memory=pl.Mem.Cache)",
        "1:13",
        "tile.load: 'Cache' is no memory space",
        "one of DDR, Vec, Mat, Left, Right, Acc, Bias, ScalarLocal, LeftScale, RightScale",
    ),
    "an unknown space in a type": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Cache] = given()",
        "1:39",
        "unknown memory space 'Cache'",
        "one of DDR, Vec, Mat, Left, Right, Acc, Bias, ScalarLocal, LeftScale, RightScale",
    ),
    "a memref without space": (
        't: pl.Tile[[16, 64], pl.FP32, pl.MemRef("slot")] = given()',
        "1:12",
        "tile with memref 'slot' names no memory space",
        "add pl.Mem.Vec, say",
    ),
    "a memref without name": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.MemRef(), pl.Mem.Vec] = given()",
        "1:39",
        "a MemRef has a name and nothing else",
        'write pl.MemRef("slot")',
    ),
    "two spaces": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.Mem.Mat] = given()",
        "1:51",
        "'pl.Mem.Mat' is the second of its kind in a type",
        "give one",
    ),
    "a tile without dtype": (
        "t: pl.Tile[[16, 64]] = given()",
        "1:12",
        "a Tile needs a shape and a dtype",
        "write pl.Tile[[16, 64], pl.FP32]",
    ),
    "a tensor without shape": (
        "t: pl.Tensor[pl.FP32] = given()",
        "1:12",
        "a Tensor needs a shape and a dtype",
        "write pl.Tensor[[16, 64], pl.FP32]",
    ),
    "a shape that is no list": (
        "t: pl.Tensor[16, pl.FP32] = given()",
        "1:22",
        "a shape is a list of extents",
        "write [16, 64], say",
    ),
    "a dtype as string": (
        "t: pl.Tensor[[16, 64], 'FP32'] = given()",
        "1:32",
        "'FP32' is not a dtype",
        "write pl.FP32, say",
    ),
    "a space as dtype": (
        "t: pl.Tensor[[16, 64], pl.Mem.Vec] = given()",
        "1:32",
        "'pl.Mem.Vec' is not a dtype",
        "write pl.FP32, say",
    ),
    "a negative extent": (
        "t: pl.Tensor[[16, -64], pl.FP32] = given()",
        "1:27",
        "the extent -64 is negative",
        "extents count elements",
    ),
    "an extent with a fraction": (
        "t: pl.Tensor[[16, 0.5], pl.FP32] = given()",
        "1:27",
        "'0.5' is no integer",
        "write an integer expression",
    ),
    "a tensor as extent": (
        "t: pl.Tensor[[16, x], pl.FP32] = given()",
        "1:27",
        "an extent is a tensor",
        "a scalar is needed",
    ),
    "an undefined extent": (
        "t: pl.Tensor[[16, n], pl.FP32] = given()",
        "1:27",
        "undefined variable 'n'",
        "define it before this use, in this block or one around it",
    ),
    "a number in a tile type": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, 7] = given()",
        "1:51",
        "'7' has no meaning in a Tile type",
        "give MemRef, space and view only",
    ),
    "a space in a tensor type": (
        "t: pl.Tensor[[16, 64], pl.FP32, pl.Mem.Vec] = given()",
        "1:41",
        "'pl.Mem.Vec' is no layout of a tensor",
        "one of pl.ND, pl.DN, pl.NZ, pl.MX_A_ZZ, pl.MX_B_NN",
    ),
    "an unknown view field": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(shape=[8, 64])] = given()",
        "1:63",
        "unknown view field 'shape'",
        "one of valid_shape, stride, start_offset, blayout, slayout, fractal, pad, compact",
    ),
    "a view field by position": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView([8, 64])] = given()",
        "1:63",
        "a view has named fields only",
        "one of valid_shape, stride, start_offset, blayout, slayout, fractal, pad, compact",
    ),
    "a layout as string": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(blayout='row_major')] = given()",
        "1:71",
        "'row_major' is no TileLayout",
        "write pl.TileLayout.<member>",
    ),
    "a fractal that varies": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(fractal=a)] = given()",
        "1:71",
        "the fractal of a view is a constant",
        "write fractal=512, say",
    ),
    "a valid shape that is no list": (
        "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=8)] = given()",
        "1:75",
        "'8' is no list",
        "write [16, 64], say",
    ),
    "a scalar with two dtypes": (
        "t: pl.Scalar[pl.FP32, pl.FP16] = given()",
        "1:12",
        "a Scalar has one dtype",
        "write pl.Scalar[pl.INDEX], say",
    ),
    "an array without extent": (
        "t: pl.Array[pl.INT32] = given()",
        "1:12",
        "an Array has an extent and a dtype",
        "write pl.Array[8, pl.INT32], say",
    ),
    "a constant without dtype": (
        "r = pl.const(7)",
        "1:13",
        "malformed constant",
        "write pl.const(value, pl.DTYPE)",
    ),
    "a variable as constant": (
        "r = pl.const(a, pl.INT32)",
        "1:13",
        "malformed constant",
        "write pl.const(value, pl.DTYPE)",
    ),
    "an integer that is too large": (
        "r = 99999999999999999999",
        "1:13",
        "the integer does not fit into 64 bits",
        "write a smaller one",
    ),
    "a submit of what is no function": (
        "pl.submit(f, a)",
        "1:9",
        "a submit names no function",
        "write pl.submit(self.f, ...)",
    ),
    "a submit of nothing": (
        "pl.spmd_submit()",
        "1:9",
        "a submit names no function",
        "write pl.submit(self.f, ...)",
    ),
    "keywords by **": (
        "pl.announce(**options)",
        "1:21",
        "'**' arguments are not supported",
        "name each keyword",
    ),
    "a keyword given twice": (
        "pl.announce(level=1, level=2)",
        "1:30",
        "keyword 'level' is given twice",
        "give it once",
    ),
    "a sum that is too long": (
        "r = " + " + ".join(["a"] * 200),
        "1:13",
        "the expression is nested too deeply",
        "bind parts of it to names",
    ),
    "signs nested too deeply": (
        "r = " + "-" * 20000 + "a",
        "1:1",
        "the text is nested too deeply",
        "bind parts of the expression to names",
    ),
    "brackets nested too deeply": (
        "r = " + "(" * 300 + "a" + ")" * 300,
        "1:213",
        "syntax error: too many nested parentheses",
        "a program is written in the syntax of Python",
    ),
    "function attributes by keyword": (
        "pl.func_attr(windowize=True)",
        "1:9",
        "malformed function attributes",
        'write pl.func_attr({"name": value})',
    ),
    "a binding inside a type": (
        "t: pl.Tensor[[(n := 4)], pl.FP32] = given()",
        "1:12",
        "'pl.Tensor[[(n := 4)], pl.FP32]' has ':=', 'yield' or 'await' where a value is needed",
        "write a value, or a name bound to it",
    ),
    "a column behind letters of more than one byte": (
        'pl.announce("größe"); r = missing',
        "1:35",
        "undefined variable 'missing'",
        "define it before this use, in this block or one around it",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_value(name: str) -> None:
    refused_body(*CASES[name])
