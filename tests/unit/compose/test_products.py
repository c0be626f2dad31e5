"""Small products: which share a launch, and what else is done there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import plan as plan_of
from warpwright.compose.kernels.product.tile import is_small
from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Verdict
from warpwright.tasks import load
from warpwright.verify.ladder import climb

LINEAR = "{{weight, grad_x, false}, {x, grad_weight, true, grad_bias}}"


@cache
def source(name: str) -> str:
    (task,) = load(name)
    return plan_of(task).write({})


def backward(name: str) -> str:
    return source(name).partition("> backward(")[2].partition("\n}\n")[0]


def of_a_user(folder: Path, names: str, body: str, *inputs: str) -> str:
    path = folder / "ref.py"
    path.write_text(f"import torch\n\ndef f({names}):\n    {body}\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=list(inputs), direction="forward")
    return plan_of(task).write({})


@pytest.mark.parametrize("name", ["paper/mnist_linear:backward", "paper/mnist_linear:training"])
def test_products_of_one_factor_and_its_column_sums_share_a_launch(name: str) -> None:
    text = backward(name)
    assert LINEAR in text
    fallback = text.partition("if (!tile_products<scalar_t>(")[2].partition("        }\n")[0]
    assert text.count("launch_") == fallback.count("launch_mnist_linear_backward_columns<scalar_t>(") == 1
    assert "grad_weight = at::mm(grad_y.t(), x);" in fallback


def test_a_first_factor_that_nobody_else_needs_is_computed_where_it_is_read() -> None:
    name = "paper/mnist_linear_relu:backward"
    struct = source(name).partition("struct BackwardAlive {")[2].partition("\n};\n")[0]
    assert "to[k] = (float(y_pack.at[k]) > 0) ? float(grad_y_pack.at[k]) : 0.0f;" in struct
    before, _, fallback = backward(name).partition("if (!tile_products<scalar_t>(")
    assert LINEAR in fallback
    assert "alive" not in before
    assert "auto alive = torch::empty(" in fallback


def test_a_first_factor_that_is_owed_too_is_left_in_memory(tmp_path: Path) -> None:
    text = of_a_user(tmp_path, "x, w", "a = x.relu(); return a @ w, a", "64,32:fp32", "32,48:fp32")
    assert text.index("launch_f_elements<scalar_t>(") < text.index("if (!tile_products<float>(")
    alone = of_a_user(tmp_path, "x, w", "return x.relu() @ w", "64,32:fp32", "32,48:fp32")
    assert alone.index("if (!tile_products<float>(") < alone.index("launch_f_elements<scalar_t>(")


def test_a_first_factor_that_takes_more_than_its_own_elements_is_left_in_memory(tmp_path: Path) -> None:
    text = of_a_user(tmp_path, "x, w", "return (x * x[0]) @ w", "64,32:fp32", "32,48:fp32")
    assert text.index("launch_f_elements<scalar_t>(") < text.index("if (!tile_products<float>(")


def test_products_that_need_each_other_share_no_launch(tmp_path: Path) -> None:
    text = of_a_user(tmp_path, "x, y", "return x @ (x @ y)", "32,32:fp32", "32,32:fp32")
    assert text.count("if (!tile_products<float>(") == 2
    mixed = of_a_user(tmp_path, "x", "return (x @ x.t()) @ x", "8,16:fp32")
    assert mixed.count("if (!small_products<float>(") == mixed.count("if (!tile_products<float>(") == 1


def test_sums_that_no_product_can_leave_have_a_kernel(tmp_path: Path) -> None:
    text = of_a_user(tmp_path, "x, w", "return x @ w, x.sum(0)", "64,32:fp32", "32,48:fp32")
    assert "{{w, y0, false}}" in text
    assert "        }\n        launch_f_columns<scalar_t>(" in text


def test_what_is_large_is_left_to_a_library() -> None:
    h200 = gpu_named("h200")
    assert is_small(64, 1600, 128, h200)
    assert not is_small(64, 1600, 257, h200)
    assert not is_small(1024, 1024, 64, h200)
    assert "tile_products" not in source("paper/unet_linear:backward")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("body", "inputs"),
    [
        pytest.param(
            "return torch.addmm(c, x, w)", ("40,160:fp32", "160,36:fp32", "36:fp32"), marks=pytest.mark.corpus
        ),
        ("return torch.addmm(c, x.t(), w), x.sum(0)", ("130,33:bf16", "130,35:bf16", "35:bf16")),
        ("return (x * x).t() @ w, (x * x).sum(0), (x * x) @ c", ("36,40:bf16", "36,64:bf16", "40,68:bf16")),
    ],
)
def test_tiles_hold(tmp_path: Path, body: str, inputs: tuple[str, ...]) -> None:
    """More than one round of what is summed, edges, a bias, sums, packs and single elements."""
    path = tmp_path / "ref.py"
    path.write_text(f"import torch\n\ndef f(x, w, c):\n    {body}\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=list(inputs), direction="forward")
    text = plan_of(task).write({})
    assert "if (!tile_products<" in text
    assert climb(task, Candidate(source=text)).dossier.verdict is Verdict.HOLDS
