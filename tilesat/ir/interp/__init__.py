"""Whole programs evaluated on NumPy buffers: the judge of every rewrite.

:func:`interpret` runs a function of a program, :func:`compare` runs it in two programs on the same
random arguments and reports the first observable difference. Observable are the returned values,
the final contents of every tensor parameter, and the order of the effects that have no model. A
stale copy of a buffer shows; where values live, how they are laid out, and how often an equal value
is loaded does not.

**Buffers.** Tensors are passed and carried by reference: parameters, iter-args, results of ifs and
calls name the same buffer; ``tile.store``, ``tensor.write`` and ``tensor.assemble`` mutate it.
``tensor.slice``, ``view`` and ``reshape`` alias (a reshape that would need a copy is an error). A
slice may reach beyond its parent as long as nothing beyond is touched. A submit that omits trailing
Out arguments gets fresh buffers.

**Tiles.** A tile is a buffer and a map into it. Slices, reshapes, ``transpose_view``,
``reinterpret_view``, ``set_validshape``, ``y = x`` and projections of tuples share the buffer;
every other op fills a new one. An op that the op table says writes an argument mutates that
argument's buffer, and its result is that buffer: ``matmul_acc`` and its kin, ``assemble``,
``tile.write``, ``fillpad_inplace``, ``scatter``. The result of a loop, an iter-arg and the result
of an if have buffers of their own: entering, yielding and leaving copy tiles. Scalar arrays behave
like tiles, so ``array.update_element`` mutates.

**Valid extents** are tracked per value. A narrowed load leaves junk outside; elementwise ops
compute the region where all operands are valid, reductions and products read only valid elements,
stores and ``assemble`` write only valid elements. ``move`` copies everything. ``fillpad`` fills the
rest and makes it valid. ``extract`` and ``slice`` narrow; a reshape narrows where the region stays
a box. Negative extents count as 0. New buffers (``create``, ``full``) take the valid extents of
their annotation; all other extents come from the operands.

**Junk** (uninitialised or invalid elements) is a function of shape and dtype, so that dropping,
adding or retargeting an allocation does not show.

**Bounds.** Reading or writing outside a tensor is an error, except for elements that are not valid.

**Numbers.** Floats are computed in single precision and rounded to the dtype; sums and matrix
products in double precision, rounded once. ``matmul_acc(c, a, b)`` equals ``c + matmul(a, b)`` in
every bit. Integers wrap, floats saturate when cast to integers. Scalars of dtype INDEX are
unbounded.

**Control.** Loops of all kinds run sequentially. In ``pl.split_aiv`` the subblock index is the loop
index. A launch on ``core_num`` blocks (of a call, a submit or a function attribute) runs the callee
once per block.

**Ops without a model** are unknown functions: the result is drawn from a digest of op, keywords,
scalars and valid contents; space, layout, attributes and working space do not count. If the op
table says that it writes, it overwrites. Ops that are not pure, ops the table lacks, opaque
statements and submit predicates also leave a :class:`TraceEvent`. A pop depends on how many pops of
its kind came before, not on pushes.
"""

from tilesat.ir.interp.compare import Difference, compare, difference, runnable_arguments
from tilesat.ir.interp.random_args import default_dims, random_arguments
from tilesat.ir.interp.registry import is_modelled
from tilesat.ir.interp.run import Interpretation, interpret
from tilesat.ir.interp.state import TraceEvent

__all__ = [
    "Difference",
    "Interpretation",
    "TraceEvent",
    "compare",
    "default_dims",
    "difference",
    "interpret",
    "is_modelled",
    "random_arguments",
    "runnable_arguments",
]
