"""Text in: the printed form, and the hand-written spelling, as a program."""

from tilesat.ir.parser.files import parse
from tilesat.ir.parser.program import TypeReader, parse_text

__all__ = ["TypeReader", "parse", "parse_text"]
