"""Task admission: a task is admitted if it refutes every known kind of cheat and accepts every honest variant."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from warpwright.core.errors import OurFault, TaskError, WarpwrightError
from warpwright.core.task import Draw, Task
from warpwright.oracle.compare.results import check_results, same_bits
from warpwright.oracle.controls.honest import Compute, variants
from warpwright.oracle.controls.wrong import Control, Prepared, controls
from warpwright.oracle.inputs.draws import check_draws
from warpwright.oracle.truth.expected import expectations, scenario
from warpwright.oracle.truth.reference import Tensors, evaluate, function


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """The result of one negative control."""

    name: str
    refuted: bool | None
    """None if the control cannot be built for this task, or has no effect and need not have one."""
    how: str
    exempt: str | None = None

    @property
    def settled(self) -> bool:
        return self.refuted is not False or self.exempt is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class HonestResult:
    name: str
    passed: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whether a task is robust enough to be used, with the results that show it."""

    task: str
    controls: tuple[ControlResult, ...] = ()
    honest: tuple[HonestResult, ...] = ()
    problems: tuple[str, ...] = ()
    draws: int = 0
    seconds: float | None = None

    @property
    def admitted(self) -> bool:
        settled = all(control.settled for control in self.controls)
        return bool(self.controls) and settled and all(item.passed for item in self.honest) and not self.problems


def admit(task: Task) -> Admission:
    """Runs every control and every honest variant on the check draws of a task."""
    start = time.perf_counter()
    try:
        prepared = [_prepare(task, draw) for draw in check_draws(task)]
        problems = tuple(_problems(prepared))
    except OurFault:
        raise
    except WarpwrightError as error:
        return Admission(task=task.key, problems=(str(error),), seconds=time.perf_counter() - start)
    return Admission(
        task=task.key,
        controls=tuple(_try_control(control, prepared) for control in controls(task, _representative(prepared))),
        honest=tuple(_try_honest(name, compute, prepared) for name, compute in variants(task)),
        problems=problems,
        draws=len(prepared),
        seconds=time.perf_counter() - start,
    )


def _prepare(task: Task, draw: Draw) -> Prepared:
    given = scenario(task, draw)
    return Prepared(task=task, draw=draw, given=given, expected=expectations(task, draw, given))


def _representative(prepared: list[Prepared]) -> Prepared:
    """Returns the draw that shows which operations run: the first with more than a few elements."""
    return next((at for at in prepared if at.expected[0].value.numel() > 8), prepared[0])


def _problems(prepared: list[Prepared]) -> Iterable[str]:
    at = _representative(prepared)
    runs = [_plain(at) for _ in range(2)]
    if not all(map(same_bits, *runs)):
        yield "the reference is not deterministic: the same inputs gave two different results"


def _plain(at: Prepared) -> Tensors:
    fresh = at.given.copy()
    called = function(at.task.reference)
    return evaluate(at.task, at.draw.case, called, fresh.arguments, fresh.gradients, fresh.saves)


def _try_control(control: Control, prepared: list[Prepared]) -> ControlResult:
    exempt = next((item.reason for item in prepared[0].task.exemptions if item.control == control.name), None)
    if exempt:
        return ControlResult(name=control.name, refuted=False, how="exempt", exempt=exempt)
    dtypes = sorted({at.draw.case.dtype for at in prepared}) if control.per_dtype else [None]
    tried = [_refute(control, [at for at in prepared if dtype in (None, at.draw.case.dtype)]) for dtype in dtypes]
    return min(tried, key=_strength)


def _strength(result: ControlResult) -> int:
    """Orders results: accepted in one dtype outweighs refuted in another; refuted outweighs not applicable."""
    return {False: 0, True: 1, None: 2}[result.refuted]


def _refute(control: Control, prepared: list[Prepared]) -> ControlResult:
    built, effect = 0, False
    for at in prepared:
        results = _forged(control, at)
        if results is None:
            continue
        built += 1
        effect = effect or not _identical(results, at.expected_results())
        if mismatch := check_results(at.expected, results):
            how = f"{at.draw.case.name}, {at.draw.distribution}: {mismatch.message}"
            return ControlResult(name=control.name, refuted=True, how=how)
    if not built:
        return ControlResult(name=control.name, refuted=None, how="cannot be built here")
    if not effect and control.may_be_idle:
        return ControlResult(name=control.name, refuted=None, how="has no effect in this direction")
    return ControlResult(name=control.name, refuted=False, how=f"accepted on all {built} draws")


def _forged(control: Control, at: Prepared) -> Tensors | None:
    """Runs a cheat. One that raises (mismatching shapes, an index out of range) is no cheat."""
    try:
        return control.forge(at)
    except (TaskError, RuntimeError, IndexError, ValueError, ArithmeticError):
        return None


def _identical(left: Tensors, right: Tensors) -> bool:
    return all(same_bits(a, b) for a, b in zip(left, right, strict=True))


def _try_honest(name: str, compute: Compute, prepared: list[Prepared]) -> HonestResult:
    for at in prepared:
        if mismatch := check_results(at.expected, compute(at)):
            where = f"{at.draw.case.name}, {at.draw.distribution}, seed {at.draw.seed}"
            return HonestResult(name=name, passed=False, why=f"{where}: {mismatch.kind}: {mismatch.message}")
    return HonestResult(name=name, passed=True, why=f"accepted on all {len(prepared)} draws")
