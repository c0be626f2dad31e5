"""Planning: what composes, into which kernels, and what the composer says of the rest."""

from __future__ import annotations

import pickle
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


def test_saved_tensors_are_used_and_not_computed_again(composed) -> None:
    kernels = composed("paper/llama_rmsnorm:backward").kernels
    assert any(kernel.reads("rstd") for kernel in kernels)
    assert not any(kernel.calls("rsqrtf") for kernel in kernels)


def test_a_forward_pass_saves_what_is_cheap_to_keep(composed) -> None:
    found = composed("paper/llama_rmsnorm:training")
    assert found.function("llama_rmsnorm_rows_kept").assigns("saved_rstd")
    assert [entry.name for entry in found.plan.entries if entry.is_exported] == ["forward", "backward"]


def test_what_is_saved_rounded_counts_rounded_in_what_else_is_saved(composed) -> None:
    """A length of the sum before it is rounded does not fit the sum that the backward pass is given."""
    kernel = composed("modern/add_rmsnorm:training").function("launch_add_rmsnorm_rows")
    assert kernel.launches
    kept = composed("modern/add_rmsnorm:training").function("add_rmsnorm_rows_kept")
    wide = [let.value.text for let in kept.lets if let.name == "wide"]
    assert len(wide) == 2
    assert all("static_cast<T>" in text for text in wide)
    for name in ("modern/add_rmsnorm:forward", "modern/softmax:training"):
        rounded = [
            let.name for item in composed(name).kernels for let in item.lets if "static_cast<T>" in let.value.text
        ]
        assert rounded == []


def test_a_product_that_is_saved_is_computed_once(composed) -> None:
    assert [choice[-1] for choice in composed("modern/linear_cross_entropy:training").strategies()].count(
        "library"
    ) == 1


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
def test_a_product_that_is_saved_is_read_and_not_computed_again() -> None:
    """One kernel for the gradient of the scores, then a product for each of the two gradients that are owed."""
    nodes = sealed_plan("modern/linear_cross_entropy:backward").nodes
    assert [type(node) for node in nodes] == [Launch, Library, Library]
    assert [node.operation for node in nodes if isinstance(node, Library)] == ["mm", "mm"]


def test_names_come_from_the_reference(composed) -> None:
    assert composed("paper/llama_rmsnorm:forward").function("rows_kept").value("rstd").startswith("rsqrtf(")


def test_softmax_in_one_pass_where_rows_are_streamed(composed) -> None:
    assert (
        len(composed("modern/cross_entropy:forward").function("cross_entropy_rows_streamed").loops_over("first")) == 1
    )


def test_products_are_library_calls_with_a_kernel_behind_them(composed) -> None:
    assert composed("paper/mnist_linear_relu:forward").strategies() == [["small products"], ["map"]]
    assert [choice[-1] for choice in composed("modern/matmul:forward").strategies()] == ["library"]


def test_a_returned_view_knows_its_sizes(composed) -> None:
    host = composed("paper/unet_linear:forward").function("forward")
    assert host.value("O") == "weight.size(0)"
    assert host.reads("B", "S", "O")


def test_lists_of_tensors_share_launches(composed) -> None:
    found = composed("modern/adamw:forward")
    assert found.strategies() == [["foreach"]]
    assert len([launch for function in found.functions for launch in function.launches]) == 1


def test_running_sums_from_the_end_are_scans(composed) -> None:
    assert kinds("modern/cumsum:backward") == [ALONE]
    assert composed("modern/cumsum:backward").strategies() == [["scan"]]


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


def test_a_function_of_a_user(function_of) -> None:
    found = function_of("x, gate", "return F.silu(gate) * x", "8,512:bf16", "8,512:bf16")
    assert found.strategies() == [["map"]]
    assert any(kernel.calls("sigmoid<T>") for kernel in found.kernels)


def test_a_product_that_is_timed_with_one_row_has_an_entry_point_for_that(composed) -> None:
    found = composed("modern/int8_linear:forward")
    of_one_row, whole = found.plan.entries
    assert (of_one_row.is_exported, whole.is_exported) == (False, True)
    assert "gemv" in found.strategies(0)[0]
    assert "x.size(0) == 1" in found.function("forward").conditions
    assert [choice[-1] for choice in found.strategies(1)].count("library") == 1


def test_one_row_times_a_matrix_that_lies_the_other_way_is_a_sum_of_columns(composed) -> None:
    found = composed("modern/int8_linear:backward")
    assert found.plan.entries[0].name == "backward_of_one_row"
    assert found.strategies(0) == [["columns"]]


def test_gradients_of_a_single_large_sample_are_stored_in_the_pass_that_reads_it(composed) -> None:
    found = composed("paper/layernorm:backward")
    assert "grad_y.size(0) == 1" in found.function("backward").conditions
    assert found.function("of_one_row_rows_pass_1_kernel").calls("store", reading=("grad_weight",))
    assert not any("columns" in choice for choice in found.strategies(0))
    assert [entry.name for entry in composed("modern/group_norm_silu:backward").plan.entries] == ["backward"]


def test_only_the_pass_of_a_training_pair_that_gains_has_an_entry_for_one_row(composed) -> None:
    names = [entry.name for entry in composed("paper/layernorm:training").plan.entries]
    assert names == ["forward", "backward_of_one_row", "backward"]


@pytest.mark.parametrize("name", ["modern/matmul:forward", "modern/matmul:training", "paper/unet_linear:forward"])
def test_products_that_are_never_timed_with_one_row_have_none(composed, name: str) -> None:
    assert all(entry.is_exported for entry in composed(name).plan.entries)


def test_a_sum_of_columns_without_a_name_is_not_called_like_their_number(function_of) -> None:
    found = function_of("x", "return x - x.sum(0) * x.sum(0).sin()", "64,40:fp32")
    tensors = {given.name for item in found.functions for given in item.item.parameters if "Tensor" in given.type}
    assert "columns" not in tensors


def of_a_user(folder: Path, body: str, *inputs: str) -> Composable:
    (folder / "ref.py").write_text(f"import torch\n\ndef f(x):\n    {body}\n", encoding="utf-8")
    (task,) = load(f"{folder / 'ref.py'}:f", inputs=list(inputs), direction="forward")
    return plan_of(task)


def test_what_is_done_in_place_is_done(function_of) -> None:
    found = function_of("x", "y = x * 2; y += 3; y.relu_(); return y - 1", "8,64:fp32")
    (kernel,) = found.kernels
    (stored,) = kernel.assigns("y_out") or kernel.assigns("y0_out")
    assert kernel.statements[stored].value.text == "positive(float(x_pack[p].at[k]) * 2.0f + 3.0f) - 1.0f"


def test_what_others_see_too_is_not_changed_in_place(tmp_path: Path) -> None:
    with pytest.raises(CannotCompose, match=r"aten\.add\.Tensor in place, of what others see too"):
        of_a_user(tmp_path, "y = x * 2; seen = y.view(-1); y += 3; return seen", "8,64:fp32")
    with pytest.raises(CannotCompose, match="in place, of what others see too"):
        of_a_user(tmp_path, "y = x * 2; one, other = y.split(4); one += 3; return y", "8,64:fp32")


def test_rows_that_32_bits_cannot_count_are_not_composed(tmp_path: Path) -> None:
    with pytest.raises(CannotCompose, match=r"rows of \d+ elements and more"):
        of_a_user(tmp_path, "return x.sum()", "65536,65536:fp32")


@pytest.mark.parametrize("view", ["", ".view(-1)"])
def test_what_a_library_gives_is_returned_in_the_type_of_the_output(function_of, view: str) -> None:
    body = f"return (x.float() @ x.float().t()).to(x.dtype){view}"
    host = function_of("x", body, "8,64:bf16").function("forward")
    assert any(item.text.endswith(".to(x.scalar_type())") for item in host.expressions)


def test_a_part_of_a_concatenation_is_one_of_parts(tmp_path: Path) -> None:
    body = "return torch.cat((torch.zeros_like(x[:, :1]), x, x), dim=1)[:, : x.shape[1]] * 2"
    plan = of_a_user(tmp_path, body, "8,64:fp32")
    (joined,) = [value for value in plan.graph.made("cat") if len(value.args) == 2]
    assert [part.shape[1].text for part in joined.args] == ["1", "B - 1"]


def test_a_convolution_of_one_channel_is_written_out_tap_by_tap_into_what_comes_next(composed) -> None:
    found = composed("paper/mnist_conv_relu_pool:forward")
    assert "x.size(1) == 1" in found.function("forward").conditions
    kernel = found.function("forward_of_one_channel_windows_kernel")
    taps = sum(item.text.count("float(weight[") for item in kernel.expressions)
    assert taps == 9
    assert [choice[-1] for choice in found.strategies(1)].count("library") == 1
    assert all(entry.is_exported for entry in composed("paper/unet_conv2d:forward").plan.entries)
