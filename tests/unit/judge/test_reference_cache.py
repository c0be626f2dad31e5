"""Expected values: small draws are computed on the CPU by several workers, with the same result as anywhere else."""

from dataclasses import replace

import pytest
import torch

from warpwright.core.errors import TaskError
from warpwright.judge.checks import reference_cache as references
from warpwright.judge.checks.reference_cache import ReferenceCache, ReferenceCaches
from warpwright.judge.checks.reference_workers import ReferenceWorkers
from warpwright.oracle.inputs.draws import check_draws
from warpwright.oracle.truth.expected import FEW_RUNS, scenario
from warpwright.oracle.truth.reference import evaluate, function
from warpwright.tasks import load


@pytest.fixture(scope="module")
def task():
    (task,) = load("llama_rmsnorm:backward")
    return task


@pytest.fixture(scope="module")
def draws(task):
    return [draw for draw in check_draws(task, 7) if draw.case.dtype == "bf16"][:3]


@pytest.fixture(scope="module")
def reference_workers():
    reference_workers = ReferenceWorkers(2)
    yield reference_workers
    reference_workers.close()


def results(task, draw):
    given = ReferenceCache(task, "cpu").scenario(draw)
    return evaluate(task, draw.case, function(task.reference), given.arguments, given.gradients, given.saves)


@pytest.mark.parametrize("small", [0, 1 << 30])
def test_results_are_judged_the_same_wherever_expected_values_are_computed(task, draws, monkeypatch, small):
    monkeypatch.setattr(references, "SMALL", small)
    right = results(task, draws[0])
    assert ReferenceCache(task, "cpu").check(draws[0], right) is None
    assert ReferenceCache(task, "cpu").check(draws[0], [torch.zeros_like(right[0]), *right[1:]]) is not None


def test_small_draws_are_computed_on_the_cpu_and_large_ones_on_the_device(task, draws, monkeypatch):
    asked = []
    monkeypatch.setattr(references, "expected_on_cpu", lambda *_: asked.append("cpu") or ())
    monkeypatch.setattr(references, "expectations", lambda *_: asked.append("there") or ())
    for small in (0, 1 << 30):
        monkeypatch.setattr(references, "SMALL", small)
        ReferenceCache(task, "cpu").expected(draws[0], FEW_RUNS)
    assert asked == ["there", "cpu"]


def test_workers_compute_the_same_values_as_this_process(task, draws, reference_workers, monkeypatch):
    foreseen, plain = ReferenceCache(task, "cpu"), ReferenceCache(task, "cpu")
    foreseen.prefetch(draws, reference_workers)
    wanted = [plain.expected(draw, FEW_RUNS) for draw in draws]
    monkeypatch.setattr(references, "expected_on_cpu", None)  # nothing is computed here any more
    found = [foreseen.expected(draw, FEW_RUNS) for draw in draws]
    for one, other in zip(found, wanted, strict=True):
        assert [item.name for item in one] == [item.name for item in other]
        assert all(torch.equal(a.value, b.value) for a, b in zip(one, other, strict=True))
        assert all(torch.equal(a.spread, b.spread) for a, b in zip(one, other, strict=True))


def test_no_draw_is_submitted_twice(task, draws, monkeypatch):
    asked = []

    class Counting:
        def submit(self, task, draw, runs):
            asked.append(draw)

    known = ReferenceCache(task, "cpu")
    known.expected(draws[0], FEW_RUNS)
    known.prefetch(draws[:1], Counting())
    assert asked == []
    known.prefetch(draws, Counting())
    assert asked == draws[1:]


def test_a_reference_that_fails_in_a_worker_raises_its_error_in_the_judge(task, draws, reference_workers):
    reference = replace(task.reference, source="def forward(x, weight, eps):\n    return x.fold(3)\n", backward=None)
    broken = ReferenceCache(replace(task, reference=reference, saves=()), "cpu")
    broken.prefetch(draws[:1], reference_workers)
    with pytest.raises(TaskError, match="AttributeError"):
        broken.expected(draws[0], FEW_RUNS)


def test_without_a_spare_core_no_worker_is_started(task, draws):
    assert ReferenceWorkers(0).submit(task, draws[0], FEW_RUNS) is None


def test_gradients_keep_their_layout_on_another_device(task):
    layouts = {draw.case.layout: draw for draw in check_draws(task, 7)}
    for draw in layouts.values():
        here = scenario(task, draw)
        assert [item.stride() for item in here.on("meta").gradients] == [item.stride() for item in here.gradients]
    assert any(0 in gradient.stride() for draw in layouts.values() for gradient in scenario(task, draw).gradients)


def test_a_forward_pass_records_no_gradients():
    forward, training = (load(f"llama_rmsnorm:{direction}")[0] for direction in ("forward", "training"))
    assert not scenario(forward, next(iter(check_draws(forward, 7)))).gradients
    assert scenario(training, next(iter(check_draws(training, 7)))).gradients


def test_caches_of_other_tasks_are_evicted_when_memory_runs_short(task, monkeypatch):
    caches, held = ReferenceCaches(), []
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: sum(held))
    other = load("softmax:forward")[0]
    first = caches.of(task)
    assert caches.of(other) is not first
    assert caches.of(task) is first
    held.append(references.MOST_BYTES + 1)
    second = caches.of(other)
    assert caches.of(other) is second
    assert caches.of(task) is not first
