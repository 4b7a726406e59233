"""Cost models that users write: a function, a class, or a Python file with either."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tilesat.errors import CostModelError, Location
from tilesat.extract.frequency import Frequency
from tilesat.extract.transfer import Transfer

if TYPE_CHECKING:
    from tilesat.extract.cost import CostModel

ENTRY = "cost_model"
"""The name that a file of a user's own must define."""

PriceOf = Callable[[Transfer], float]


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """A plain function ``price(transfer)`` as a cost model: the default frequencies, statements for next to nothing."""

    price: PriceOf
    name: str
    frequency: Frequency = field(default_factory=Frequency)

    def transfer(self, transfer: Transfer) -> float:
        return self.price(transfer)

    def statement(self) -> float:
        return 2.0**-16


def is_model_file(cost: str | Path) -> bool:
    """Whether ``cost`` names a Python file rather than a preset."""
    return isinstance(cost, Path) or cost.endswith(".py")


def read_model_file(path: Path) -> CostModel:
    """The model that ``path`` defines under the name ``cost_model``.

    That is a function of a :class:`tilesat.extract.transfer.Transfer`, a class whose instances need no arguments, or
    an instance; see ``examples/cost_model.py``.

    Raises :class:`tilesat.CostModelError` when the file cannot be read or run, or has no such name.
    """
    module = _load(path)
    found = getattr(module, ENTRY, None)
    if found is None:
        raise CostModelError(
            f"the file defines no '{ENTRY}'",
            location=Location(file=str(path)),
            hint="a function of a transfer, or a class with transfer(), statement() and frequency",
        )
    return as_model(found, what=path.name)


def as_model(given: object, what: str = "") -> CostModel:
    """``given`` as an object with the methods of a model: classes are instantiated, functions wrapped.

    ``what`` stands in front of the name in messages.
    """
    where = f"{what}: " if what else ""
    if inspect.isclass(given):
        try:
            return as_model(given(), what)
        except CostModelError:
            raise
        except Exception as error:
            raise CostModelError(
                f"cost model '{where}{given.__name__}' cannot be made: {type(error).__name__}: {error}",
                hint="its constructor is called without arguments",
            ) from error
    if callable(given) and not hasattr(given, "transfer"):
        return FunctionModel(given, where + str(getattr(given, "__name__", type(given).__name__)))
    return given  # type: ignore[return-value]


def _load(path: Path) -> ModuleType:
    if not path.is_file():
        raise CostModelError(f"there is no cost model file {path}", hint="a preset's name or a Python file")
    spec = importlib.util.spec_from_file_location(f"tilesat_user_cost_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise CostModelError(f"{path} is no Python file", hint="its name ends with .py")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while the file runs.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        place = Location(file=str(path), line=error.lineno, column=error.offset)
        raise CostModelError(f"the cost model is no Python: {error.msg}", location=place) from error
    except Exception as error:
        text = f"running the cost model file raised {type(error).__name__}: {error}"
        raise CostModelError(text, location=Location(file=str(path))) from error
    return module
