"""Seals a candidate: compiles its source to device code and a launch plan for every case, without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from warpwright.core.calls import entry_calls, input_specs
from warpwright.core.candidate import Candidate
from warpwright.core.launch.plan import Plan
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Task
from warpwright.seal import artefact, toolchain
from warpwright.seal.cache import Store, default_root
from warpwright.seal.job import SealJob
from warpwright.seal.refusal import Refusal, Refused, refuted

MOST_SOURCE_BYTES = 4 << 20


def seal(
    task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
) -> Sealed | Refusal:
    """The sealed candidate, or the reason why it cannot be sealed; from the store if it is there. Only faults of ours
    raise.

    A scaled-down case that the host code rejects is left out, since it is not part of the task.
    """
    store = store or Store(root=default_root())
    kept = list(task.asked if cases is None else cases)
    while isinstance(outcome := _sealed(task, candidate, kept, store), Refusal):
        name = outcome.counterexample.case if outcome.counterexample else None
        rejected = next((case for case in kept if case.name == name and case.stands_for), None)
        if rejected is None:
            break
        kept.remove(rejected)
    return outcome


def _sealed(task: Task, candidate: Candidate, cases: Sequence[Case], store: Store) -> Sealed | Refusal:
    key = _key(task, candidate, cases)
    folder = store.find(key)
    found = (artefact.read(folder) or artefact.read_refusal(folder)) if folder else None
    return found or _sealed_now(task, candidate, cases, store, key)


def _sealed_now(task: Task, candidate: Candidate, cases: Sequence[Case], store: Store, key: str) -> Sealed | Refusal:
    try:
        sealed = _made(task, candidate, cases, store, key)
    except Refused as refused:
        refusal = refused.refusal
        store.make(key, lambda place: artefact.write_refusal(refusal, place))
        return refusal
    store.make(key, lambda place: artefact.write(sealed, place))
    return sealed


def _key(task: Task, candidate: Candidate, cases: Sequence[Case]) -> str:
    asked = [(case.name, input_specs(task, case), entry_calls(task, case, prepared=True)) for case in cases]
    return toolchain.key_of(candidate, task.mutates, asked)


def _made(task: Task, candidate: Candidate, cases: Sequence[Case], store: Store, key: str) -> Sealed:
    """Captures the cases without stored plans; the other plans come from the store.

    A case that is both checked and timed has one name and one plan.
    """
    _check_text(candidate.source)
    cases = list({case.name: case for case in cases}.values())
    places = {case.name: _key(task, candidate, [case]) + "-plan" for case in cases}
    known = {name: plans for name, place in places.items() if (plans := _plans(store, place))}
    fresh = [case for case in cases if case.name not in known]
    with store.staging() as folder:
        job = SealJob(task=task, candidate=candidate, cases=fresh, store=store, folder=folder)
        sealed = job.sealed(key)
    for case in fresh:
        known[case.name] = tuple(plan for plan in sealed.plans if plan.case == case.name)
        store.make(places[case.name], partial(artefact.write_plans, known[case.name]))
    return artefact.with_hashes(replace(sealed, plans=_entry_by_entry([known[case.name] for case in cases])))


def _plans(store: Store, key: str) -> tuple[Plan, ...] | None:
    folder = store.find(key)
    return artefact.read_plans(folder) if folder else None


def _entry_by_entry(by_case: Sequence[Sequence[Plan]]) -> tuple[Plan, ...]:
    """The first entry of all cases, then the next: the order in which they were captured."""
    return tuple(plan for entry in zip(*by_case, strict=True) for plan in entry)


def _check_text(source: str) -> None:
    try:
        size = len(source.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise refuted("source", "the source is not text") from None
    if size > MOST_SOURCE_BYTES:
        message = f"the source has {size >> 20} MiB; {MOST_SOURCE_BYTES >> 20} MiB are allowed"
        raise refuted("source-size", message)
