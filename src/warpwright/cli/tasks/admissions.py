"""Prints admissions of tasks, for `warpwright tasks check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from warpwright.cli.screen import bad, good, plain, screen, show_table
from warpwright.core.codec import encode
from warpwright.core.errors import Exit

if TYPE_CHECKING:
    from warpwright.verify.admission import Admission


def verdict(admissions: Sequence[Admission]) -> Exit:
    return Exit.HOLDS if all(admission.admitted for admission in admissions) else Exit.REFUTED


def admissions_data(admissions: Sequence[Admission]) -> list[dict[str, Any]]:
    return [{"admitted": admission.admitted, **encode(admission)} for admission in admissions]


def show_admissions(admissions: Sequence[Admission]) -> None:
    """Prints one row per task, and explains failures below."""
    show_table(("task", "", "wrong ones", "honest ones", "draws", "took"), map(_row, admissions))
    for admission in admissions:
        for problem in _problems(admission):
            screen().print(f"{bad(admission.task)}: {plain(problem)}")
    admitted = sum(admission.admitted for admission in admissions)
    screen().print(f"{admitted} of {len(admissions)} tasks admitted.")


def _row(admission: Admission) -> tuple[str, ...]:
    refuted = sum(control.refuted is True for control in admission.controls)
    exempt = sum(control.exempt is not None for control in admission.controls)
    passed = sum(variant.passed for variant in admission.honest)
    return (
        plain(admission.task),
        good("admitted") if admission.admitted else bad("not admitted"),
        f"{refuted} refuted" + (f", {exempt} exempt" if exempt else ""),
        f"{passed} of {len(admission.honest)} pass",
        str(admission.draws),
        "" if admission.seconds is None else f"{admission.seconds:.1f} s",
    )


def _problems(admission: Admission) -> Iterator[str]:
    yield from admission.problems
    yield from (
        f"'{control.name}' was not refuted: {control.how}" for control in admission.controls if not control.settled
    )
    yield from (f"honest '{honest.name}' was refuted: {honest.why}" for honest in admission.honest if not honest.passed)
