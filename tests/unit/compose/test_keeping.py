"""Rows in registers and shared memory: which ones, by whom, and what their text must have to be fast."""

from __future__ import annotations

from functools import cache

import pytest

from warpwright.compose import plan as plan_of
from warpwright.compose.kernels.rows.onchip import IN_REGISTERS, items_in_shared, items_of
from warpwright.compose.schedule.row_shapes import shared_packs
from warpwright.core.gpus.table import gpu_named
from warpwright.tasks import load

H200 = gpu_named("h200")


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return plan_of(task).write(genome)


def kernel_of(text: str, name: str) -> str:
    return text[text.index(f"{name}(") :].partition("\n}\n")[0]


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


def test_a_row_that_is_too_long_for_registers_is_kept_by_one_block() -> None:
    text = source("modern/log_softmax:forward")
    assert "if (!launch_log_softmax_rows_resident<scalar_t>(x, y, N, D)) {" in text
    assert "return run(log_softmax_rows_resident_kernel<T, VEC, 1024, 19, 12>, 12);" in text
    assert "resident" not in source("modern/log_softmax:forward", row_shared=0)


def test_rows_that_only_a_cluster_can_keep_are_left_to_it() -> None:
    """513 KB in float32, 304 in bfloat16."""
    text = source("modern/log_softmax:forward")
    assert text.index("rows_resident<scalar_t>(") < text.index("if (!launch_log_softmax_rows_clustered<scalar_t>(")
    assert "return run(log_softmax_rows_clustered_kernel<T, VEC, 256, 16, 9, 8>, 256, 9);" in text
    assert "clustered_kernel<T, VEC, 256, 10, 3, 8>" not in text


def test_the_next_row_is_asked_for_when_this_one_is_stored() -> None:
    kernel = " ".join(kernel_of(source("modern/log_softmax:forward"), "log_softmax_rows_resident_kernel").split())
    stored = kernel.index("store<VEC>(y + row * columns + column, y_out);")
    asked = kernel.index("x_kept.fetch(item, x + (row + gridDim.x) * columns + column);")
    assert stored < asked
    assert "__pipeline_commit();" in kernel[asked:]
    assert kernel.index("__pipeline_wait_prior(0);") < kernel.index("float largest = -INFINITY")


def test_the_largest_and_the_sum_are_one_meeting() -> None:
    kernel = kernel_of(source("modern/log_softmax:forward"), "log_softmax_rows_resident_kernel")
    assert kernel.count("row_online_softmax<THREADS>(") == 1
    assert "row_reduce<" not in kernel


def test_two_tensors_of_a_row_leave_half_as_much_room_in_registers() -> None:
    """32000 columns in float32 would take 64 registers of each thread for two tensors, of which one is read again."""
    text = source("modern/log_softmax:backward")
    assert "rows < 132 || packs <= 4096 || packs > 19456" in text
    assert "resident_kernel<T, VEC, 1024, 8, 1>, 1);" in text


def test_one_row_that_all_multiprocessors_share_is_read_once() -> None:
    text = source("paper/layernorm:forward")
    kernel = kernel_of(text, "layernorm_rows_cooperative_kernel")
    assert kernel.count("x + row * columns + column") == 1
    assert kernel.count("grid.sync();") == 1
    assert kernel.index("statistics_mean_parts_1[row * pieces + piece] =") < kernel.index("grid.sync();")
    assert "launch_cooperative(" in text
    assert "cooperative" not in source("paper/layernorm:forward", row_shared=0)


def test_gradients_that_need_no_sum_are_left_before_all_have_met() -> None:
    kernel = kernel_of(source("paper/layernorm:backward"), "layernorm_backward_of_one_row_rows_cooperative_kernel")
    met = kernel.index("grid.sync();")
    assert kernel.index("store<VEC>(grad_weight + ") < met
    assert kernel.index("store<VEC>(grad_bias + ") < met < kernel.index("store<VEC>(grad_x + ")


def test_nothing_lies_in_shared_memory_where_registers_suffice() -> None:
    assert items_in_shared(IN_REGISTERS, 1) == 0
    assert items_in_shared(IN_REGISTERS + 1, 1) == 1
    assert items_in_shared(2, 3) == 0
    assert items_in_shared(8, 2, in_registers=5) == 6


def test_weights_are_sent_for_before_all_have_met() -> None:
    kernel = kernel_of(source("paper/layernorm:forward"), "layernorm_rows_cooperative_kernel")
    first, met = kernel.index("fetch(0);"), kernel.index("grid.sync();")
    assert kernel.index("moments.take(values, item == 0);") < first < met
    assert kernel.index("unpack<T, VEC>(bias_words);") < kernel.index("fetch(item + 1);")


def test_a_product_is_remembered_in_place_of_its_factors() -> None:
    kernel = kernel_of(source("paper/layernorm:backward"), "layernorm_backward_of_one_row_rows_cooperative_kernel")
    assert kernel.count("grad_y + row * columns + column") == kernel.count("weight + row * columns + column") - 1 == 1
    assert kernel.count("x + row * columns + column") == 2  # one of them is where its gradient goes
    put, met = kernel.index("scaled_made_kept.put(item, scaled_made);"), kernel.index("grid.sync();")
    assert put < met < kernel.index("unpack_each_pass<float, VEC>(scaled_made_kept[item])")
    assert "scaled_made" not in kernel.partition(") {")[0]


def test_only_the_last_pack_of_a_thread_may_lie_beyond_the_row() -> None:
    text = source("paper/layernorm:forward")
    assert "if (item < ITEMS - 1 || column < end) {" in kernel_of(text, "layernorm_rows_cooperative_kernel")
    assert "if (packs - (pieces - 1) * share <= (items - 1) * 1024) return false;" in text
    assert "if (items == 8) return run(layernorm_rows_cooperative_kernel<T, VEC, 1024, 8, 3>, 3);" in text


@pytest.mark.parametrize("name", ["modern/group_norm_silu:forward", "modern/softmax:forward", "modern/argmax:forward"])
def test_others_do_not_wait_for_all(name: str) -> None:
    assert "grid.sync()" not in source(name)


def test_what_is_opened_in_every_pass_takes_no_registers_in_between() -> None:
    text = source("modern/softmax:forward")
    assert "= unpack_each_pass<T, VEC>(x_kept[item]);" in text
    assert "= unpack<T, VEC>(x_words[p]);" in text
    assert "unpack_each_pass<T, VEC>(x_words" not in text
