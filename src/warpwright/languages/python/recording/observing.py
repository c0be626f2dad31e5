"""The calls of a candidate in several processes, compared: Python code that depends on more than its arguments differs.

One process makes the calls in order and then again, another in the opposite order and in another address space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.calls import EntryCall, argument_specs
from warpwright.core.candidate import Candidate
from warpwright.core.codec import encode
from warpwright.core.gpus.table import gpu_named
from warpwright.core.signature import Spec, flatten
from warpwright.core.task import Case, Task
from warpwright.languages.python.form import Form
from warpwright.languages.python.record import Answer, CompiledKernel, Extension, Record
from warpwright.languages.python.recording.extensions import Builder
from warpwright.languages.python.recording.process import Ran, run
from warpwright.sandbox.run import Finished
from warpwright.seal.cache import Store
from warpwright.seal.capture.calls import gpu_facts
from warpwright.seal.refusal import Refused, refuted, undecided


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a candidate's Python code did in every case, and what it compiled."""

    records: Mapping[str, Record]
    """By case."""
    rejected: Mapping[str, str]
    """Why it rejects a case, by its name."""
    extensions: Mapping[str, Extension]
    """By number."""
    kernels: Mapping[str, CompiledKernel] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Observer:
    task: Task
    candidate: Candidate
    step: EntryCall
    form: Form
    store: Store
    builder: Builder

    def observe(self, cases: Sequence[Case], again: bool = True) -> Observed:
        """Observes the cases; `again` says whether to compare several processes and calls."""
        backwards = list(reversed(cases))
        with ThreadPoolExecutor(2) as pool:
            one = pool.submit(self._process, [*cases, *cases] if again else cases, 0)
            other = pool.submit(self._process, backwards, 1) if again else None
            first, second = one.result(), other.result() if other else None
        answers = dict(zip((case.name for case in cases), first.answers, strict=False))
        self._check(first, cases)
        if second:
            self._check(second, backwards)
            repeated = dict(zip((case.name for case in cases), first.answers[len(cases) :], strict=False))
            _compare(answers, dict(zip((case.name for case in backwards), second.answers, strict=False)))
            _compare(answers, repeated)
        return Observed(
            records={name: answer.record for name, answer in answers.items() if answer.record},
            rejected={name: answer.message for name, answer in answers.items() if not answer.record},
            extensions={str(number): extension for number, extension in sorted(self.builder.built.items())},
            kernels=first.kernels,
            notes=first.notes,
        )

    def once(self, calls: Sequence[Sequence[Spec]]) -> Ran:
        """Makes calls with other arguments, in one process."""
        return run(self._order(calls, 0), self.candidate.source, self.store, self.builder.answer)

    def _process(self, cases: Sequence[Case], space: int) -> Ran:
        specs = [argument_specs(self.task, case, self.step) for case in cases]
        return run(self._order(specs, space), self.candidate.source, self.store, self.builder.answer)

    def _order(self, specs: Sequence[Sequence[Spec]], space: int) -> dict[str, Any]:
        reference = self.task.reference
        held = len(reference.state) if reference.style == "module" else 0
        inputs = [list(found[: len(found) - held]) for found in specs]
        return {
            "form": self.form.style,
            "entry": self.form.entry,
            "space": space,
            "gpu": gpu_facts(gpu_named(self.candidate.flags.gpu)),
            "reference": reference.source if reference.style == "module" else "",
            "reference_entry": reference.entry,
            "init": list(reference.init),
            "init_named": dict(reference.init_named),
            "state": [
                {**encode(spec), "name": name}
                for name, spec in zip(reference.state if held else (), specs[0][-held:] if held else (), strict=True)
            ],
            "first": sum(len(flatten(spec)) for spec in inputs[0]),
            "calls": [[encode(spec) for spec in call] for call in inputs],
        }

    def _check(self, ran: Ran, cases: Sequence[Case]) -> None:
        """Refuses what ended a call of a case that was asked for, or the process."""
        for answer, case in zip(ran.answers, [*cases, *cases], strict=False):
            is_spare = case not in self.task.asked or case.stands_for is not None
            if answer.record is None and not (answer.outcome == "error" and is_spare):
                raise failure(answer, self.form, case.name)
        if len(ran.answers) < len(cases):
            raise _death(ran.done)


def _compare(one: Mapping[str, Answer], other: Mapping[str, Answer]) -> None:
    for case in one.keys() & other.keys():
        if one[case] != other[case]:
            raise refuted(
                "stateful-host-code", f"the host code keeps state: {_difference(one[case], other[case])}", case=case
            )


def _difference(one: Answer, other: Answer) -> str:
    if one.record is None or other.record is None:
        return f"one call ends with '{one.message or one.outcome}', another with '{other.message or other.outcome}'"
    left, right = one.record.steps, other.record.steps
    if len(left) != len(right):
        return f"one call did {len(left)} device operations, another {len(right)}"
    number = next((i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a != b), None)
    if number is None:
        return "what it returns differs from one call to another"
    return f"device operation {number} ({left[number].KIND}) differs from one call to another"


def failure(answer: Answer, form: Form, case: str) -> Refused:
    """The refusal for Python code that did not end normally."""
    where = f" (line {answer.line})" if answer.line else ""
    match answer.outcome:
        case "unsupported":
            return undecided(f"unsupported: {answer.what}{where}")
        case "reads_device_data":
            message = f"host code reads device data ({answer.what}), so no launch plan can replace it"
            return refuted("reads-device-data", message, case=case, line=answer.line)
        case "error":
            message = f"{form.entry} {_ERRORS.get(answer.what, 'fails')}: {answer.message}"
            return refuted(answer.what or "error", message, case=case, line=answer.line)
    return refuted("trace", f"the recording process reported '{answer.outcome:.40}'", case=case)


_ERRORS = {"exception": "raises", "stateful-host-code": "keeps state", "host-exit": "does not return"}


def _death(done: Finished) -> Refused:
    facts = {"signal": done.signal, "returncode": done.returncode, "limit": done.reason}
    done.blame_machine("recording Python code")
    if done.reason is not None:
        return refuted("host-limit", f"host code {done.excess}", facts=facts)
    if done.signal is not None:
        return refuted("host-crash", f"host code died of signal {done.signal}", facts=facts)
    last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
    return refuted("host-exit", f"host code ended the process with status {done.returncode} ({last:.200})", facts=facts)
