"""Whole programs: kernels, and an orchestration function that launches them."""

from __future__ import annotations

from functools import partial

from tilesat.ir.nodes import Function, Program
from tilesat.ir.walk import names_in_type
from tilesat.lab.blocks import finish
from tilesat.lab.builder import Builder, Kernel
from tilesat.lab.choices import Choices
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.kinds import emit
from tilesat.lab.orchestration import orchestrations
from tilesat.lab.sources import DYNAMIC_DIM

_MATRIX_DTYPES = ("FP16", "FP32", "BF16", "INT8")
_VECTOR_DTYPES = ("FP32", "FP32", "FP16", "INT32")
_DEFAULT = GeneratorConfig()


def generate_program(choices: Choices, config: GeneratorConfig = _DEFAULT) -> Program:
    """A well-typed program as it stands before memory-space inference.

    It satisfies :data:`tilesat.ir.verify.INPUT_PROPERTIES`, its annotations are what type deduction gives,
    and it can be interpreted on :func:`tilesat.ir.interp.random_arguments`. The same choices give the same
    program.
    """
    names = [f"kernel{number}" for number in range(config.functions)]
    kernels = [choices.span(partial(kernel, choices, config, name)) for name in names]
    functions = [kernel.function for kernel in kernels]
    if config.has("orchestration") and (config.callers != "any" or choices.chance(2)):
        functions += orchestrations(choices, config, kernels)
    return assembled_program("Generated", functions)


def kernel(choices: Choices, config: GeneratorConfig, name: str) -> Kernel:
    """One InCore function."""
    b = Builder(choices, config, emit)
    b.extents = config.extents[: choices.integer(1, len(config.extents))]
    b.matrix_dtype = choices.pick(_MATRIX_DTYPES)
    b.vector_dtype = choices.pick(_VECTOR_DTYPES)
    b.fill(config.length)
    finish(b)
    return b.kernel(name)


def assembled_program(name: str, functions: list[Function]) -> Program:
    """A program of ``functions``, with the symbolic dimensions that their parameters have."""
    dims = {dim for function in functions for param in function.params for dim in names_in_type(param.type)}
    return Program(name, tuple(functions), (DYNAMIC_DIM,) if DYNAMIC_DIM in dims else ())
