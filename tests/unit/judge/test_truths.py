"""Truths: small draws are computed where that is quicker, and say the same of a result."""

import pytest
import torch

from warpwright.core.task import Role
from warpwright.judge import truths
from warpwright.judge.truths import Truths
from warpwright.oracle.draws import check_draws
from warpwright.oracle.reference import evaluate, function
from warpwright.tasks import load


@pytest.fixture(scope="module")
def draw_and_results():
    (task,) = load("llama_rmsnorm:backward")
    draw = next(draw for draw in check_draws(task, 7) if draw.case.role is Role.CHECK and draw.case.dtype == "bf16")
    given = Truths(task, "cpu").scenario(draw)
    return (
        task,
        draw,
        evaluate(task, draw.case, function(task.reference), given.arguments, given.gradients, given.saves),
    )


@pytest.mark.parametrize("small", [0, 1 << 30])
def test_what_is_right_is_right_wherever_the_truth_is_computed(draw_and_results, monkeypatch, small):
    task, draw, results = draw_and_results
    monkeypatch.setattr(truths, "SMALL", small)
    assert Truths(task, "cpu").check(draw, results) is None
    wrong = [torch.zeros_like(results[0]), *results[1:]]
    assert Truths(task, "cpu").check(draw, wrong) is not None


def test_small_draws_go_to_the_cpu_and_large_ones_stay(draw_and_results, monkeypatch):
    task, draw, _ = draw_and_results
    asked = []
    found = Truths(task, "meta")
    found._scenarios[truths.content_id(draw)] = Truths(task, "cpu").scenario(draw)
    monkeypatch.setattr(truths, "expectations", lambda task, draw, given, runs: asked.append(given) or ())
    for small in (0, 1 << 30):
        monkeypatch.setattr(truths, "SMALL", small)
        found._expected.clear()
        found._expectations(draw, 2)
    assert [given.gradients[0].device.type for given in asked] == ["meta", "cpu"]
