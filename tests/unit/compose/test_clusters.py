"""Rows that a cluster of blocks keeps: which ones, and what their text must have to be right, and fast."""

from __future__ import annotations

from functools import cache

import pytest

from warpwright.compose import plan as plan_of
from warpwright.tasks import load


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return plan_of(task).write(genome)


def test_what_is_read_when_a_cluster_has_met_is_on_its_way_before() -> None:
    text = source("modern/log_softmax:backward", row_shared=0)
    meeting = text.index("sum_of_grad_y = row_reduce<Sum, THREADS>(sum_of_grad_y);")
    assert text.index("prefetch_l2(y + row * columns + column);") < meeting
    assert "prefetch_l2(" not in source("modern/log_softmax:forward")


def test_a_row_that_is_too_long_for_a_block_is_kept_by_a_cluster() -> None:
    text = source("modern/log_softmax:forward", row_shared=0)
    assert "if (!launch_log_softmax_rows_clustered<scalar_t>(x, y, N, D)) {" in text
    assert "if (packs > 18432 && packs <= 20480 && rows >= 33)\n" in text
    assert "return run(log_softmax_rows_clustered_kernel<T, VEC, 256, 10, 3, 8>, 256, 3);" in text
    assert "return run(log_softmax_rows_clustered_kernel<T, VEC, 512, 10, 3, 4>, 512, 3);" in source(
        "modern/log_softmax:forward", row_shared=0, row_cluster=4
    )
    assert "clustered" not in source("modern/log_softmax:forward", row_cluster=0)


def test_the_blocks_of_a_cluster_meet_once_for_all_that_a_pass_has_found() -> None:
    clustered = source("modern/log_softmax:forward").partition("clustered_kernel(")[2].partition("\n}\n")[0]
    assert clustered.count("cluster.sync();") == 2
    met = clustered.rindex("cluster.sync();")
    assert clustered.rindex("map_shared_rank(&total_of[rank], threadIdx.x) = total;") < met
    assert "map_shared_rank" not in clustered[met:]


def test_long_rows_are_left_to_clusters_where_these_keep_all_multiprocessors_busy() -> None:
    text = source("modern/group_norm_silu:forward")
    assert "if (packs > 38912 && packs <= 40960 && rows >= 33)\n" in text
    assert "return run(group_norm_silu_rows_clustered_kernel<T, VEC, 256, 20, 13, 8>, 256, 13);" in text
    assert "if (packs > 8192 && packs <= 10240)\n" in text


def test_a_cluster_that_expects_more_keeps_less() -> None:
    """What is expected lies in the cache, which would not hold it."""
    text = source("modern/log_softmax:backward")
    assert "prefetch_l2(y + row * columns + column);" in text
    assert "clustered_kernel<T, VEC, 512, 8, 0, 8>, 512, 0);" in text
    assert "clustered_kernel<T, VEC, 256, 16, 9, 8>, 256, 9);" in source("modern/log_softmax:forward")


def test_a_cluster_keeps_only_what_is_read_again() -> None:
    clustered = source("modern/log_softmax:backward", row_shared=0).partition("bool launch_")[0]
    assert "OnChipRow<T, VEC, THREADS, ITEMS, IN_SHARED> grad_y_kept(shared_memory);" in clustered
    assert "y_kept(shared_memory);" not in clustered.replace("grad_y_kept", "")


@pytest.mark.parametrize(
    "name", ["modern/cross_entropy:forward", "modern/argmax:forward", "modern/add_rmsnorm:forward"]
)
def test_rows_that_are_read_once_or_fit_a_block_need_no_cluster(name: str) -> None:
    assert "cluster" not in source(name)
