"""KernelBench files, loaded unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from warpwright.core.codec import dumps, loads
from warpwright.core.task import Direction, Role, ScalarArg, Task, TensorArg
from warpwright.tasks import load

Sample = Callable[..., Task]
Accepts = Callable[[Task, Callable[..., Any]], None]

NORM, HUGE, LOSS = (f"kernelbench/{name}.py" for name in ("7_Linear_BatchNorm", "8_Huge_Triangular", "9_Cross_Entropy"))


def test_inputs_are_followed_by_the_state_in_its_order(sample: Sample) -> None:
    task = sample(NORM)
    assert [argument.name for argument in task.arguments] == [
        "x", "scale", "mask", "linear_weight", "linear_bias", "norm_weight", "norm_bias",
        "norm_running_mean", "norm_running_var", "norm_num_batches_tracked",
    ]  # fmt: skip
    assert task.reference.state[2:4] == ("linear.weight", "linear.bias")
    assert task.direction is Direction.FORWARD
    assert task.distributions[0] == "unit"


def test_a_module_with_buffers_is_evaluated_as_in_the_file(sample: Sample, accepts: Accepts) -> None:
    def honest(x, scale, mask, weight, bias, gain, shift, mean, variance, count):  # type: ignore[no-untyped-def]
        rows = F.linear(x.double(), weight.double(), bias.double())
        rows = F.batch_norm(rows, None, None, gain.double(), shift.double(), training=True)
        return (rows @ torch.tril(torch.ones(10, 10, dtype=torch.float64)) * scale).float()

    accepts(sample(NORM), honest)


def test_only_the_batch_of_that_module_shrinks_and_its_file_s_size_is_timed(sample: Sample) -> None:
    task = sample(NORM)
    assert sizes(task, Role.TIME) == [{"A": 4096}]
    assert sizes(task, Role.CHECK) == [{"A": 4096}]
    assert {size["A"] for size in sizes(task, Role.ENVELOPE)} >= {2, 3}
    assert task.arguments[0].shape == ("A", 24)  # type: ignore[union-attr]
    assert task.outputs[0].shape == ("A", 10)
    assert set(task.ranges) == {"A"}


def test_inputs_of_many_gigabytes_cost_nothing_and_keep_their_structure(sample: Sample, accepts: Accepts) -> None:
    task = sample(HUGE)
    assert [argument.init for argument in task.arguments if isinstance(argument, TensorArg)] == ["upper", "upper"]
    assert sizes(task, Role.TIME) == [{"C": 65536}]
    accepts(task, lambda a, b: (a.double().triu() @ b.double().triu()).float())


def test_integers_stay_below_the_number_of_classes(sample: Sample, accepts: Accepts) -> None:
    task = sample(LOSS)
    targets = task.arguments[1]
    assert isinstance(targets, TensorArg)
    assert (targets.dtype, targets.below, targets.shape) == ("int64", "B", ("A",))
    assert [argument.values for argument in task.arguments if isinstance(argument, ScalarArg)] == [(None,), (0.125,)]
    accepts(task, lambda p, t, _, s: F.cross_entropy(p.double(), t, label_smoothing=s).float())


def test_a_requested_direction_is_loaded(sample: Sample) -> None:
    task = sample(NORM, direction=Direction.BACKWARD)
    assert {case.layout.value for case in task.cases} == {"contiguous", "expanded", "transposed"}
    given = [argument.name for argument in task.arguments if isinstance(argument, TensorArg) and argument.grad]
    assert given == ["x", "scale", "linear_weight", "linear_bias", "norm_weight", "norm_bias"]


def test_a_loaded_task_is_plain_data(sample: Sample) -> None:
    task = sample(NORM)
    assert loads(Task, dumps(task)) == task


def sizes(task: Task, role: Role) -> list[dict[str, int]]:
    return [dict(case.dims) for case in task.cases_of(role)]


def test_a_distribution_with_parameters_without_data_can_be_sampled(tmp_path: Path) -> None:
    """It validates its parameters first, which fails without data; with data this file takes gigabytes."""
    path = tmp_path / "94_Drawn.py"
    path.write_text(
        "import torch\nfrom torch import nn\nfrom torch.distributions import Pareto\n\n"
        "class Model(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n"
        "def get_inputs():\n    return [Pareto(torch.tensor(0.01), torch.tensor(1.5)).sample((65536, 65536))]\n\n"
        "def get_init_inputs():\n    return []\n"
    )
    (task, *_) = load(str(path))
    assert sizes(task, Role.TIME)


def of_a_layer(folder: Path, layer: str, *sizes: int) -> Task:
    path = folder / "57_Layer.py"
    path.write_text(
        "import torch\nfrom torch import nn\n\nclass Model(nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n        self.layer = nn.{layer}\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n\n"
        f"def get_inputs():\n    return [torch.rand{sizes}]\n\n"
        "def get_init_inputs():\n    return []\n"
    )
    return load(str(path))[0]


def test_a_size_that_only_seems_free_without_data_does_not_keep_others_from_shrinking(tmp_path: Path) -> None:
    """torch's transposed convolution takes any number of channels as long as there is no data."""
    task = of_a_layer(tmp_path, "ConvTranspose2d(64, 32, 3)", 8, 64, 512, 512)
    assert sizes(task, Role.TIME) == [{"A": 8, "B": 512}]
    assert len(sizes(task, Role.ENVELOPE)) > 1
    assert max(size["B"] for size in sizes(task, Role.ENVELOPE)) < 100
    assert task.arguments[0].shape == ("A", 64, "B", "B")  # type: ignore[union-attr]


@pytest.mark.parametrize("extent", [32, 128])
def test_a_size_equal_to_one_that_only_seems_free_still_shrinks(tmp_path: Path, extent: int) -> None:
    """Of the two extents, one is small enough to be tried with data while pixels are as many as given."""
    task = of_a_layer(tmp_path, f"ConvTranspose2d({extent}, 8, 3)", 4, extent, extent, extent)
    assert sizes(task, Role.TIME) == [{"A": 4, "B": extent, "C": extent}]
    assert max(size["B"] * size["C"] for size in sizes(task, Role.ENVELOPE)) < 1000
    assert task.arguments[0].shape == ("A", extent, "B", "C")  # type: ignore[union-attr]


def test_a_height_equal_to_the_number_of_channels_shrinks(tmp_path: Path) -> None:
    task = of_a_layer(tmp_path, "Conv2d(64, 64, (3, 7), groups=64)", 8, 64, 64, 256)
    assert sizes(task, Role.TIME) == [{"A": 8, "B": 64, "C": 256}]
    assert max(size["B"] * size["C"] for size in sizes(task, Role.ENVELOPE)) < 1000
    assert task.arguments[0].shape == ("A", 64, "B", "C")  # type: ignore[union-attr]


def test_if_no_run_is_small_the_smallest_form_the_envelope(tmp_path: Path) -> None:
    task = of_a_layer(tmp_path, "LayerNorm((64, 64, 16))", 64, 64, 64, 16)
    assert sizes(task, Role.TIME) == [{"A": 64}]
    assert sorted(size["A"] for size in sizes(task, Role.ENVELOPE)) == [1, 2, 3]


def test_large_cases_are_limited_to_those_that_reveal_wrong_strides(tmp_path: Path) -> None:
    """With a batch of one, no stride of the batch can be wrong."""
    task = of_a_layer(tmp_path, "LayerNorm((64, 64, 64))", 64, 64, 64, 64)
    assert sorted(size["A"] for size in sizes(task, Role.ENVELOPE)) == [1, 2]
    assert min(size["A"] for size in sizes(task, Role.CHECK)) > 1


def test_a_run_that_fails_with_data_is_not_checked(tmp_path: Path) -> None:
    """Every made-up run has fewer channels than the convolution has weights for."""
    task = of_a_layer(tmp_path, "Sequential(nn.ConvTranspose1d(4, 1, 1), nn.LayerNorm(65536))", 8, 4, 65536)
    assert {size["B"] for size in sizes(task, Role.CHECK)} == {4}
    assert not sizes(task, Role.ENVELOPE)
