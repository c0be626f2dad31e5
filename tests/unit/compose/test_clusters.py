"""Rows that a cluster of blocks keeps: which ones, with how much of them where, and the order of what is done."""

from __future__ import annotations

import pytest

from warpwright.compose.kernels.rows.cluster import Tile


def test_what_is_read_after_a_barrier_of_the_cluster_is_prefetched_before(composed) -> None:
    backward = composed("modern/log_softmax:backward", row_shared=0).function("clustered_kernel")
    assert max(backward.calls("prefetch_l2", reading=("y",))) < min(
        backward.calls("row_reduce", reading=("sum_of_grad_y",))
    )
    assert not composed("modern/log_softmax:forward").function("clustered_kernel").calls("prefetch_l2")


def test_a_row_that_is_too_long_for_a_block_is_kept_by_a_cluster(composed) -> None:
    (eight,) = composed("modern/log_softmax:forward", row_shared=0).shapes("cluster")
    assert eight[1] == 8
    assert Tile(threads=2048, items=10, in_shared=3) in eight[2]
    (four,) = composed("modern/log_softmax:forward", row_shared=0, row_cluster=4).shapes("cluster")
    assert four[1] == 4
    assert Tile(threads=2048, items=10, in_shared=3) in four[2]
    assert "cluster" not in composed("modern/log_softmax:forward", row_cluster=0).serving()


def test_the_blocks_of_a_cluster_synchronise_once_for_all_that_a_pass_has_found(composed) -> None:
    kernel = composed("modern/log_softmax:forward").function("clustered_kernel")
    start, combined = [place for place in kernel.barriers if kernel.statements[place].value.text == "cluster.sync()"]
    shared = [*kernel.assigns("largest_of"), *kernel.assigns("total_of")]
    assert all(start < place < combined for place in shared)


def test_long_rows_are_left_to_clusters_where_these_keep_all_multiprocessors_busy(composed) -> None:
    (shape,) = composed("modern/group_norm_silu:forward").shapes("cluster")
    assert Tile(threads=2048, items=20, in_shared=13) in shape[2]
    tests = composed("modern/group_norm_silu:forward").function("rows_clustered").conditions
    assert any("packs > 38912 && packs <= 40960" in test and "rows >= 33" in test for test in tests)


def test_a_cluster_that_prefetches_more_keeps_less(composed) -> None:
    """What is prefetched lies in the cache, which would not hold it."""
    backward, forward = (composed(f"modern/log_softmax:{way}").shapes("cluster")[0] for way in ("backward", "forward"))
    assert backward[2] == (Tile(threads=4096, items=8, in_shared=0),)
    assert forward[2] == (Tile(threads=2048, items=16, in_shared=9),)


def test_a_cluster_keeps_only_what_is_read_again(composed) -> None:
    kernel = composed("modern/log_softmax:backward", row_shared=0).function("clustered_kernel")
    assert kernel.reads("grad_y_kept")
    assert not kernel.reads("y_kept")


@pytest.mark.parametrize(
    "name", ["modern/cross_entropy:forward", "modern/argmax:forward", "modern/add_rmsnorm:forward"]
)
def test_rows_that_are_read_once_or_fit_a_block_need_no_cluster(composed, name: str) -> None:
    assert "cluster" not in composed(name).serving()
