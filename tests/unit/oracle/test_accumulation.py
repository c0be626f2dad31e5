"""Sums in the orders that honest kernels use."""

import pytest
import torch

from warpwright.oracle.compare.results import check_results
from warpwright.oracle.inputs.draws import check_draws
from warpwright.oracle.truth.expected import expectations, scenario
from warpwright.tasks import load


def begun_with_the_bias(x, weight, bias):
    """Sequential fused multiply-adds in fp32, starting with the bias: the usual way to write it."""
    total = bias.expand(len(x), -1).clone()
    for k in range(x.shape[1]):
        total = (x[:, k : k + 1].double() * weight[:, k].double() + total.double()).float()
    return total


@pytest.mark.parametrize("seed", range(3))
def test_a_sum_may_start_with_its_addend(seed):
    """If the products are tiny beside the bias, each addition rounds the bias again."""
    (task,) = load("mnist_linear:forward")
    wanted = [draw for draw in check_draws(task, seed) if draw.case.dtype == "fp32" and draw.distribution == "tiny"]
    draw = max(wanted, key=lambda draw: draw.case.dims["I"])
    given = scenario(task, draw)
    mismatch = check_results(expectations(task, draw, given), [begun_with_the_bias(*given.arguments)])
    assert mismatch is None, mismatch.message


def test_a_bias_in_half_precision_is_still_refuted():
    (task,) = load("mnist_linear:forward")
    wanted = [draw for draw in check_draws(task) if draw.case.dtype == "fp32" and draw.distribution == "tiny"]
    draw = max(wanted, key=lambda draw: draw.case.dims["I"])
    given = scenario(task, draw)
    x, weight, bias = given.arguments
    found = torch.nn.functional.linear(x, weight, bias.half().float())
    assert check_results(expectations(task, draw, given), [found]) is not None
