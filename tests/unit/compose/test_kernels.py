"""Kernels: how rows are tiled, what is loaded, computed and stored in which order, and what is asked of the target."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.compose.code.passes.headers import is_called
from warpwright.compose.ir.sizes import Cases
from warpwright.compose.kernels.rows.launch import tiles
from warpwright.core.task import Role

CONFIG = {"vector_bytes": 16, "warp_items": 4, "warp_rows": 4, "row_items": 4}


@pytest.mark.parametrize(
    ("columns", "width", "expected"),
    [
        (128, 4, (32, 1, 4)),
        (128, 2, (16, 1, 8)),
        (4096, 2, (128, 4, 1)),
        (4096, 4, (256, 4, 1)),
        (5120, 2, (160, 4, 1)),
        (8, 2, (4, 1, 32)),
    ],
)
def test_a_row_that_is_timed_gets_threads_that_fit_it(columns: int, width: int, expected: tuple[int, int, int]) -> None:
    cases = Cases([{"D": columns}], widths=[width])
    (tile,) = tiles(cases.size("D"), cases, CONFIG)
    assert (tile.threads, tile.items, tile.rows) == expected
    assert tile.packs * 16 >= columns * width


@pytest.mark.parametrize(("columns", "expected"), [(4096, (512, 2)), (10240, (512, 5)), (32768, (1024, 8))])
def test_a_longer_row_takes_no_more_registers_than_it_must(columns: int, expected: tuple[int, int]) -> None:
    cases = Cases([{"D": columns}], widths=[4])
    (tile,) = tiles(cases.size("D"), cases, {**CONFIG, "row_items": 1})
    assert (tile.threads, tile.items) == expected


def test_rows_that_no_block_can_keep_have_no_tile() -> None:
    cases = Cases([{"D": 1 << 20}], widths=[4])
    assert tiles(cases.size("D"), cases, CONFIG) == []


def test_all_loads_of_a_thread_are_under_way_before_the_first_is_used(composed) -> None:
    kernel = composed("modern/swiglu:forward", map_packs=4).function("_elements_kernel")
    loads = [*kernel.calls("load", reading=("gate",)), *kernel.calls("load", reading=("up",))]
    assert max(loads) < min(kernel.declares("gate_k"))
    assert kernel.extent("gate_pack") == kernel.extent("up_pack") == "4"


def test_a_long_row_is_loaded_several_packs_at_a_time(composed) -> None:
    kernel = composed("modern/cross_entropy:forward", stream_unroll=8).function("rows_streamed")
    assert kernel.extent("logits_words") == "8"
    assert max(kernel.calls("load_words", reading=("logits",))) < min(kernel.calls("unpack", reading=("logits_words",)))
    assert not composed("modern/cross_entropy:forward", stream_unroll=1).function("rows_streamed").reads("logits_words")


def test_several_tensors_share_the_loads_that_may_be_under_way(composed) -> None:
    kernel = composed("modern/log_softmax:backward", stream_unroll=8).function("rows_streamed")
    assert kernel.extents("grad_y_words") == ["8", "4"]  # Alone in the first pass, with y in the second.


def test_what_is_read_again_is_read_from_its_end(composed) -> None:
    """The end of what the first kernel has read is still in the cache."""
    found = composed("modern/softmax:forward")
    assert found.function("_pass_1_kernel").value("row") == "blockIdx.y"
    assert found.function("_finish_kernel").value("row") == "gridDim.y - 1 - blockIdx.y"


def test_gradients_of_groups_and_of_channels_take_two_readings(composed) -> None:
    found = composed("modern/group_norm_silu:backward")
    assert not [name for name in found.names if "_pass_2" in name]
    reading = [item.name for item in found.kernels if item.calls("load_words", reading=("x",))]
    assert len([name for name in reading if name.endswith("_streamed")]) == 2
    host = found.function("backward")
    assert [len(host.calls(f"launch_group_norm_silu_backward_rows{which}")) for which in ("", "_2", "_3")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("((x - x.mean(-1, keepdim=True)) ** 4).sum(-1)", 2),
        ("(x - x.mean(-1, keepdim=True)).sum(-1)", 2),
        ("(x.exp() - (x * x).sum(-1, keepdim=True) * x / 7).sum(-1)", 1),
    ],
)
def test_a_sum_shares_the_pass_of_a_sum_in_which_it_is_linear(function_of, body: str, passes: int) -> None:
    names = function_of("x", f"return {body}", "8,400000:fp32").names
    assert len([name for name in names if re.search(r"_pass_\d_kernel$", name)]) == passes


def test_coarse_results_divide_by_a_reciprocal_and_correct_the_quotient(composed) -> None:
    kernel = composed("modern/add_rmsnorm_fp8_dynamic:forward").function("rows_kept")
    assert kernel.calls("divided", reading=("normed", "scale_of_row", "over_scale_of_row"))
    assert len(kernel.declares("over_scale_of_row")) == 1


def test_eight_bits_are_rounded_in_packs(composed) -> None:
    """The conversion clamps by itself; where the function clamps too, once is enough."""
    kernel = composed("modern/swiglu_fp8:forward").function("_elements_kernel")
    assert kernel.extent("quantised_out") == "VEC"
    (stored,) = kernel.calls("store")
    assert kernel.statements[stored].value.text.endswith("saturated_e4m3(quantised_out))")
    assert not any("448" in item.text for item in kernel.expressions)
    assert composed("modern/add_rmsnorm_fp8_dynamic:forward").function("rows_kept").calls("to_e4m3")


@pytest.mark.parametrize("limits", ["-448, 440", "-440, 448", "max=448"])
def test_other_limits_than_those_of_eight_bits_are_kept(function_of, limits: str) -> None:
    (kernel,) = function_of("x", f"return x.clamp({limits}).to(torch.float8_e4m3fn)", "64,128:fp32").kernels
    assert kernel.calls("to_e4m3")


def test_a_knob_bounds_the_registers(composed) -> None:
    bounded, free = composed("paper/llama_rmsnorm:forward", row_crowd=1024), composed("paper/llama_rmsnorm:forward")
    assert bounded.shapes("rows") != free.shapes("rows")
    heads = [found.function("rows_kept").item.head.split() for found in (bounded, free)]
    assert len(heads[0]) > len(heads[1])


def test_few_long_rows_take_one_kernel_for_each_pass_and_one_more(composed) -> None:
    for name in ("modern/softmax:forward", "paper/layernorm:forward"):
        split = [
            item
            for item in composed(name).names
            if item.endswith(("_pass_1_kernel", "_pass_2_kernel", "_finish_kernel"))
        ]
        assert len(split) == 2
    assert composed("modern/argmax:forward").function("_pass_1_kernel").assigns("best_at_parts_1")


def test_mean_and_variance_of_long_rows_are_one_pass(composed) -> None:
    kernel = composed("paper/layernorm:forward").function("rows_streamed")
    assert len(kernel.loops_over("first")) == 2
    assert kernel.calls("merge", reading=("statistics", "values"))


def test_channels_of_a_group_are_found_by_fast_division(composed) -> None:
    found = composed("modern/group_norm_silu:forward")
    assert [
        kernel.name for kernel in found.kernels if "FastDivisor" in {given.type for given in kernel.item.parameters}
    ]
    kernel = found.function("rows_streamed")
    assert kernel.value("part_of_row") == "(row % groups) * C_per_groups"
    assert kernel.reads("weight", "part_of_row", "H_x_W")


@pytest.mark.parametrize(
    "name",
    ["modern/softmax:training", "modern/argmax:forward", "modern/embedding:backward", "paper/mnist_pool:backward"],
)
def test_a_kernel_is_given_what_it_uses(composed, name: str) -> None:
    kernels = composed(name).kernels
    assert kernels
    for kernel in kernels:
        read = {word for item in kernel.expressions for word in item.names}
        opaque = "\n".join(kernel.item.lines).partition(") {")[2]
        assert [word for word in kernel.parameters if word not in read and not re.search(rf"\b{word}\b", opaque)] == []


def test_a_source_includes_what_it_uses(composed) -> None:
    assert composed("modern/matmul:forward").headers == {"torch/extension.h"}
    assert "cmath" in composed("modern/adamw:forward").headers
    assert {"optional", "tuple"} <= composed("paper/unet_conv2d:backward").headers
    assert not is_called("store", composed("modern/argmax:forward").items)


@pytest.mark.parametrize("name", ["modern/rope_cache:forward", "modern/group_norm_silu:backward"])
def test_names_are_those_that_cpp_leaves_to_us(composed, name: str) -> None:
    """Two underscores in a row are the compiler's."""
    for function in composed(name).functions:
        declared = {node.name for node in function.statements if isinstance(getattr(node, "name", None), str)}
        assert [word for word in declared | set(function.parameters) | {function.name} if "__" in word] == []


def test_a_parameter_that_is_a_product_of_sizes_is_named_after_them(composed) -> None:
    parameters = {name for kernel in composed("modern/group_norm_silu:backward").kernels for name in kernel.parameters}
    assert "H_x_W_x_C_per_groups" in parameters
    assert {"minus_V", "V_minus_1"} <= set(
        composed("modern/embedding:backward").function("_elements_kernel").parameters
    )


def test_lines_are_no_longer_than_a_reader_likes(composed) -> None:
    for name in ("modern/rope_cache:forward", "paper/mnist_pool:forward", "paper/layernorm:backward"):
        plan = composed(name).plan
        lines = plan.write(plan.default()).split("\n")
        assert [line for line in lines if len(line) > 120 and not line.startswith("//")] == []


@pytest.mark.parametrize(
    ("name", "most"),
    [("paper/layernorm:backward", 16), ("paper/mnist_linear:backward", 128), ("modern/bias_gelu:backward", None)],
)
def test_few_rows_are_added_up_by_single_threads_and_some_by_single_blocks(
    composed, name: str, most: int | None
) -> None:
    found = composed(name)
    (launcher,) = [item for item in found.functions if item.name.endswith("columns") and not item.item.is_kernel
                   and "and_columns" not in item.name]  # fmt: skip
    assert [test for test in launcher.conditions if test.startswith("rows <= ")] == (
        [f"rows <= {most} && columns > 0"] if most else []
    )


def test_elements_share_a_launch_after_other_steps_too(function_of) -> None:
    sums = "sums = (x.cumsum(-1) * 2).cumsum(-1)"
    found = function_of("x", f"{sums}\n    return sums.t() * 2, sums[:, : x.size(1) // 2] + 1", "64,128:fp32")
    names = [choice[0] for choice in found.strategies()]
    assert names.index("scan") < names.index("horizontal fusion")


@given(size=st.integers(1, 2**31 - 1), position=st.integers(0, 2**31 - 1))
def test_a_product_and_a_shift_divide(size: int, position: int) -> None:
    shift = (size - 1).bit_length()
    factor = (((1 << shift) - size) << 32) // size + 1
    assert factor < 2**32
    raised = (position * factor >> 32) + position
    assert raised < 2**32
    assert raised >> shift == position // size


def test_positions_that_take_several_divisions_leave_time_for_one_pack(composed) -> None:
    ((_, packs, _),) = composed("modern/rope:forward").shapes("map")[:1]
    ((_, more, _),) = composed("modern/bias_gelu:forward").shapes("map")
    assert (packs, more) == (1, 2)


def test_short_rows_that_make_no_whole_packs_are_kept_too(composed) -> None:
    tests = composed("paper/mnist_cross_entropy:forward").function("launch_mnist_cross_entropy_rows").conditions
    assert "columns <= 16" in tests
    assert "columns <= 16" not in composed("modern/softmax:forward").function("launch_softmax_rows").conditions


def test_small_products_have_a_kernel_and_large_ones_a_library(composed) -> None:
    host = composed("paper/mnist_linear:training").function("forward")
    assert any("small_products" in test for test in host.conditions)
    assert host.assigns("y"), "the library where the kernel declines"
    for name in ("modern/matmul:forward", "paper/llama_ffw:forward"):
        assert composed(name).serving() <= {"library", "map", "rows"}


def test_slices_of_an_output_are_written_by_streaming_stores(composed) -> None:
    assert composed("modern/rope:forward").config["stores"] == "streaming"
    assert composed("modern/swiglu:forward").config["stores"] == "plain"


def test_a_number_of_a_row_divides_once(composed) -> None:
    """All elements are multiplied by its reciprocal."""
    for kernel in composed("modern/softmax:forward").kernels:
        places = kernel.declares("over_sum")
        assert len(places) <= 1
        assert not places or min(kernel.calls("store")) > places[0]


@pytest.mark.parametrize(("name", "fast"), [("softmax", True), ("swiglu", True), ("swiglu_fp8", False)])
def test_coarse_results_take_the_precise_exponential(composed, name: str, fast: bool) -> None:
    found = composed(f"modern/{name}:forward")
    called = {function for kernel in found.kernels for item in kernel.expressions for function in item.functions}
    assert bool({"fast_exp<T>", "sigmoid<T>"} & {function.text for function in called}) is fast


def test_variants_differ_and_begin_with_the_default(composed) -> None:
    plan = composed("modern/softmax:forward").plan
    configs = plan.variants(6)
    assert configs[0] == plan.default()
    assert len({plan.text(config) for config in configs}) == 6


def test_a_knob_that_changes_nothing_is_no_knob(composed) -> None:
    space = composed("paper/llama_rmsnorm:forward").plan.space()
    assert "math" not in space
    assert "split_block" not in space


@pytest.mark.parametrize(
    ("body", "dtype", "has_quads"),
    [
        ("F.max_pool2d(x, 2)", "fp32", True),
        ("F.max_pool2d(x, 3)", "fp32", False),
        ("F.max_pool2d(x, 2, padding=1)", "fp32", False),
        ("F.avg_pool2d(x, 2)", "fp32", False),
        ("F.max_pool2d(x.exp(), 2)", "fp32", False),
        ("F.max_pool2d(x.float().cumsum(-1), 2)", "bf16", False),
    ],
)
def test_windows_of_two_by_two_are_read_by_packs(function_of, body: str, dtype: str, has_quads: bool) -> None:
    found = function_of("x", f"return {body}", f"2,3,12,12:{dtype}")
    (launcher,) = [item for item in found.functions if item.name.startswith("launch_") and "windows" in item.name]
    assert any(node.value.text == "quads_kernel<T>" for node in launcher.lets) is has_quads


def test_windows_of_known_sides_are_unrolled(composed) -> None:
    found = composed("paper/mnist_pool:forward")
    assert found.function("windows_kernel").value("side") == "SIDE > 0 ? SIDE : kernel_size"
    tests = found.function("launch_mnist_pool_windows").conditions
    assert {"small && kernel_size == 2", "small && kernel_size == 3"} <= set(tests)


def test_overlapping_windows_add_up_in_shared_memory(composed) -> None:
    """Of several short rows at a time; values and places are fetched while shared memory is cleared."""
    (kernel,) = composed("paper/mnist_pool:backward").kernels
    (added,) = kernel.calls("atomicAdd")
    assert added in kernel.reads("places") or "places" in kernel.statements[added].value.text
    (cleared,) = (place for place, node in enumerate(kernel.statements) if node in kernel.clears)
    assert min(kernel.calls("fetch")) < cleared < min(kernel.barriers) < added < max(kernel.barriers)


def test_values_and_positions_of_top_k_come_from_one_kernel(composed) -> None:
    found = composed("modern/topk_gating:forward")
    assert [choice for choice in found.strategies() if "top-k" in choice] == [["top-k"]]


def test_two_softmaxes_of_a_row_have_names_of_their_own(function_of) -> None:
    found = function_of("x", "return torch.softmax(x, -1) * torch.softmax(x * x, -1)", "8,40000:fp32")
    kernel = found.function("rows_streamed")
    assert all(kernel.declares(name) for name in ("scores", "highest", "scores_2", "highest_2"))


def test_a_reduction_over_a_middle_dimension_is_left_for_the_elements(function_of) -> None:
    found = function_of("x", "return x / x.square().mean(1, keepdim=True).sqrt()", "4,16,40:fp32")
    assert [choice[-1] for choice in found.strategies()] == ["rows", "map"]


def test_words_of_cpp_are_no_names(function_of) -> None:
    body = "return torch.where(~((x > 0) & (x < 1)), x, x * x) * (~((x > 0) & (x < 1)))"
    (kernel,) = function_of("x", body, "4,64:fp32").kernels
    assert not kernel.declares("not")


def test_the_cases_that_are_timed_are_known(composed) -> None:
    plan = composed("modern/softmax:forward").plan
    assert len(plan.graph.cases.timed) == len(plan.task.cases_of(Role.TIME))
    assert set(plan.graph.cases.widths) == {2, 4}


def test_each_gradient_of_a_convolution_is_a_call_of_its_own_and_that_of_the_bias_a_sum(composed) -> None:
    found = composed("paper/unet_conv2d:backward")
    assert [choice[-1] for choice in found.strategies()] == ["library", "library", "rows", "columns"]
    host = found.function("backward")
    assert host.value("grad_bias") == "torch::empty_like(bias)"


def test_several_sums_of_a_row_are_reduced_together(composed) -> None:
    names = ("sum", "sum_of_scaled", "sum_of_twice_centred", "sum_2", "sum_of_grad_normed")
    kernel = composed("modern/group_norm_silu:backward").function("backward_rows_streamed")
    assert len(kernel.calls("row_reduce_all", reading=names)) == 1
    assert not kernel.calls("row_reduce")
    softmax = composed("modern/softmax:forward").function("rows_streamed")
    assert not softmax.calls("row_reduce_all")
