"""What holds for every generated program."""

from __future__ import annotations

from hypothesis import given

from tilesat.diagnostics import Severity
from tilesat.ir.interp import interpret
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse_text
from tilesat.ir.verify import INPUT_PROPERTIES, verify
from tilesat.lab.strategies import programs

ANY = programs(functions=2)
SMALL = programs(max_statements=12)


@given(program=ANY)
def test_the_printed_form_parses_back(program: Program) -> None:
    text = str(program)
    parsed = parse_text(text)
    assert parsed == program
    assert str(parsed) == text


@given(program=ANY)
def test_what_inference_requires_holds(program: Program) -> None:
    assert verify(program, properties=INPUT_PROPERTIES) == ()


@given(program=ANY)
def test_annotations_are_what_deduction_gives(program: Program) -> None:
    """Layouts, valid extents and memories included; what loops carry and branches give agrees in kind."""
    assert verify(program, properties=("AssignTypeSymmetry",)) == ()
    found = verify(program, properties=("TypesConsistent",))
    assert [diagnostic for diagnostic in found if diagnostic.severity is Severity.ERROR] == []


@given(program=ANY)
def test_every_function_runs_on_random_arguments(program: Program) -> None:
    for function in program.functions:
        interpret(program, function.name)
