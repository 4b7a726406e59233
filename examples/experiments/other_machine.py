"""Experiment 4: a cost model for another machine. What would it rather do with the same program?

python examples/experiments/other_machine.py
"""

from pathlib import Path

import tilesat
from tilesat.extract.count import count_program

HERE = Path(__file__).parent
PROGRAM = HERE.parent / "programs" / "attention.py"


def main() -> None:
    program = tilesat.parse(PROGRAM)
    for cost in ("traffic", str(HERE / "on_one_chip.py")):
        result = tilesat.infer_tile_memory_space(program, rules="optimal", cost=cost, hardware="910b")
        assert tilesat.validate(program, result.program).ok
        counts = count_program(result.program)
        print(
            f"{Path(cost).name:16} moves {counts.executed_moves:6.0f}, bytes moved {counts.moved_bytes:9.0f}, "
            f"across cores {counts.cross_core_bytes:9.0f}"
        )


if __name__ == "__main__":
    main()
