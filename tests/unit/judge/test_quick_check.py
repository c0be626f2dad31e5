"""The quick check accepts only correct results; everything else goes to the full check."""

from dataclasses import replace

import pytest
import torch

from warpwright.judge.checks.quick_check import allowances, matches_reference, reference_results
from warpwright.oracle.inputs.draws import check_draws
from warpwright.oracle.truth.expected import expectations, permuted_inputs, scenario
from warpwright.tasks import load

KEYS = ("llama_rmsnorm:forward", "cross_entropy:training", "adamw:forward", "argmax:forward", "rope:backward")


def one(key):
    (task,) = load(key)
    wanted = [draw for draw in check_draws(task) if draw.case.dtype == "fp32" and draw.distribution == "normal"]
    draw = max(wanted, key=lambda draw: sum(draw.case.dims.values()))
    return task, draw, scenario(task, draw)


@pytest.mark.parametrize("key", KEYS)
def test_the_reference_on_permuted_inputs_matches_itself_and_nothing_else(key):
    task, draw, given = one(key)
    like = allowances(expectations(task, draw, given))
    moved = permuted_inputs(task, draw, given)
    wanted = reference_results(task, draw, moved)
    assert bool(matches_reference(like, wanted, [item.clone() for item in wanted]))
    for number, item in enumerate(wanted):
        wrong = [other.clone() for other in wanted]
        wrong[number].view(-1)[0] = item.view(-1)[0] + (1 + item.abs().max())
        assert not bool(matches_reference(like, wanted, wrong))


@pytest.mark.parametrize("key", KEYS)
def test_nan_and_infinity_never_match(key):
    task, draw, given = one(key)
    like = allowances(expectations(task, draw, given))
    wanted = reference_results(task, draw, given)
    for number, item in enumerate(wanted):
        if item.is_floating_point():
            wrong = [other.clone() for other in wanted]
            wrong[number].view(-1)[0] = torch.nan
            assert not bool(matches_reference(like, wanted, wrong))


@pytest.mark.parametrize("key", KEYS)
def test_permuted_inputs_differ_but_keep_their_distribution(key):
    task, draw, given = one(key)
    moved = permuted_inputs(task, draw, given)
    changed = 0
    for argument, old, new in zip(task.arguments, given.arguments, moved.arguments, strict=True):
        for before, after in zip(*(value if isinstance(value, list) else [value] for value in (old, new)), strict=True):
            if not isinstance(before, torch.Tensor):
                assert before == after
                continue
            assert before.stride() == after.stride()
            old_values, new_values = before.flatten().sort().values, after.flatten().sort().values
            if before.is_floating_point() and not torch.equal(before, after):
                factor = float(new_values[-1] / old_values[-1])
                assert 0.8 <= factor <= 1.25, argument.name
                assert torch.allclose(old_values * factor, new_values), argument.name
            else:
                assert torch.equal(old_values, new_values), argument.name
            changed += not torch.equal(before, after)
    assert changed


def test_even_the_sum_over_all_inputs_differs_between_two_calls():
    task, draw, given = one("llama_rmsnorm:forward")
    sums = {float(permuted_inputs(task, replace(draw, seed=seed), given).arguments[0].abs().sum()) for seed in range(8)}
    assert len(sums) == 8
    assert max(sums) > 1.01 * min(sums)
