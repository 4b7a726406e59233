"""For test suites of users: rules are sound, as an assertion."""

from __future__ import annotations

from collections.abc import Sequence

from tilesat.lab.checking import CheckReport, check
from tilesat.rules.rule import RuleSet


def assert_sound(
    rules: str | RuleSet,
    *,
    examples: int = 100,
    seed: int = 0,
    only: Sequence[str] = (),
    targets: Sequence[str] = (),
    samples: int = 2,
    least_share: float = 0.0,
) -> CheckReport:
    """Fail with a small counterexample when ``rules`` change what a program computes.

    The arguments are those of :func:`tilesat.lab.check`. With ``least_share`` above 0 a rule that fired in a smaller
    share of its programs fails too: a rule that never fires passes any check. Returns the report.
    """
    __tracebackhide__ = True
    report = check(rules, examples=examples, seed=seed, only=only, targets=targets, samples=samples)
    if report.refutation is not None:
        raise AssertionError(str(report.refutation))
    if report.counterexample is not None:
        raise AssertionError(f"the rules are not sound: {report.counterexample}")
    for rule in report.rules:
        if rule.change != "removed" and rule.examples and rule.share < least_share:
            raise AssertionError(f"rule '{rule.name}' fired in {rule.share:.1%} of {rule.examples} programs only")
    return report
