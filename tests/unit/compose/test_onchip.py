"""Rows in registers and shared memory: which ones, in which kernel, and the order in which they are read and stored."""

from __future__ import annotations

import pytest

from warpwright.compose.kernels.rows import block, cluster, cooperative
from warpwright.compose.kernels.rows.onchip import IN_REGISTERS, items_in_shared, items_of
from warpwright.compose.schedule.row_shapes import shared_packs
from warpwright.core.gpus.table import gpu_named

H200 = gpu_named("h200")


@pytest.mark.parametrize(("packs", "tensors"), [(8193, 1), (20480, 1), (9000, 2), (5000, 3)])
def test_what_is_kept_fits_into_registers_and_shared_memory(packs: int, tensors: int) -> None:
    items = items_of(packs, 1024, tensors, H200)
    assert items is not None
    assert items * 1024 >= packs
    in_shared = items_in_shared(items, tensors)
    assert 0 < in_shared < items
    assert in_shared * tensors <= shared_packs(H200)
    assert (items - in_shared) * tensors <= IN_REGISTERS


def test_what_does_not_fit_is_not_kept() -> None:
    assert items_of(20481, 1024, 1, H200) is None
    assert items_of(9217, 1024, 2, H200) is None
    assert items_of(1024, 1024, 8, H200) is None


def test_a_row_that_is_too_long_for_registers_is_kept_by_one_block(composed) -> None:
    found = composed("modern/log_softmax:forward")
    assert found.shapes("block") == [(16, (block.Tile(items=19, in_shared=12),))]
    assert "block" not in composed("modern/log_softmax:forward", row_shared=0).serving()


def test_rows_that_only_a_cluster_can_keep_are_left_to_it(composed) -> None:
    """513 KB in float32, 304 in bfloat16."""
    found = composed("modern/log_softmax:forward")
    assert found.strategies() == [["block", "cluster", "rows"]]
    ((_, _, tiles),) = found.shapes("cluster")
    assert tiles == (cluster.Tile(threads=2048, items=16, in_shared=9),)


def test_the_next_row_is_fetched_when_this_one_is_stored(composed) -> None:
    kernel = composed("modern/log_softmax:forward").function("resident_kernel")
    (stored,) = kernel.calls("store")
    asked = max(kernel.reads("x_kept", "x", "columns"))
    assert stored < asked < max(kernel.calls("__pipeline_commit"))
    assert max(kernel.calls("__pipeline_wait_prior")) < min(kernel.declares("largest"))


def test_the_largest_and_the_sum_are_reduced_together(composed) -> None:
    kernel = composed("modern/log_softmax:forward").function("resident_kernel")
    assert len(kernel.calls("row_online_softmax")) == 1
    assert not kernel.calls("row_reduce")


def test_two_tensors_of_a_row_leave_half_as_much_room_in_registers(composed) -> None:
    """32000 columns in float32 would take 64 registers of each thread for two tensors, of which one is read again."""
    found = composed("modern/log_softmax:backward")
    assert found.shapes("block")[0][1][0] == block.Tile(items=8, in_shared=1)
    assert any("rows < 132" in test for test in found.function("rows_resident").conditions)


def test_one_row_that_all_multiprocessors_share_is_read_once(composed) -> None:
    found = composed("paper/layernorm:forward")
    kernel = found.function("rows_cooperative_kernel")
    assert len(kernel.reads("x", "columns")) == len(kernel.grid_barriers) == 1
    assert max(kernel.assigns("statistics_mean_parts_1")) < kernel.grid_barriers[0]
    assert found.function("rows_cooperative").calls("launch_cooperative")
    assert "cooperative" not in composed("paper/layernorm:forward", row_shared=0).serving()


def test_gradients_that_need_no_sum_are_stored_before_the_grid_barrier(composed) -> None:
    kernel = composed("paper/layernorm:backward").function("of_one_row_rows_cooperative_kernel")
    (barrier,) = kernel.grid_barriers
    early = [*kernel.calls("store", reading=("grad_weight",)), *kernel.calls("store", reading=("grad_bias",))]
    assert max(early) < barrier < min(kernel.calls("store", reading=("grad_x",)))


def test_nothing_lies_in_shared_memory_where_registers_suffice() -> None:
    assert items_in_shared(IN_REGISTERS, 1) == 0
    assert items_in_shared(IN_REGISTERS + 1, 1) == 1
    assert items_in_shared(2, 3) == 0
    assert items_in_shared(8, 2, in_registers=5) == 6


def test_weights_are_prefetched_before_the_grid_barrier(composed) -> None:
    kernel = composed("paper/layernorm:forward").function("rows_cooperative_kernel")
    (barrier,) = kernel.grid_barriers
    first, later = kernel.calls("fetch")
    assert max(kernel.reads("moments")) < barrier
    assert first < barrier < later
    assert max(kernel.calls("unpack", reading=("bias_words",))) < later


def test_a_product_is_cached_in_place_of_its_factors(composed) -> None:
    kernel = composed("paper/layernorm:backward").function("of_one_row_rows_cooperative_kernel")
    (barrier,) = kernel.grid_barriers
    put, taken = kernel.reads("scaled_made_kept", "scaled_made"), kernel.declares("scaled_made_pack")
    assert max(put) < barrier < min(taken)
    assert max(kernel.reads("grad_y", "columns")) < barrier
    assert "scaled_made" not in kernel.parameters


def test_a_piece_that_would_leave_a_thread_without_a_pack_is_declined(composed) -> None:
    """Only the last pack of a thread may lie beyond the row, so that all others are read without a test."""
    found = composed("paper/layernorm:forward")
    assert "packs - (pieces - 1) * share <= (items - 1) * 1024" in found.function("rows_cooperative").conditions
    assert found.shapes("cooperative")[0][3] == (cooperative.Tile(items=8, in_shared=3),)


@pytest.mark.parametrize("name", ["modern/group_norm_silu:forward", "modern/softmax:forward", "modern/argmax:forward"])
def test_others_do_not_wait_for_all(composed, name: str) -> None:
    assert not [kernel.name for kernel in composed(name).kernels if kernel.grid_barriers]


def test_packs_of_half_precision_stay_packed_between_passes(composed) -> None:
    """Kept packs are unpacked anew in each pass, streamed ones once."""
    found = composed("modern/softmax:forward")
    assert found.function("rows_kept").calls("unpack_each_pass", reading=("x_kept",))
    streamed = found.function("rows_streamed")
    assert streamed.calls("unpack", reading=("x_words",))
    assert not streamed.calls("unpack_each_pass")
