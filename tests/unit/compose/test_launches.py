"""Launches: which kernels share one, and how those that do not follow each other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from warpwright.compose.kernels.pointwise.horizontal_fusion import can_share


def test_elements_of_several_counts_share_a_launch_where_none_needs_another(composed) -> None:
    found = composed("modern/rope_cache:forward")
    assert found.strategies()[0] == ["horizontal fusion"]
    (launcher,) = [function for function in found.functions if function.launches]
    assert len(launcher.launches) == 1
    assert "horizontal fusion" not in composed("modern/swiglu:training").serving()


def test_what_one_step_leaves_for_the_next_shares_no_launch() -> None:
    works = [played("x", "y"), played("y", "z")]
    assert not can_share(works)
    assert not can_share(works[::-1])
    assert can_share([played(reads, reads * 2) for reads in ("a", "b")])


def played(reads: str, writes: str) -> Any:
    return SimpleNamespace(reads=frozenset({reads}), writes=frozenset({writes}))


def test_kernels_of_one_call_follow_each_other_without_a_pause(composed) -> None:
    """Every kernel waits once, at first or after it has fetched arguments of the call; every launch is early."""
    found = composed("paper/layernorm:backward")
    assert len(found.kernels) > 3
    for kernel in found.kernels:
        assert len(kernel.waits) == 1
        assert kernel.waits == [0] or min(kernel.calls("fetch")) < kernel.waits[0]
    launches = [launch for function in found.functions for launch in function.launches]
    assert launches
    assert all(launch.is_early for launch in launches)


def test_arguments_of_the_call_are_read_before_the_kernel_waits(composed) -> None:
    finish = composed("paper/layernorm:forward").function("_finish_kernel")
    (wait,) = finish.waits
    for name in ("x", "weight", "bias"):
        assert max(finish.calls("load_words", reading=(name,))) < wait
    assert min(finish.calls("fetch")) < wait < min(finish.reads("statistics_mean_parts_1"))


def test_what_the_call_itself_has_made_is_read_after_that(composed) -> None:
    """A softmax of what a library leaves."""
    found = composed("modern/linear_cross_entropy:forward")
    assert found.function("_pass_1_kernel").waits == [0]
    assert not [kernel.name for kernel in found.kernels if kernel.waits and kernel.waits != [0]]


def test_a_kernel_by_itself_is_launched_plainly(composed) -> None:
    for found in (composed("modern/log_softmax:forward"), composed("paper/layernorm:backward", overlap="none")):
        assert not [kernel.name for kernel in found.kernels if kernel.waits]
        assert not any(launch.is_early for function in found.functions for launch in function.launches)
