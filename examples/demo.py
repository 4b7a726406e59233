"""The main job on a real kernel: grouped attention with an online softmax.

Run with ``make demo``. Infers memory spaces and inserts moves by the reference rules, then lets the cost model
choose among all legal placements, and shows what was decided and why.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

import tilesat
from tilesat.bridge.report import print_decisions
from tilesat.extract.count import count_program

KERNEL = Path(__file__).parent / "programs" / "attention.py"
console = Console()


def main() -> None:
    program = tilesat.parse(KERNEL)
    reference = tilesat.infer_tile_memory_space(program, rules="reference", hardware="910b")
    optimal = tilesat.infer_tile_memory_space(program, rules="optimal", hardware="910b")

    console.rule("decisions of the reference rules")
    shown = ("move", "retarget", "resident", "split", "peel", "rehome")
    print_decisions([d for d in reference.decisions if d.kind in shown])
    console.rule("the cheapest placement")
    console.print(str(optimal.program), markup=False, highlight=False, soft_wrap=True)
    console.rule("what that saves")
    console.print(_comparison(reference, optimal))

    validation = tilesat.validate(program, optimal.program)
    console.print(
        f"interpreted on random inputs before and after: {'equal' if validation.ok else validation.difference}"
    )
    if not validation.ok:
        raise SystemExit(1)


def _comparison(reference: tilesat.PassResult, optimal: tilesat.PassResult) -> Table:
    table = Table()
    table.add_column("")
    table.add_column("reference", justify="right")
    table.add_column("optimal", justify="right")
    before, after = count_program(reference.program), count_program(optimal.program)
    rows = {
        "moves in the text": (before.static_moves, after.static_moves),
        "moves executed": (before.executed_moves, after.executed_moves),
        "bytes moved": (before.moved_bytes, after.moved_bytes),
        "bytes across cores": (before.cross_core_bytes, after.cross_core_bytes),
        "bytes loaded": (before.loaded_bytes, after.loaded_bytes),
    }
    for name, (a, b) in rows.items():
        table.add_row(name, f"{a:,.0f}", f"{b:,.0f}")
    if optimal.cost is not None and optimal.reference_cost is not None:
        table.add_row("cost (traffic)", f"{optimal.reference_cost:,.0f}", f"{optimal.cost:,.0f}")
    return table


if __name__ == "__main__":
    main()
