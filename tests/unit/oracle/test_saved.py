"""Saved tensors come from one forward pass: a value derived from a rounded one agrees with it."""

from dataclasses import replace

import pytest

from warpwright.core.task import Draw, Role
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.truth.expected import expectations, scenario
from warpwright.tasks import load


@pytest.mark.parametrize("seed", range(4))
def test_gradients_from_saved_tensors_pass_under_heavy_cancellation(seed):
    (task,) = load("add_rmsnorm:backward")
    base = next(case for case in task.cases_of(Role.CHECK) if case.dtype == "fp16")
    draw = Draw(case=replace(base, name="narrow", dims={"N": 64, "D": 1}), seed=seed)
    given = scenario(task, draw)
    total, rstd = given.saves[0].float(), given.saves[1][:, None]
    normed, summed = (gradient.float() for gradient in given.gradients)
    scaled = normed * given.arguments[2].float()
    mean = (scaled * total).mean(-1, keepdim=True)
    grad = (summed + scaled * rstd - total * mean * rstd**3).half()
    weight = (normed * total * rstd).sum(0).half()
    assert check_results(expectations(task, draw, given), [grad, grad, weight]) is None
