"""A program under examination: every draw in several orders, each result held against the oracle's truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpwright.core.evidence import Counterexample
from warpwright.core.gpus import gpu_named
from warpwright.core.plan import View
from warpwright.core.signature import flatten, results
from warpwright.core.task import Case, Direction, Draw, Task
from warpwright.emulate.calls import Call, Order
from warpwright.emulate.conclusion import Outcome, concluded, refutes, wrong_in
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.findings import Finding, findings
from warpwright.emulate.lines import resolved
from warpwright.emulate.report import Report, Tier
from warpwright.emulate.running import Ran, run
from warpwright.emulate.staging import Stage, Trial, staged
from warpwright.oracle.check import check_results
from warpwright.oracle.distance import distance
from warpwright.oracle.draws import check_draws
from warpwright.oracle.reference import Tensors
from warpwright.oracle.truth import Expected, expectations
from warpwright.seal import observe
from warpwright.seal.cache import Store

_MOST_REORDERED = 1 << 19
"""Bytes that a case may be given to be run in other orders as well: what order changes shows in small cases."""
_SHIFTED_PER_TYPE = 2


@dataclass(slots=True, kw_only=True)
class Examination:
    task: Task
    cases: Sequence[Case]
    gpu: str
    store: Store
    _stages: dict[str, Stage] = field(default_factory=dict)
    _truths: dict[str, tuple[Expected, ...]] = field(default_factory=dict)

    def prepare(self) -> None:
        """Inputs and truth of the check draws, which need no program."""
        for draw in self._draws():
            self._expected(draw)

    def of(self, program: Path, edges: Sequence[Case]) -> Emulation:
        """The check draws first; what is refuted there need not be hurt any further."""
        outcomes = list(self._outcomes(program, [Trial(draw=draw) for draw in self._draws()]))
        if not any(refutes(outcome) for outcome in outcomes):
            outcomes += self._outcomes(program, self._hurting(edges))
        return concluded(outcomes)

    def _draws(self) -> list[Draw]:
        names = {case.name for case in self.cases}
        return [draw for draw in check_draws(self.task) if draw.case.name in names]

    def _hurting(self, edges: Sequence[Case]) -> list[Trial]:
        first = {draw.case.name: draw for draw in reversed(self._draws())}
        small = [draw for draw in first.values() if self._size(draw) <= _MOST_REORDERED]
        orders = (Order.REVERSE, Order.SHUFFLED)
        trials = [Trial(draw=draw, order=order) for draw in small for order in orders]
        distribution = self.task.distributions[0]
        hurt = [Draw(case=case, distribution=distribution, seed=number) for number, case in enumerate(edges)]
        trials += [Trial(draw=draw, order=orders[draw.seed % 2]) for draw in hurt]
        return trials + [Trial(draw=draw, shifted=True) for draw in _some_of_each_type(small)]

    def _size(self, draw: Draw) -> int:
        return sum(map(len, self._stage(draw).first(Trial(draw=draw)).contents))

    def _stage(self, draw: Draw) -> Stage:
        key = repr(draw)
        if key not in self._stages:
            self._stages[key] = staged(self.task, draw)
        return self._stages[key]

    def _expected(self, draw: Draw) -> tuple[Expected, ...]:
        key = repr(draw)
        if key not in self._truths:
            self._truths[key] = expectations(self.task, draw, self._stage(draw).given)
        return self._truths[key]

    def _outcomes(self, program: Path, trials: Sequence[Trial]) -> Iterator[Outcome]:
        calls = [self._stage(trial.draw).first(trial) for trial in trials]
        first = run(program, calls, gpu_named(self.gpu), self.store)
        second = self._second(program, trials, first)
        lines = self._lines(program, [*first, *(ran for _, ran in second.values())])
        for number, trial in enumerate(trials):
            acts = [(calls[number], first[number]), *([second[number]] if number in second else [])]
            yield self._outcome(trial, acts, lines)

    def _second(self, program: Path, trials: Sequence[Trial], first: Sequence[Ran]) -> dict[int, tuple[Call, Ran]]:
        """The backward halves of training pairs."""
        if self.task.direction is not Direction.TRAINING:
            return {}
        asked = {i: self._stage(trial.draw).second(trial, first[i]) for i, trial in enumerate(trials)}
        calls = {number: call for number, call in asked.items() if call is not None}
        ran = run(program, list(calls.values()), gpu_named(self.gpu), self.store)
        return {number: (call, done) for (number, call), done in zip(calls.items(), ran, strict=True)}

    def _lines(self, program: Path, ran: Sequence[Ran]) -> dict[int, int]:
        reported = [item for done in ran if done.report for item in done.report.findings]
        codes = {item.code for item in reported} | {item.other.code for item in reported if item.other}
        with self.store.staging() as folder:
            return resolved(program, codes, folder)

    def _outcome(self, trial: Trial, acts: Sequence[tuple[Call, Ran]], lines: Mapping[int, int]) -> Outcome:
        found = [item for call, ran in acts for item in self._found(trial, call, ran, lines)]
        undecided = next((why for call, ran in acts if (why := _undecided(trial, call, ran))), None)
        values, mistake, far = None, None, None
        if undecided is None and not any(item.tier is Tier.FATAL for item in found):
            values = self._stage(trial.draw).results(acts[0][1], acts[1][1] if len(acts) > 1 else None)
            mistake = self._mutation(trial, acts) or self._mismatch(trial, values)
            far = distance(self._expected(trial.draw), values) if values and not mistake else None
        return Outcome(
            trial=trial,
            ran=tuple(done for _, done in acts),
            results=values,
            found=tuple(found),
            wrong=mistake,
            distance=far,
            undecided=undecided,
        )

    def _found(self, trial: Trial, call: Call, ran: Ran, lines: Mapping[int, int]) -> list[Finding]:
        if ran.report is None:
            return []
        names = _buffer_names(call, ran.report, [spec.name for spec in results(self.task, trial.draw.case)])
        return findings(ran.report, lines, names, trial.label, trial.order)

    def _mutation(self, trial: Trial, acts: Sequence[tuple[Call, Ran]]) -> Counterexample | None:
        stage = self._stage(trial.draw)
        name = next((name for call, ran in acts if (name := stage.changed(ran, call))), None)
        return wrong_in(trial, "mutation", f"{name} was changed; the task does not allow it", {}) if name else None

    def _mismatch(self, trial: Trial, values: Tensors | None) -> Counterexample | None:
        if values is None:
            return wrong_in(trial, "returns", "what was returned does not lie within its buffers", {})
        mismatch = check_results(self._expected(trial.draw), values)
        return wrong_in(trial, mismatch.kind, mismatch.message, mismatch.facts) if mismatch else None


def _some_of_each_type(draws: Sequence[Draw]) -> list[Draw]:
    by_type: dict[str, list[Draw]] = {}
    for draw in draws:
        by_type.setdefault(draw.case.dtype, []).append(draw)
    return [draw for group in by_type.values() for draw in group[-_SHIFTED_PER_TYPE:]]


def _buffer_names(call: Call, report: Report, outputs: Sequence[str]) -> list[str]:
    """Arguments by their names, results by theirs; the rest is scratch."""
    names = [tensor.name for spec in call.arguments for tensor in flatten(spec)]
    names += [f"scratch buffer {number}" for number in range(len(names), len(report.trace.buffers))]
    for view, output in zip(report.trace.returns, outputs, strict=False):
        if isinstance(view, View) and view.buffer >= len(call.contents):
            names[view.buffer] = output
    return names


def _undecided(trial: Trial, call: Call, ran: Ran) -> str | None:
    """Why this call says nothing about the candidate. What host code did wrong is raised, as sealing does."""
    report = ran.report
    if report is None:
        how = f"went beyond the limit on {ran.ended.reason}" if ran.ended.reason else f"died ({ran.ended.signal})"
        return f"case {trial.label}: the emulated program {how}"
    if report.trace.outcome != "captured":
        asked = observe.Call(entry=call.entry, case=trial.draw.case.name, arguments=call.arguments)
        raise observe.failure(report.trace, asked)
    if report.outcome == "unsupported":
        return f"unsupported: {report.what}"
    if report.outcome == "budget":
        return f"case {trial.label}: still running after the steps it was given ({report.what})"
    return None if report.outcome in ("ran", "stopped") else f"case {trial.label}: {report.outcome}"
