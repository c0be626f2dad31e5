"""Kernels: what their text must have for them to be right, and fast."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warpwright.core.task import Role
from warpwright.propose import composer
from warpwright.propose.composer.row_launch import tiles
from warpwright.propose.composer.sizes import Cases
from warpwright.tasks import load

GENOME = {"vector_bytes": 16, "warp_items": 4, "warp_rows": 4, "row_items": 4}


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return composer.plan(task).write(genome)


@cache
def own(code: str, *inputs: str) -> str:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ref.py"
        path.write_text(f"import torch\nimport torch.nn.functional as F\n\ndef f(x):\n    return {code}\n")
        (task,) = load(f"{path}:f", inputs=list(inputs), direction="forward")
    return composer.plan(task).write({})


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


def test_rows_that_no_block_can_keep_have_no_tile() -> None:
    cases = Cases([{"D": 1 << 20}], widths=[4])
    assert tiles(cases.size("D"), cases, GENOME) == []


def test_all_loads_of_a_thread_are_under_way_before_the_first_is_used() -> None:
    text = source("modern/swiglu:forward", map_packs=4)
    assert text.index("gate_pack[p] = load<VEC>(gate + i);") < text.index("store<VEC>(y + i")
    assert "Pack<T, VEC> up_pack[4];" in text


def test_few_long_rows_take_one_kernel_for_each_pass_and_one_more() -> None:
    assert source("modern/softmax:forward").count("_pass_") // source("modern/softmax:forward").count("_pass_1") == 1
    assert "_pass_2" not in source("paper/layernorm:forward")
    assert "best_at_parts_1[row * pieces + blockIdx.x] = best.at;" in source("modern/argmax:forward")


def test_mean_and_spread_of_long_rows_are_one_pass() -> None:
    streamed = source("paper/layernorm:forward").partition("_streamed(")[2].partition("\n}\n")[0]
    assert streamed.count("for (int column") == 2
    assert "both(spread, spread_of(values))" in streamed


def test_channels_of_a_group_are_found_without_dividing_large_numbers() -> None:
    text = source("modern/group_norm_silu:forward")
    assert "(row % groups_2) * C_per_groups + (column / (H * W))" in text
    assert "int H, int W" in text.replace("\n        ", " ")


def test_few_rows_are_added_up_by_single_threads() -> None:
    assert "if (rows <= 16 && strips >= 528) {" in source("paper/layernorm:backward")
    assert "if (rows <= 16" not in source("modern/bias_gelu:backward")


def test_a_number_of_a_row_divides_once() -> None:
    assert "const float over_sum = 1.0f / sum;" in source("modern/softmax:forward")


def test_coarse_results_are_computed_as_precisely_as_can_be() -> None:
    assert "quick_exp" in source("modern/softmax:forward")
    assert "__fdividef" in source("modern/swiglu:forward")
    assert "__fdividef" not in source("modern/swiglu_fp8:forward")


def test_variants_differ_and_begin_with_the_default() -> None:
    (task,) = load("modern/softmax:forward")
    plan = composer.plan(task)
    genomes = plan.variants(6)
    assert genomes[0] == plan.default()
    assert len({plan.write(genome).partition("#include")[2] for genome in genomes}) == 6


def test_a_gene_that_changes_nothing_is_no_gene() -> None:
    (task,) = load("paper/llama_rmsnorm:forward")
    assert "math" not in composer.plan(task).space()
    assert "split_block" not in composer.plan(task).space()


def test_windows_know_their_names_again() -> None:
    text = source("paper/mnist_pool:forward")
    assert "step_height < kernel_size" in text
    assert "- padding;" in text


def test_gradients_of_an_embedding_write_every_row_once() -> None:
    text = source("modern/embedding:backward")
    assert "atomicExch(&last[row]" in text
    assert "atomicAdd" not in text


def test_overlapping_windows_add_up_in_shared_memory() -> None:
    text = source("paper/mnist_pool:backward")
    assert "atomicAdd(&places[" in text
    assert text.count("__global__") == 1


def test_values_and_places_of_the_highest_come_from_one_kernel() -> None:
    text = source("modern/topk_gating:forward")
    assert text.count("launch_topk_gating_step<scalar_t>(") == 1


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
    graph = composer.plan(task).graph
    assert len(graph.cases.timed) == len(task.cases_of(Role.TIME))
    assert set(graph.cases.widths) == {2, 4}
