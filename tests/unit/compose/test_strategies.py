"""Strategies: which kinds of kernels serve a group on a target, and which knobs have an effect."""

from __future__ import annotations

import re
from functools import cache

import pytest

from warpwright.compose import Composable, configs
from warpwright.compose import plan as plan_of
from warpwright.compose.errors import CannotCompose
from warpwright.compose.kernels.registry import chosen, strategies
from warpwright.compose.kernels.site import sites_of
from warpwright.compose.schedule.knobs import variations_of
from warpwright.core.gpus.table import GPUS, gpu_named
from warpwright.tasks import all_tasks, load


@cache
def planned(name: str, gpu: str = "h200") -> Composable:
    (task,) = load(name)
    return plan_of(task, gpu)


def names(name: str, gpu: str = "h200", **config: object) -> list[list[str]]:
    """The strategies of every group of a task's first entry point."""
    plan = planned(name, gpu)
    found = [chosen(site, {**plan.usual, **config}) for site in sites_of(plan.entries[0])]
    return [[strategy.name for strategy, _ in choice] for choice in found]


def test_strategies_have_names_and_knobs_of_their_own() -> None:
    found = strategies()
    assert len({strategy.name for strategy in found}) == len(found) > 10
    for gpu in GPUS.values():
        for knob in (knob for strategy in found for knob in strategy.knobs(gpu)):
            assert knob.default in knob.values
            assert all(value in knob.values for value in knob.variations.values())


def test_rows_that_do_not_fit_into_registers_are_kept_by_a_block_or_a_cluster_where_there_are_clusters() -> None:
    assert names("modern/log_softmax:forward") == [["block", "cluster", "rows"]]
    assert names("modern/log_softmax:forward", row_cluster=0, row_shared=0) == [["rows"]]
    assert names("modern/group_norm_silu:forward") == [["cluster", "split", "rows"]]
    assert "cluster" not in names("modern/group_norm_silu:forward", "a100-80gb")[0]


def test_few_long_rows_are_kept_by_all_blocks_or_cut_into_pieces() -> None:
    assert names("paper/layernorm:forward") == [["cooperative", "split", "rows"]]


def test_a_product_with_one_row_is_a_gemv() -> None:
    (choice,) = names("modern/int8_linear:forward")[:1]
    assert choice[0] == "gemv"


def test_column_sums_beside_rows_are_one_kernel_where_rows_can_be_kept() -> None:
    (choice,) = names("paper/llama_rmsnorm:backward")
    assert choice == ["rows and columns", "rows, then columns"]


def by_text(plan: Composable) -> dict[str, tuple[object, ...]]:
    return configs.effective(plan.knobs, plan.usual, plan.text)


@pytest.mark.parametrize("name", ["modern/log_softmax:forward", "modern/cumsum:forward", "modern/swiglu:forward"])
def test_the_knobs_that_strategies_say_have_an_effect_are_those_that_change_the_text(name: str) -> None:
    plan = planned(name)
    assert list(plan.space().items()) == list(by_text(plan).items())


@pytest.mark.corpus
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("gpu", ["h200", "a100-80gb"])
def test_the_knobs_with_an_effect_are_those_that_change_the_text_in_every_task(gpu: str) -> None:
    for task in all_tasks():
        try:
            plan = plan_of(task, gpu)
        except CannotCompose:
            continue
        assert list(plan.space().items()) == list(by_text(plan).items()), task.key


def test_no_two_variants_are_the_same_and_the_default_is_the_first() -> None:
    plan = planned("modern/softmax:forward")
    found = plan.variants(5)
    assert found[0] == plan.default()
    assert len({plan.text(config) for config in found}) == len(found) > 1


def test_variations_are_numbered_by_what_is_most_telling() -> None:
    knobs = planned("modern/softmax:forward").knobs
    assert variations_of(knobs)[0]["row_items"] == 2


def test_knobs_count_multiprocessors_of_the_target() -> None:
    l4 = planned("paper/layernorm:backward", "l4")
    values = dict(l4.space())["column_blocks"]
    assert values == tuple(count * gpu_named("l4").sms for count in (4, 8, 16))
    assert "overlap" not in l4.space()


def test_a_target_without_programmatic_launch_gets_none() -> None:
    text = planned("modern/cross_entropy:forward", "a100-80gb").write({})
    assert "griddepcontrol" not in text
    assert "griddepcontrol" in planned("modern/cross_entropy:forward").write({})


def test_no_count_of_another_gpu_is_left_in_a_source() -> None:
    """An L4 has 58 multiprocessors; 132 is that of an H200."""
    for name in ("paper/layernorm:forward", "modern/adamw:forward", "paper/mnist_linear_relu:backward"):
        assert not re.search(r"\b(132|264|528|1056|2112|4224)\b", planned(name, "l4").write({})), name
