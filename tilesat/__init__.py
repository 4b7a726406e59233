"""tilesat: optimises tile programs with equality saturation.

>>> import tilesat
>>> program = tilesat.parse(text)                                   # a text or a path
>>> result = tilesat.infer_tile_memory_space(program, hardware="910b")
>>> print(result.program)
"""

from tilesat.bridge.infer import PassResult, infer_tile_memory_space
from tilesat.bridge.orch import optimize_orch_tensors
from tilesat.bridge.pipeline import optimize
from tilesat.bridge.validate import Validation, validate
from tilesat.diagnostics import Diagnostic, Severity
from tilesat.errors import (
    CostModelError,
    ImpossibleError,
    InterpretError,
    Location,
    ParseError,
    RuleError,
    SolveError,
    TilesatError,
    TypeDeductionError,
    VerifyError,
)
from tilesat.ir.equal import StructuralDifference, first_difference, structural_equal
from tilesat.ir.interp import Interpretation, interpret, random_arguments
from tilesat.ir.nodes import Function, Program
from tilesat.ir.parser import parse
from tilesat.ir.verify import verify
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import Rule, RuleSet

__version__ = "0.1.0"

__all__ = [
    "CostModelError",
    "Diagnostic",
    "Function",
    "ImpossibleError",
    "InterpretError",
    "Interpretation",
    "Location",
    "ParseError",
    "PassResult",
    "Program",
    "Rule",
    "RuleError",
    "RuleSet",
    "Severity",
    "SolveError",
    "StructuralDifference",
    "TilesatError",
    "TypeDeductionError",
    "Validation",
    "VerifyError",
    "first_difference",
    "infer_tile_memory_space",
    "interpret",
    "optimize",
    "optimize_orch_tensors",
    "parse",
    "preset",
    "random_arguments",
    "structural_equal",
    "validate",
    "verify",
]
