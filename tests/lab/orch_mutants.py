"""Unsound mutants of the rules of orchestration: conditions left out, or weaker than they have to be."""

from __future__ import annotations

from tests.lab.mutants import GONE, REGION, SWAPPED, Mutant

ORCH_MUTANTS: tuple[Mutant, ...] = (
    # What a kernel reads after it wrote.
    Mutant("bar-read-after-write", GONE, "buffers"),
    Mutant("bar-shared-input", GONE, "buffers"),
    Mutant("bar-shared-output", GONE, "arguments"),
    Mutant("bar-unknown-argument", GONE, "arguments"),
    Mutant("bar-not-filled", GONE, "buffers"),
    Mutant("bar-output-read", GONE, "buffers"),
    Mutant("bar-fixed-launch", GONE, "buffers"),
    Mutant("bar-buffer-in-use", GONE, "buffers"),
    # Who looks at the old contents.
    Mutant("bar-later-use", GONE, "merges"),
    Mutant("bar-later-use", REGION, "merges", "(< d0 e0)", "(< e0 d0)", "uses before the launch"),
    Mutant("bar-use-in-next-trip", GONE, "merges"),
    Mutant("bar-passed-on", GONE, "merges"),
    Mutant("bar-seen-by-callers", GONE, "merges"),
    Mutant("stale-names", GONE, "merges"),
    Mutant("stale-passed-on", GONE, "merges"),
    Mutant("stale-next-trip", GONE, "merges"),
    # Which tensors may be one buffer.
    Mutant("buffer-of-branch", GONE, "merges"),
    Mutant("same-buffer-carried", GONE, "merges"),
    Mutant("same-buffer-side-by-side", GONE, "merges"),
    Mutant("clashing-inputs", GONE, "pairs"),
    Mutant("clashing-merges", GONE, "pairs"),
    # Strides.
    Mutant("bar-conflicting-strides", GONE, "sliced"),
    Mutant("strides-of-parameters", GONE, "parts"),
    Mutant("strides-of-slices", SWAPPED, "sliced", "(slice-dim y e x d)", "(slice-dim y d x e)", "dimensions swapped"),
    # Gathering loops.
    Mutant("keep-filled-start", GONE, "gathers"),
    Mutant("keep-uncovered-start", GONE, "gathers"),
    Mutant("keep-read-between", GONE, "gathers"),
    Mutant("keep-written-between", GONE, "gathers"),
    Mutant("keep-other-use", GONE, "forms"),
    # Windows.
    Mutant("whole-new-buffer", GONE, "folds"),
    Mutant("whole-new-input-buffer", GONE, "folds"),
    Mutant("whole-unstated-input-strides", GONE, "edges"),
)
