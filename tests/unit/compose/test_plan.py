"""Planning: what composes, into which kernels, and what the composer says of the rest."""

from __future__ import annotations

import pickle
import re
from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import CannotCompose, Composable, read_back
from warpwright.compose import plan as plan_of
from warpwright.compose.schedule.spaces import ALONE, COLUMNS, ELEMENTS, ROWS
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.launch.plan import Launch, Library, Plan
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Role
from warpwright.seal import toolchain
from warpwright.seal.sealing import seal
from warpwright.tasks import load


@cache
def planned(name: str) -> Composable:
    (task,) = load(name)
    return plan_of(task)


@cache
def source(name: str) -> str:
    return planned(name).write(planned(name).default())


def sealed_plan(name: str) -> Plan:
    """What one call does in the case that counts most."""
    (task,) = load(name)
    case = max(task.cases_of(Role.TIME), key=lambda case: case.weight)
    sealed = seal(task, Candidate(source=source(name)), [case])
    assert isinstance(sealed, Sealed), sealed
    return sealed.plans[0]


def kinds(name: str) -> list[str]:
    return [group.space.kind for entry in planned(name).entries for group in entry.schedule.groups]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("modern/swiglu:forward", [ELEMENTS]),
        ("modern/swiglu:backward", [ELEMENTS]),
        ("modern/add_rmsnorm:forward", [ROWS]),
        ("modern/cross_entropy:forward", [ROWS, ROWS]),
        ("modern/bias_gelu:backward", [COLUMNS]),
        ("paper/llama_rmsnorm:backward", [ROWS]),
        ("modern/softmax:training", [ROWS, ROWS]),
    ],
)
def test_what_belongs_together_shares_a_kernel(name: str, expected: list[str]) -> None:
    assert kinds(name) == expected


def test_the_genome_is_remembered_and_changes_the_source() -> None:
    plan = planned("paper/llama_rmsnorm:forward")
    other = {**plan.default(), "row_items": 8}
    assert read_back(source("paper/llama_rmsnorm:forward")) == plan.default()
    assert read_back(plan.write(other)) == other
    assert plan.write(other) != source("paper/llama_rmsnorm:forward")
    assert plan.write(other) == plan.write(other)


def test_every_default_is_in_its_space() -> None:
    plan = planned("paper/llama_rmsnorm:backward")
    assert all(value in plan.space()[gene] for gene, value in plan.default().items())
    assert plan.default().keys() == plan.space().keys()


def test_a_genome_outside_the_space_is_refused() -> None:
    with pytest.raises(UsageError, match="row_items = 77"):
        planned("modern/softmax:forward").write({"row_items": 77})


def test_a_source_without_a_genome_has_none() -> None:
    assert read_back("// nothing here") is None
    assert read_back("// genome: {broken") is None


def test_saved_tensors_are_used_and_not_computed_again() -> None:
    text = source("paper/llama_rmsnorm:backward")
    assert "rstd[row]" in text
    assert "rsqrtf" not in text


def test_a_forward_pass_leaves_what_is_cheap_to_keep() -> None:
    text = source("paper/llama_rmsnorm:training")
    assert "saved_rstd[row] = rstd;" in text
    assert 'm.def("forward", &forward);' in text
    assert 'm.def("backward", &backward);' in text


def test_what_is_left_rounded_counts_rounded_in_what_else_is_left() -> None:
    """A length of the sum before it is rounded does not fit the sum that the backward pass is given."""
    kept = source("modern/add_rmsnorm:training").partition("_kept(")[2].partition("\n}\n")[0]
    assert kept.count("const float wide = float(static_cast<T>(float(x_pack.at[k]) +") == 2
    assert "static_cast<T>(" not in source("modern/add_rmsnorm:forward")
    assert "static_cast<T>(" not in source("modern/softmax:training")


def test_a_product_that_is_left_is_computed_once() -> None:
    forward = source("modern/linear_cross_entropy:training").partition(" forward(")[2].partition("\n}\n")[0]
    assert forward.count("at::mm(") == 1


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
def test_a_product_that_is_saved_is_read_and_not_computed_again() -> None:
    """One kernel for the gradient of the scores, then a product for each of the two gradients that are owed."""
    nodes = sealed_plan("modern/linear_cross_entropy:backward").nodes
    assert [type(node) for node in nodes] == [Launch, Library, Library]
    assert [node.operation for node in nodes if isinstance(node, Library)] == ["mm", "mm"]


def test_names_come_from_the_reference() -> None:
    text = source("paper/llama_rmsnorm:forward")
    assert "const float rstd = rsqrtf(" in text


def test_softmax_in_one_pass_where_rows_are_streamed() -> None:
    streamed = source("modern/cross_entropy:forward").partition("_streamed(")[2].partition("\n}\n")[0]
    assert streamed.count("for (int first") == 1


def test_eight_bits_are_rounded_as_torch_rounds_them() -> None:
    assert "to_e4m3(" in source("modern/add_rmsnorm_fp8_dynamic:forward")


def test_products_are_library_calls_with_a_kernel_behind_them() -> None:
    text = source("paper/mnist_linear_relu:forward")
    assert "at::addmm(" in text
    assert "launch_mnist_linear_relu_elements<scalar_t>" in text


def test_a_returned_view_knows_its_sizes() -> None:
    text = source("paper/unet_linear:forward")
    assert ".reshape({B, S, O})" in text
    assert "const int64_t O = weight.size(0);" in text


def test_lists_of_tensors_share_launches() -> None:
    text = source("modern/adamw:forward")
    assert "struct Batch {" in text
    assert "1 - std::pow(beta1, static_cast<double>(step))" in text


def test_running_sums_from_the_end_are_one_kernel() -> None:
    assert kinds("modern/cumsum:backward") == [ALONE]
    assert "scan_kernel<T, T, VEC, 256, 4, true>" in source("modern/cumsum:backward")


def test_what_cannot_be_composed_names_the_operation(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("import torch\n\ndef sorted_rows(x):\n    return torch.sort(x, dim=-1)[0]\n", encoding="utf-8")
    (task,) = load(f"{path}:sorted_rows", inputs=["8,64:fp32"], direction="forward")
    with pytest.raises(CannotCompose, match=r"cannot compose: aten\.sort") as caught:
        plan_of(task)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_branch_on_the_numbers_themselves_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("def f(x):\n    return x if float(x.sum()) > 0 else -x\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=["8,64:fp32"], direction="forward")
    with pytest.raises(CannotCompose):
        plan_of(task)


def test_a_function_of_a_user(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text(
        "import torch\n\ndef gated(x, gate):\n    return torch.nn.functional.silu(gate) * x\n", encoding="utf-8"
    )
    (task,) = load(f"{path}:gated", inputs=["8,512:bf16", "8,512:bf16"], direction="forward")
    assert "sigmoid(" in plan_of(task).write({})


def test_a_product_that_is_timed_with_one_row_has_an_entry_point_for_that() -> None:
    text = source("modern/int8_linear:forward")
    assert "if (x.size(0) == 1) return forward_of_one_row(x, weight, scales, bias);" in text
    assert "int8_linear_forward_of_one_row_rows_kept" in text
    assert text.index("torch::Tensor forward_of_one_row(") < text.index("torch::Tensor forward(")
    assert text.count("m.def(") == 1
    assert text.count("at::addmm(") == 1


def test_one_row_times_a_matrix_that_lies_the_other_way_is_a_sum_of_columns() -> None:
    text = source("modern/int8_linear:backward")
    assert "launch_int8_linear_backward_of_one_row_columns<scalar_t>(weight, scales, grad_y, grad_x, N, K);" in text


def test_gradients_of_a_single_large_sample_are_left_in_the_pass_that_reads_it() -> None:
    text = source("paper/layernorm:backward")
    assert "if (grad_y.size(0) == 1) return backward_of_one_row(grad_y, mean, rstd, x, weight, bias, eps);" in text
    first = text.partition("of_one_row_rows_pass_1_kernel(")[2].partition("\n}\n")[0]
    assert "store<VEC>(grad_weight + row * columns + column, grad_weight_out);" in first
    assert "of_one_row_rows_columns" not in text
    assert "of_one_row" not in source("modern/group_norm_silu:backward")


def test_of_a_training_pair_only_the_pass_that_gains_is_handed_over() -> None:
    text = source("paper/layernorm:training")
    assert "if (grad_y.size(0) == 1) return backward_of_one_row(grad_y, weight, saved_rstd, x, saved_mean);" in text
    assert "forward_of_one_row" not in text


@pytest.mark.parametrize("name", ["modern/matmul:forward", "modern/matmul:training", "paper/unet_linear:forward"])
def test_products_that_are_never_timed_with_one_row_have_none(name: str) -> None:
    assert "of_one_row" not in source(name)


def test_a_sum_of_columns_without_a_name_is_not_called_like_their_number(tmp_path: Path) -> None:
    path = tmp_path / "ref.py"
    path.write_text("def f(x):\n    return x - x.sum(0) * x.sum(0).sin()\n")
    (task,) = load(f"{path}:f", inputs=["64,40:fp32"], direction="forward")
    assert "const torch::Tensor& columns" not in plan_of(task).write({})


def of_a_user(folder: Path, body: str, *inputs: str) -> Composable:
    (folder / "ref.py").write_text(f"import torch\n\ndef f(x):\n    {body}\n", encoding="utf-8")
    (task,) = load(f"{folder / 'ref.py'}:f", inputs=list(inputs), direction="forward")
    return plan_of(task)


def test_what_is_done_in_place_is_done(tmp_path: Path) -> None:
    text = of_a_user(tmp_path, "y = x * 2; y += 3; y.relu_(); return y - 1", "8,64:fp32").write({})
    assert "positive(float(x_pack[p].at[k]) * 2.0f + 3.0f) - 1.0f" in text


def test_what_others_see_too_is_not_changed_in_place(tmp_path: Path) -> None:
    with pytest.raises(CannotCompose, match=r"aten\.add\.Tensor in place, of what others see too"):
        of_a_user(tmp_path, "y = x * 2; seen = y.view(-1); y += 3; return seen", "8,64:fp32")
    with pytest.raises(CannotCompose, match="in place, of what others see too"):
        of_a_user(tmp_path, "y = x * 2; one, other = y.split(4); one += 3; return y", "8,64:fp32")


def test_rows_that_32_bits_cannot_count_are_not_composed(tmp_path: Path) -> None:
    with pytest.raises(CannotCompose, match=r"rows of \d+ elements and more"):
        of_a_user(tmp_path, "return x.sum()", "65536,65536:fp32")


def test_what_a_library_gives_is_returned_in_the_type_that_is_owed(tmp_path: Path) -> None:
    wide = of_a_user(tmp_path, "return (x.float() @ x.float().t()).to(x.dtype)", "8,64:bf16").write({})
    assert "x.t().to(torch::kFloat32)).to(x.scalar_type());" in wide
    viewed = of_a_user(tmp_path, "return (x.float() @ x.float().t()).to(x.dtype).view(-1)", "8,64:bf16").write({})
    assert re.search(r"return \w+\.reshape\(\{\w+ \* \w+\}\)\.to\(x\.scalar_type\(\)\);", viewed)


def test_a_part_of_a_concatenation_is_one_of_parts(tmp_path: Path) -> None:
    body = "return torch.cat((torch.zeros_like(x[:, :1]), x, x), dim=1)[:, : x.shape[1]] * 2"
    plan = of_a_user(tmp_path, body, "8,64:fp32")
    (joined,) = [value for value in plan.graph.made("cat") if len(value.args) == 2]
    assert [part.shape[1].text for part in joined.args] == ["1", "B - 1"]


def test_a_convolution_of_one_channel_is_written_out_tap_by_tap_into_what_comes_next() -> None:
    text = source("paper/mnist_conv_relu_pool:forward")
    assert "if (x.size(1) == 1) return forward_of_one_channel(x, weight, bias);" in text
    taken = text.partition("forward_of_one_channel_windows_kernel(")[2].partition("\n}\n")[0]
    assert taken.count("float(weight[((i / windows) % O) * 9") == 9
    assert text.count("at::convolution(") == 1
    assert "of_one_channel" not in source("paper/unet_conv2d:forward")
