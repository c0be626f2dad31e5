"""The oracle on a GPU: the same bits as everywhere, and torch's own results accepted at the declared precision."""

from dataclasses import replace

import pytest
import torch

from warpwright.core.dtypes import DTYPES
from warpwright.core.task import Role
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.inputs.distributions import DISTRIBUTIONS, INITS, Source
from warpwright.oracle.inputs.draws import check_draws
from warpwright.oracle.truth.expected import expectations, scenario
from warpwright.oracle.truth.reference import evaluate, function
from warpwright.tasks import all_tasks, load

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_inputs_have_the_same_bits_as_on_the_cpu(name):
    for dtype in ("fp32", "fp16"):
        made = [
            DISTRIBUTIONS[name](Source(seed=3, name="x", shape=(17, 4099), dtype=DTYPES[dtype], device=device)).cpu()
            for device in ("cpu", "cuda")
        ]
        assert torch.equal(made[0].view(torch.int32), made[1].view(torch.int32))


@pytest.mark.parametrize("name", sorted(INITS))
def test_parameters_have_the_same_bits_as_on_the_cpu(name):
    for recipe in INITS[name]:
        made = [
            recipe(Source(seed=3, name="w", shape=(65, 33), dtype=DTYPES["fp32"], device=device)).cpu()
            for device in ("cpu", "cuda")
        ]
        assert torch.equal(made[0].view(torch.int32), made[1].view(torch.int32))


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.key)
def test_torch_on_the_gpu_is_accepted_at_equal_precision(task):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = task.tolerance.tf32
    for draw in check_draws(task, seed=11):
        given = scenario(task, draw, "cuda")
        expected = expectations(task, draw, given)
        used = given.copy()
        found = evaluate(task, draw.case, function(task.reference), used.arguments, used.gradients, used.saves)
        results = [tensor.contiguous() for tensor in found]
        mismatch = check_results(expected, results)
        assert mismatch is None, (draw.case.name, draw.distribution, mismatch.kind, mismatch.message)


def test_tf32_on_the_gpu_is_refuted_in_a_strict_task():
    task = next(task for task in load("matmul") if task.direction == "forward")
    draw = next(draw for draw in check_draws(task) if draw.case.dtype == "fp32" and draw.case.dims["K"] > 32)
    given = scenario(task, draw, "cuda")
    expected = expectations(task, draw, given)
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        used = given.copy()
        found = evaluate(task, draw.case, function(task.reference), used.arguments, [], [])
        assert check_results(expected, found) is not None
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


def test_expected_values_of_a_timed_case_fit_into_gpu_memory():
    task = next(task for task in load("llama_rmsnorm") if task.direction == "forward")
    case = task.cases_of(Role.TIME)[0]
    draw = replace(check_draws(task)[0], case=case)
    given = scenario(task, draw, "cuda")
    expected = expectations(task, draw, given)
    assert check_results(expected, [expected[0].value.to(given.arguments[0].dtype)]) is None
