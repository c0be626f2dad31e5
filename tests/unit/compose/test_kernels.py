"""Kernels: what their text must have for them to be right, and fast."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.compose import plan as plan_of
from warpwright.compose.ir.sizes import Cases
from warpwright.compose.kernels.rows.launch import tiles
from warpwright.core.task import Role
from warpwright.tasks import load

GENOME = {"vector_bytes": 16, "warp_items": 4, "warp_rows": 4, "row_items": 4}


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return plan_of(task).write(genome)


@cache
def own(code: str, *inputs: str) -> str:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ref.py"
        path.write_text(f"import torch\nimport torch.nn.functional as F\n\ndef f(x):\n    return {code}\n")
        (task,) = load(f"{path}:f", inputs=list(inputs), direction="forward")
    return plan_of(task).write({})


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
    (tile,) = tiles(cases.size("D"), cases, GENOME)
    assert (tile.threads, tile.items, tile.rows) == expected
    assert tile.packs * 16 >= columns * width


@pytest.mark.parametrize(("columns", "expected"), [(4096, (512, 2)), (10240, (512, 5)), (32768, (1024, 8))])
def test_a_longer_row_takes_no_more_registers_than_it_must(columns: int, expected: tuple[int, int]) -> None:
    cases = Cases([{"D": columns}], widths=[4])
    (tile,) = tiles(cases.size("D"), cases, {**GENOME, "row_items": 1})
    assert (tile.threads, tile.items) == expected


def test_rows_that_no_block_can_keep_have_no_tile() -> None:
    cases = Cases([{"D": 1 << 20}], widths=[4])
    assert tiles(cases.size("D"), cases, GENOME) == []


def test_all_loads_of_a_thread_are_under_way_before_the_first_is_used() -> None:
    text = source("modern/swiglu:forward", map_packs=4)
    assert text.index("gate_pack[p] = load<VEC>(gate + i);") < text.index("store<VEC>(y + i")
    assert "Pack<T, VEC> up_pack[4];" in text


def test_a_long_row_is_loaded_several_packs_at_a_time() -> None:
    text = source("modern/cross_entropy:forward", stream_unroll=8)
    assert "Words<T, VEC> logits_words[8];" in text
    assert text.index("logits_words[p] = load_words<VEC>(") < text.index("= unpack<T, VEC>(logits_words[p]);")
    assert "logits_words[" not in source("modern/cross_entropy:forward", stream_unroll=1)


def test_several_tensors_share_what_is_under_way() -> None:
    text = source("modern/log_softmax:backward", stream_unroll=8)
    assert "Words<T, VEC> grad_y_words[4];" in text


def test_what_is_read_again_is_read_from_its_end() -> None:
    text = source("modern/softmax:forward")
    first, last = (text.partition(f"softmax_rows_{kernel}_kernel(")[2] for kernel in ("pass_1", "finish"))
    assert "const int64_t row = blockIdx.y;" in first.partition("\n}\n")[0]
    assert "const int64_t row = gridDim.y - 1 - blockIdx.y;" in last.partition("\n}\n")[0]


def test_gradients_of_groups_and_of_channels_take_two_readings() -> None:
    text = source("modern/group_norm_silu:backward")
    host = text.partition("backward(\n")[2]
    assert text.count("_rows_streamed(") == 1
    assert "_pass_2" not in text
    assert "row >= 0; row -= gridDim.x" in text
    assert [host.count(f"rows{kernel}<scalar_t>(") for kernel in ("", "_2", "_3", "_4")] == [1, 1, 1, 0]


def test_a_sum_that_is_not_linear_in_another_waits_for_it() -> None:
    assert "_pass_2" in own("((x - x.mean(-1, keepdim=True)) ** 4).sum(-1)", "8,400000:fp32")
    assert "_pass_2" in own("(x - x.mean(-1, keepdim=True)).sum(-1)", "8,400000:fp32")


def test_a_sum_that_is_linear_in_another_shares_its_pass() -> None:
    text = own("(x.exp() - (x * x).sum(-1, keepdim=True) * x / 7).sum(-1)", "8,400000:fp32")
    assert "_pass_1" in text
    assert "_pass_2" not in text


def test_coarse_results_divide_by_a_reciprocal_and_what_it_leaves() -> None:
    text = source("modern/add_rmsnorm_fp8_dynamic:forward")
    assert "divided(normed, scale_of_row, over_scale_of_row)" in text
    assert "fmaf(rest, inverse, near)" in text


def test_eight_bits_are_rounded_in_pairs() -> None:
    text = source("modern/swiglu_fp8:forward")
    assert "float quantised_out[VEC];" in text
    assert "__nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);" in text


def test_a_crowd_bounds_the_registers() -> None:
    text = " ".join(source("paper/llama_rmsnorm:forward", row_crowd=1024).split())
    assert "__launch_bounds__(THREADS < 256 ? 256 : THREADS, THREADS < 256 ? 4 : 1024 / THREADS)" in text
    assert ", THREADS < 256 ?" not in source("paper/llama_rmsnorm:forward")


def test_few_long_rows_take_one_kernel_for_each_pass_and_one_more() -> None:
    assert source("modern/softmax:forward").count("_pass_") // source("modern/softmax:forward").count("_pass_1") == 1
    assert "_pass_2" not in source("paper/layernorm:forward")
    assert "best_at_parts_1[row * pieces + piece] = best.at;" in source("modern/argmax:forward")


def test_mean_and_variance_of_long_rows_are_one_pass() -> None:
    streamed = source("paper/layernorm:forward").partition("_streamed(")[2].partition("\n}\n")[0]
    assert streamed.count("for (int first") == 2
    assert "merge(statistics, welford_of_pack(values))" in streamed


def test_channels_of_a_group_are_found_without_dividing_large_numbers() -> None:
    text = source("modern/group_norm_silu:forward")
    assert "const int64_t part_of_row = (row % groups) * C_per_groups;" in text
    assert "float(weight[part_of_row + (column / H_x_W)]);" in text
    assert "FastDivisor H_x_W" in text.replace("\n        ", " ")


@pytest.mark.parametrize(
    "name",
    ["modern/softmax:training", "modern/argmax:forward", "modern/embedding:backward", "paper/mnist_pool:backward"],
)
def test_a_kernel_is_given_what_it_uses(name: str) -> None:
    kernels = re.findall(
        r"^__global__ void __launch_bounds__[^;]*?\((\s+const [^{]*)\) \{(.*?)^\}", source(name), re.M | re.S
    )
    assert kernels
    for parameters, body in kernels:
        given = re.findall(r"(\w+)(?:,|$)", parameters)
        assert [word for word in given if not re.search(rf"(?<!\.)\b{word}\b", body)] == []


def test_a_source_includes_what_it_uses() -> None:
    text = source("modern/matmul:forward")
    assert re.findall("#include <(.*)>", text) == ["torch/extension.h"]
    assert "#include <cmath>" in source("modern/adamw:forward")
    assert "#include <optional>\n#include <tuple>" in source("paper/unet_conv2d:backward")
    assert "void store(" not in source("modern/argmax:forward")


def test_names_are_those_that_cpp_leaves_to_us() -> None:
    """Two underscores in a row are the compiler's."""
    words = set(re.findall(r"\w+", source("modern/rope_cache:forward") + source("modern/group_norm_silu:backward")))
    ours = {word for word in words if not word.startswith("__")}
    assert [word for word in ours if "__" in word] == []
    assert "H_x_W_x_C_per_groups" in words


def test_the_name_of_a_size_says_what_it_is() -> None:
    text = source("modern/embedding:backward")
    assert "min(max(indices_pack[p].at[k], minus_V), V_minus_1)" in text
    assert "windows_kernel<int, T, 2>" in source("paper/mnist_pool:forward")
    assert "(i % out_width) * stride - padding;" in source("paper/mnist_pool:forward")


def test_lines_are_no_longer_than_a_reader_likes() -> None:
    for name in ("modern/rope_cache:forward", "paper/mnist_pool:forward", "paper/layernorm:backward"):
        assert [line for line in source(name).split("\n") if len(line) > 120 and not line.startswith("//")] == []


def test_few_rows_are_added_up_by_single_threads_and_some_by_single_blocks() -> None:
    assert "if (rows <= 16 && columns > 0) {" in source("paper/layernorm:backward")
    assert "if (rows <= 128 && columns > 0) {" in source("paper/mnist_linear:backward")
    assert "if (rows <= 1" not in source("modern/bias_gelu:backward")


def test_elements_share_a_launch_after_other_steps_too() -> None:
    text = own(
        "(lambda sums: (sums.t() * 2, sums[:, : x.size(1) // 2] + 1))((x.cumsum(-1) * 2).cumsum(-1))", "64,128:fp32"
    )
    assert text.index("scan_kernel") < text.index("f_elements_2_part_2")


@given(size=st.integers(1, 2**31 - 1), position=st.integers(0, 2**31 - 1))
def test_a_product_and_a_shift_divide(size: int, position: int) -> None:
    shift = (size - 1).bit_length()
    factor = (((1 << shift) - size) << 32) // size + 1
    assert factor < 2**32
    raised = (position * factor >> 32) + position
    assert raised < 2**32
    assert raised >> shift == position // size
    assert "return (__umulhi(position, by.factor) + position) >> by.shift;" in source("modern/rope:forward")


def test_places_that_take_several_divisions_leave_time_for_one_pack() -> None:
    assert "* 256 + threadIdx.x) * VEC;" in source("modern/rope:forward")
    assert "* 512 + threadIdx.x) * VEC;" in source("modern/bias_gelu:forward")


def test_short_rows_that_make_no_whole_packs_are_kept_too() -> None:
    assert "if (columns <= 16) return run(mnist_cross_entropy_rows_kept<T, 1, 16, 1>, 8, 128);" in source(
        "paper/mnist_cross_entropy:forward"
    )
    assert "_kept<T, 1, " not in source("modern/softmax:forward")


def test_small_products_have_a_kernel_and_large_ones_a_library() -> None:
    text = source("paper/mnist_linear:training")
    assert text.count("bool small_products(") == 1
    assert "if (!small_products<scalar_t>({{x, weight.t(), y, bias}})) {" in text
    assert "y = at::addmm(bias, x, weight.t());" in text
    assert "small_product" not in source("modern/matmul:forward")
    assert "small_product" not in source("paper/llama_ffw:forward")


def test_what_is_clamped_to_eight_bits_is_left_to_their_conversion() -> None:
    text = source("modern/swiglu_fp8:forward")
    assert "store<VEC>(quantised + i, saturated_e4m3(quantised_out));" in text
    assert "448" not in text
    assert "within_e4m3" not in text
    assert "to_e4m3(quantised_out)" in source("modern/add_rmsnorm_fp8_dynamic:forward")
    ranges = "-448, 440", "-440, 448", "max=448"
    others = own(f"({', '.join(f'x.clamp({one}).to(torch.float8_e4m3fn)' for one in ranges)})", "64,128:fp32")
    assert [others.count(f" to_e4m3(y{number}_out)") for number in range(3)] == [1, 1, 1]


def test_parts_that_lie_apart_are_written_past_the_cache() -> None:
    assert "__stcs" in source("modern/rope:forward")
    assert "__stcs" not in source("modern/swiglu:forward")


def test_a_number_of_a_row_divides_once() -> None:
    assert "const float over_sum = 1.0f / sum;" in source("modern/softmax:forward")


def test_coarse_results_are_computed_as_precisely_as_can_be() -> None:
    assert "fast_exp" in source("modern/softmax:forward")
    assert "__expf(-x)" in source("modern/swiglu:forward")
    assert "__expf" not in source("modern/swiglu_fp8:forward")


def test_variants_differ_and_begin_with_the_default() -> None:
    (task,) = load("modern/softmax:forward")
    plan = plan_of(task)
    genomes = plan.variants(6)
    assert genomes[0] == plan.default()
    assert len({plan.write(genome).partition("#include")[2] for genome in genomes}) == 6


def test_a_gene_that_changes_nothing_is_no_gene() -> None:
    (task,) = load("paper/llama_rmsnorm:forward")
    assert "math" not in plan_of(task).space()
    assert "split_block" not in plan_of(task).space()


def test_windows_of_two_by_two_are_read_by_packs() -> None:
    text = source("paper/mnist_pool:forward")
    test = "if (small && kernel_size == 2 && stride == 2 && padding == 0 && H % 2 == 0 && W % 4 == 0"
    assert text.index(test) < text.index("launch_mnist_pool_windows<scalar_t>(")
    others = "F.max_pool2d(x, 3), F.max_pool2d(x, 2, padding=1), F.avg_pool2d(x, 2), F.max_pool2d(x.exp(), 2)"
    assert "quads_kernel" not in own(f"({others})", "2,3,12,12:fp32")
    assert "quads_kernel" in own("F.max_pool2d(x, 2)", "2,3,12,12:fp32")
    assert "quads_kernel" not in own("F.max_pool2d(x.float().cumsum(-1), 2)", "2,3,12,12:bf16")


def test_windows_know_their_names_again() -> None:
    text = source("paper/mnist_pool:forward")
    assert "SIDE > 0 ? SIDE : kernel_size" in text
    assert "- padding;" in text


def test_gradients_of_an_embedding_write_every_row_once() -> None:
    text = source("modern/embedding:backward")
    assert "atomicExch(&last[row]" in text
    assert "atomicAdd" not in text


def test_overlapping_windows_add_up_in_shared_memory() -> None:
    text = source("paper/mnist_pool:backward")
    assert "atomicAdd(&places[" in text
    assert text.count("__global__") == 1


def test_short_rows_are_put_together_several_at_a_time() -> None:
    text = source("paper/mnist_pool:backward")
    assert "atomicAdd(&places[item / count * columns + to[i]], what[i]);" in text
    assert "while (2 * share * count <= 1024 && 2 * share * row_bytes <= 16384) share *= 2;" in text
    assert text.index("fetch(threadIdx.x);") < text.index("= float4{};")


def test_values_and_places_of_the_highest_come_from_one_kernel() -> None:
    text = source("modern/topk_gating:forward")
    assert text.count("launch_topk_gating_highest<scalar_t>(") == 1


def test_two_softmaxes_of_a_row_have_names_of_their_own() -> None:
    text = own("torch.softmax(x, -1) * torch.softmax(x * x, -1)", "8,40000:fp32")
    assert "float scores[VEC], highest = -INFINITY;" in text
    assert "float scores_2[VEC], highest_2 = -INFINITY;" in text


def test_a_reduction_over_a_middle_dimension_is_left_for_the_elements() -> None:
    text = own("x / x.square().mean(1, keepdim=True).sqrt()", "4,16,40:fp32")
    assert "f_rows" in text
    assert "f_elements" in text


def test_words_of_cpp_are_no_names() -> None:
    assert "const bool not " not in own(
        "torch.where(~((x > 0) & (x < 1)), x, x * x) * (~((x > 0) & (x < 1)))", "4,64:fp32"
    )


def test_the_cases_that_are_timed_are_known() -> None:
    (task,) = load("modern/softmax:forward")
    graph = plan_of(task).graph
    assert len(graph.cases.timed) == len(task.cases_of(Role.TIME))
    assert set(graph.cases.widths) == {2, 4}


def test_each_gradient_of_a_convolution_is_a_call_of_its_own_and_that_of_the_bias_a_sum() -> None:
    text = source("paper/unet_conv2d:backward")
    assert (
        "auto grad_x = std::get<0>(at::convolution_backward(grad_y, x, weight, std::nullopt, {stride, stride}," in text
    )
    assert text.count("at::convolution_backward(") == 2
    assert "auto grad_bias = torch::empty_like(bias);" in text


def test_of_what_a_gradient_belongs_to_only_the_sizes_must_be_there() -> None:
    text = source("paper/mnist_conv_relu_pool:backward")
    assert "torch::empty({B, I, H, W}, grad.options()), weight, std::nullopt" in text
    assert "x,\n            torch::empty({O, I, 3, 3}, grad.options()), std::nullopt" in text


def test_several_sums_of_a_row_are_one_meeting() -> None:
    text = source("modern/group_norm_silu:backward")
    meeting = "sum, sum_of_scaled, sum_of_twice_centred, sum_2, sum_of_grad_normed"
    assert f"row_reduce_all<Sum, THREADS>({meeting});" in text
    assert "row_reduce_all" not in source("modern/softmax:forward")
