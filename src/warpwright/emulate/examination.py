"""Examines a candidate: runs every draw in several orders and compares each result with the oracle's truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpwright.core.calls import arguments, elements, entries, may_prepare, results
from warpwright.core.errors import TaskError
from warpwright.core.launch.plan import Triple, View
from warpwright.core.records.evidence import Counterexample, Verdict
from warpwright.core.signature import flatten
from warpwright.core.task import Case, Draw, Role, Task
from warpwright.emulate.cases import edge_cases, granules
from warpwright.emulate.conclusion import TrialOutcome, concluded, counterexample_of, refutes, wrong_in
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.findings import Finding, findings
from warpwright.emulate.program.calls import EmulatedCall, Order
from warpwright.emulate.program.runner import Runner
from warpwright.emulate.program.running import Ran
from warpwright.emulate.report import Report, Tier
from warpwright.emulate.staging import Execution, Stage, Trial, changed
from warpwright.emulate.truths import Truths
from warpwright.oracle.compare.distance import distance
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.inputs.draws import check_draws, draws_of
from warpwright.oracle.truth.expected import Expected
from warpwright.oracle.truth.reference import Tensors
from warpwright.seal.cache import Store
from warpwright.seal.capture.calls import storage_bytes
from warpwright.seal.capture.observe import failure
from warpwright.seal.capture.traced import TracedLaunch
from warpwright.seal.refusal import Refusal, Refused

_MOST_REORDERED = 1 << 19
"""The largest size of a case that also runs in other orders: small cases show effects of order."""
_AT_ONCE = 1 << 18
"""The number of elements of a case up to which all distributions run together."""
_SHIFTED_PER_TYPE = 2


@dataclass(slots=True, kw_only=True)
class Examination:
    task: Task
    cases: Sequence[Case]
    store: Store
    truths: Truths = field(init=False)

    def __post_init__(self) -> None:
        self.truths = Truths(task=self.task, store=self.store)

    def prepare(self) -> None:
        """Makes inputs and truth of the first draws, which do not depend on the program."""
        for draw in self._turns()[0]:
            self._expected(draw)

    def of(self, runner: Runner, sizes: Sequence[int] | None = None) -> Emulation:
        """Runs the check draws, and edge cases only if they pass.

        `sizes` are the edges to test, for a comparison with another kernel; the kernel's own by default.
        """
        outcomes: list[TrialOutcome] = []
        for draws in self._turns():
            if not any(refutes(outcome) for outcome in outcomes):
                kept = filter(self._has_budget, draws)
                outcomes += self._taken(runner, [Trial(draw=draw) for draw in kept])
        cut = granules(_blocks(outcomes))
        beyond = None
        if not any(refutes(outcome) for outcome in outcomes):
            dtypes = sorted({case.dtype for case in self.cases})
            edges = edge_cases(self.task, cut if sizes is None else sizes, dtypes)
            outcomes += self._taken(runner, self._hurting(edges if self.task.is_general else ()))
            if not self.task.is_general and not any(refutes(outcome) for outcome in outcomes):
                beyond = counterexample_of(list(self._outcomes(runner, self._beyond(edges))))
        return replace(concluded(outcomes), granules=cut, beyond=beyond)

    def sampled(self, runner: Runner, blocks: int, draws: Sequence[Draw] = ()) -> Emulation:
        """Runs draws, by default the check draws, with at most `blocks` blocks of each launch: the first, the last and
        some in between.
        """
        if len(entries(self.task)) > 1 or self.task.mutates:
            return Emulation(
                verdict=Verdict.UNDECIDED, reason="a sample of blocks cannot check kept state or changed arguments"
            )
        trials = [Trial(draw=draw, blocks=blocks) for draw in draws or self._draws()]
        return concluded(list(self._taken(runner, trials)))

    def _draws(self) -> list[Draw]:
        names = {case.name for case in self.cases if case.role is Role.CHECK}
        return [draw for draw in check_draws(self.task) if draw.case.name in names]

    def _turns(self) -> list[list[Draw]]:
        """All draws at once; if a case is large, those of the first distribution first, since they may refute
        already."""
        draws = self._draws()
        if all(elements(self.task, draw.case) <= _AT_ONCE for draw in draws):
            return [draws]
        first = [draw for draw in draws if draw.distribution == self.task.distributions[0]]
        return [first, [draw for draw in draws if draw not in first]]

    def _has_budget(self, draw: Draw) -> bool:
        """Whether the reference stays finite on a draw. It must do so only on what was asked for."""
        try:
            return bool(self._expected(draw))
        except TaskError:
            is_asked = draw.case.role is not Role.ENVELOPE and draw.distribution == self.task.distributions[0]
            if self.task.suite or is_asked:
                raise
            return False

    def _beyond(self, edges: Sequence[Case]) -> list[Trial]:
        """The trials beyond the task's cases: reordered runs and the edges of this kernel."""
        made_up = [case for case in self.cases if case.role is Role.ENVELOPE]
        found = (*draws_of(self.task, made_up), *self._at_edges(edges))
        return [Trial(draw=draw) for draw in found if self._has_budget(draw)]

    def _taken(self, runner: Runner, trials: Sequence[Trial]) -> Iterator[TrialOutcome]:
        """Like `_outcomes`, but ends when host code fails in a case of the task, which settles the verdict."""
        for outcome in self._outcomes(runner, trials):
            if outcome.refusal is not None and not outcome.is_rejected:
                raise Refused(outcome.refusal)
            yield outcome

    def _hurting(self, edges: Sequence[Case]) -> list[Trial]:
        first = {draw.case.name: draw for draw in reversed(self._draws())}
        small = [draw for draw in first.values() if self._size(draw) <= _MOST_REORDERED]
        orders = (Order.REVERSE, Order.SHUFFLED)
        trials = [Trial(draw=draw, order=order) for draw in small for order in orders]
        trials += [Trial(draw=draw, order=orders[draw.seed % 2]) for draw in self._at_edges(edges)]
        trials += [Trial(draw=draw, again=True) for draw in sorted(small, key=self._size)[:1]]
        return trials + [Trial(draw=draw, shifted=True) for draw in _some_of_each_type(small)]

    def _at_edges(self, edges: Sequence[Case]) -> Iterator[Draw]:
        """The first two edge cases (large and tall) with every distribution; the others with one distribution each."""
        kinds = self.task.distributions
        for number, case in enumerate(edges):
            for kind in kinds if number < 2 else (kinds[number % len(kinds)],):
                yield Draw(case=case, distribution=kind, seed=number)

    def _size(self, draw: Draw) -> int:
        return sum(storage_bytes(item) for spec in arguments(self.task, draw.case) for item in flatten(spec))

    def _stage(self, draw: Draw) -> Stage:
        return self.truths.of(draw).stage

    def _expected(self, draw: Draw) -> tuple[Expected, ...]:
        return self.truths.of(draw).expected

    def _outcomes(self, runner: Runner, trials: Sequence[Trial]) -> Iterator[TrialOutcome]:
        executions = self._executed(runner, trials, prepared=may_prepare(self.task))
        lines = _lines(runner, [done.ran for found in executions for done in found])
        for trial, found in zip(trials, executions, strict=True):
            yield self._outcome(trial, found, lines)

    def _executed(self, runner: Runner, trials: Sequence[Trial], *, prepared: bool) -> list[list[Execution]]:
        """The calls of every trial, entry by entry; starts again if the candidate has no `prepare`."""
        stages = [self._stage(trial.draw) for trial in trials]
        executions: list[list[Execution]] = [[] for _ in trials]
        for steps in zip(*(stage.steps(prepared=prepared) for stage in stages), strict=True):
            asked = [
                stage.call(step, trial, earlier)
                for stage, step, trial, earlier in zip(stages, steps, trials, executions, strict=True)
            ]
            calls = {number: call for number, call in enumerate(asked) if call is not None}
            ran = runner.run(list(calls.values()))
            if prepared and ran and _is_absent(ran[0]):
                return self._executed(runner, trials, prepared=False)
            for (number, call), done in zip(calls.items(), ran, strict=True):
                executions[number].append(Execution(step=steps[number], call=call, ran=done))
        return executions

    def _outcome(self, trial: Trial, executions: Sequence[Execution], lines: Mapping[int, int]) -> TrialOutcome:
        found = [item for done in executions for item in self._found(trial, done, lines)]
        undecided = next((why for done in executions if (why := _undecided(trial, done))), None)
        refusal = next((no for done in executions if (no := _refusal(trial, done))), None)
        values, mistake, far = None, None, None
        if undecided is None and refusal is None and not any(item.tier is Tier.FATAL for item in found):
            values = self._values(trial, [done for done in executions if done.step.is_timed])
            mistake = _mutation(trial, executions) or self._mismatch(trial, values)
            far = distance(self._expected(trial.draw), values) if values and not mistake else None
        return TrialOutcome(
            trial=trial,
            ran=tuple(done.ran for done in executions),
            results=values,
            found=tuple(found),
            wrong=mistake,
            distance=far,
            undecided=undecided,
            refusal=refusal,
        )

    def _values(self, trial: Trial, executions: Sequence[Execution]) -> Tensors | None:
        if not executions:
            return None
        stage = self._stage(trial.draw)
        values = stage.results(executions)
        if values is None or trial.blocks is None:
            return values
        return stage.only_written(executions[0].ran, values, [item.value for item in self._expected(trial.draw)])

    def _found(self, trial: Trial, done: Execution, lines: Mapping[int, int]) -> list[Finding]:
        call, ran = done.call, done.ran
        if ran.report is None:
            return []
        if ran.report.sampled:
            # Later launches may have read results of skipped blocks.
            first = tuple(item for item in ran.report.findings if not item.launch)
            ran = replace(ran, report=replace(ran.report, findings=first))
        assert ran.report is not None
        names = _buffer_names(call, ran.report, [spec.name for spec in results(self.task, trial.draw.case)])
        return findings(ran.report, lines, names, trial.label, trial.order)

    def _mismatch(self, trial: Trial, values: Tensors | None) -> Counterexample | None:
        if values is None:
            return wrong_in(trial, "returns", "a returned tensor does not lie within its buffer", {})
        mismatch = check_results(self._expected(trial.draw), values)
        return wrong_in(trial, mismatch.kind, mismatch.message, mismatch.facts) if mismatch else None


def _lines(runner: Runner, ran: Sequence[Ran]) -> Mapping[int, int]:
    reported = [item for done in ran if done.report for item in done.report.findings]
    return runner.lines({item.code for item in reported} | {item.other.code for item in reported if item.other})


def _mutation(trial: Trial, executions: Sequence[Execution]) -> Counterexample | None:
    name = next((name for done in executions if (name := changed(done))), None)
    return wrong_in(trial, "mutation", f"{name} was changed; the task does not allow it", {}) if name else None


def _blocks(outcomes: Sequence[TrialOutcome]) -> list[Triple]:
    """The distinct block shapes of all launches."""
    traces = [ran.report.trace for outcome in outcomes for ran in outcome.ran if ran.report]
    launches = [node for trace in traces for node in trace.nodes if isinstance(node, TracedLaunch)]
    return list(dict.fromkeys(launch.block for launch in launches))


def _some_of_each_type(draws: Sequence[Draw]) -> list[Draw]:
    by_type: dict[str, list[Draw]] = {}
    for draw in draws:
        by_type.setdefault(draw.case.dtype, []).append(draw)
    return [draw for group in by_type.values() for draw in group[-_SHIFTED_PER_TYPE:]]


def _buffer_names(call: EmulatedCall, report: Report, outputs: Sequence[str]) -> list[str]:
    """Names the buffers: arguments and results by their names, the others as scratch."""
    names = [tensor.name for spec in call.arguments for tensor in flatten(spec)]
    names += [f"scratch buffer {number}" for number in range(len(names), len(report.trace.buffers))]
    for view, output in zip(report.trace.returns, outputs, strict=False):
        if isinstance(view, View) and view.buffer >= len(call.contents):
            names[view.buffer] = output
    return names


def _is_absent(ran: Ran) -> bool:
    """Whether the program does not bind the requested entry."""
    return ran.report is not None and (ran.report.trace.outcome, ran.report.trace.what) == ("error", "entry")


def _refusal(trial: Trial, done: Execution) -> Refusal | None:
    """The refusal of the host code, in the words of sealing."""
    if done.ran.report is None or done.ran.report.trace.outcome == "captured":
        return None
    return failure(done.ran.report.trace, done.call.entry, trial.draw.case.name).refusal


def _undecided(trial: Trial, done: Execution) -> str | None:
    """The reason why this call is undecided; None if it is not."""
    report, ended = done.ran.report, done.ran.ended
    if report is None:
        how = ended.excess if ended.reason else f"died ({ended.signal})"
        return f"case {trial.label}: the emulated program {how}"
    if report.trace.outcome != "captured":
        return None
    if report.outcome in ("unsupported", "library"):
        return f"unsupported: {report.what}"
    if report.outcome == "budget":
        return f"case {trial.label}: still running when its steps were used up ({report.what})"
    if report.sampling is not None:
        return f"case {trial.label}: a sample of blocks is not valid here: {report.sampling}"
    return None if report.outcome in ("ran", "stopped") else f"case {trial.label}: {report.outcome}"
