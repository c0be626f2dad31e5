"""robust-kbench directories, loaded unchanged, with their peculiarities."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from warpwright.core.errors import TaskError
from warpwright.core.task import Direction, Role, ScalarArg, Task, TensorArg
from warpwright.languages.cuda.skeleton import skeleton
from warpwright.tasks import load

SAMPLES = Path(__file__).parent / "samples"
Sample = Callable[..., Task]
Accepts = Callable[[Task, Callable[..., Any]], None]

AFFINE = "robust_kbench/affine_last"


def affine(x: Any, gain: Any, shift: Any, power: int, eps: float) -> Any:
    return x / (x.abs().pow(power).mean(-1, keepdim=True) + eps) * gain + shift


def gradients(function: Any, leaves: list[torch.Tensor], gradient: torch.Tensor) -> list[torch.Tensor]:
    """Computes in double precision and returns single."""
    leaves = [leaf.detach().double().requires_grad_() for leaf in leaves]
    found = torch.autograd.grad(function(*leaves), leaves, gradient.double())
    return [grad.float() for grad in found]


def test_the_arguments_that_model_passes_to_fn_are_the_contract(sample: Sample, accepts: Accepts) -> None:
    task = sample(AFFINE, direction=Direction.FORWARD)
    assert [argument.name for argument in task.arguments] == ["x", "gain", "shift", "power", "eps"]
    assert task.summary == "Scales rows by their size. Then it adds a shift."
    inits = [argument.init for argument in task.arguments if isinstance(argument, TensorArg)]
    assert inits == [None, "gain", "gain"]
    accepts(task, lambda x, g, s, *rest: affine(x.double(), g.double(), s.double(), *rest).float())


def test_configurations_are_combined_and_duplicates_dropped(sample: Sample) -> None:
    task = sample(AFFINE, direction=Direction.FORWARD)
    timed = [(tuple(case.dims.values()), case.scalars["power"]) for case in task.cases_of(Role.TIME)]
    assert timed[0] == ((2048, 512), 2)
    assert sorted(timed) == sorted(((b, d), p) for b in (2048, 16) for d in (512, 48) for p in (2, 4))
    assert next(a.values for a in task.arguments if isinstance(a, ScalarArg)) == (2, 4)
    assert len({case.name for case in task.cases_of(Role.TIME)}) == 8


def test_a_key_that_the_model_does_not_take_is_named(sample: Sample) -> None:
    assert sample(AFFINE, direction=Direction.FORWARD).notes == (
        "Model takes no 'bias', so that key of the configuration is left out",
    )


def test_backward_keeps_its_own_order_of_arguments_and_results(sample: Sample, accepts: Accepts) -> None:
    def candidate(x, gain, eps, power, width, gradient):  # type: ignore[no-untyped-def]
        assert width == [x.shape[-1]]
        shift = torch.zeros_like(gain)
        grad_x, grad_gain, grad_shift = gradients(lambda *t: affine(*t, power, eps), [x, gain, shift], gradient)
        return grad_gain, grad_shift, grad_x

    task = sample(AFFINE, direction=Direction.BACKWARD)
    assert task.backward_takes == ("x", "gain", "eps", "power", "width", "grad_y")
    assert [argument.name for argument in task.arguments][:3] == ["gain", "shift", "x"]
    accepts(task, candidate)


def test_a_tuple_argument_becomes_a_list(sample: Sample, accepts: Accepts) -> None:
    def candidate(saved, gradient):  # type: ignore[no-untyped-def]
        return gradients(lambda x, w: F.max_pool2d(x * w, 2), saved, gradient)

    task = sample("robust_kbench/paired_pool")
    assert task.backward_takes == (("x", "weight"), "grad_y")
    assert "std::vector<torch::Tensor> x_weight_list,  // x, weight" in skeleton(task)
    accepts(task, candidate)


def test_tensors_that_forward_computes_for_backward_are_saved(sample: Sample, accepts: Accepts) -> None:
    def candidate(gradient, x, w, rstd):  # type: ignore[no-untyped-def]
        wide, scaled = x.double(), gradient.double() * w
        grad_x = rstd * scaled - wide * rstd.double() ** 3 * (scaled * wide).mean(-1, keepdim=True)
        return grad_x.float(), (gradient.double() * wide * rstd).sum(0).float()

    task = sample("robust_kbench/saved_norm")
    assert [(save.name, save.dtype) for save in task.saves] == [("rstd", "T")]
    assert task.backward_takes == ("grad_y", "x", "w", "rstd")
    accepts(task, candidate)


def test_none_and_lists_are_arguments_and_other_signatures_are_omitted(sample: Sample, accepts: Accepts) -> None:
    task = sample("robust_kbench/optional_bias")
    assert [argument.name for argument in task.arguments] == ["signal", "input1", "input2", "input3"]
    assert [a.values for a in task.arguments if isinstance(a, ScalarArg)] == [(None,), ((1,), (2,))]
    assert any("differ in kind" in note for note in task.notes)
    assert any("'length': 2" in note and "left out" in note for note in task.notes)
    accepts(task, lambda x, w, bias, stride: F.conv1d(x.double(), w.double(), bias, stride=stride).float())


def test_both_directions_are_loaded_forward_first() -> None:
    found = load(str(SAMPLES / AFFINE))
    assert [task.direction for task in found] == [Direction.FORWARD, Direction.BACKWARD]
    assert sizes(found[0], Role.CHECK)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLES / AFFINE, tmp_path / "task")
    return tmp_path / "task"


def complaint(directory: Path) -> str:
    with pytest.raises(TaskError) as caught:
        load(str(directory))
    return str(caught.value)


def test_a_missing_part_is_named(directory: Path) -> None:
    path = directory / "func_forward.py"
    path.write_text(path.read_text().replace("def get_inputs", "def inputs"))
    assert "func_forward.py, get_inputs: is missing" in complaint(directory)


def test_a_model_that_never_calls_fn_is_named(directory: Path) -> None:
    path = directory / "func_forward.py"
    path.write_text(path.read_text().replace("return fn(", "return forward_fn("))
    assert "never calls fn" in complaint(directory)


def test_a_configuration_without_a_required_key_is_named(directory: Path) -> None:
    (directory / "config_forward.json").write_text(json.dumps({"single_init_configs": [{"power": 2}]}))
    assert "num_features" in complaint(directory)


@pytest.mark.parametrize(
    ("text", "problem"), [("{", "not JSON"), ("[]", "not a table"), ('{"single_init_configs": 3}', "not a list")]
)
def test_a_broken_configuration_is_named(directory: Path, text: str, problem: str) -> None:
    (directory / "config_forward.json").write_text(text)
    assert "config_forward.json" in complaint(directory)
    assert problem in complaint(directory)


def test_an_autograd_function_without_backward_fn_is_named(directory: Path) -> None:
    path = directory / "func_backward.py"
    path.write_text(path.read_text().replace("AutogradFunction.backward_fn(", "max("))
    with pytest.raises(TaskError, match=r"does not call AutogradFunction.backward_fn"):
        load(str(directory), direction="backward")


def sizes(task: Task, role: Role) -> list[dict[str, int]]:
    return [dict(case.dims) for case in task.cases_of(role)]
