"""Small products: which share a launch, and what else is done there."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright.compose import plan as plan_of
from warpwright.compose.code.printer import printed
from warpwright.compose.code.statements import If
from warpwright.compose.kernels.product.tile import is_small
from warpwright.compose.kernels.registry import chosen
from warpwright.compose.kernels.site import sites_of
from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Verdict
from warpwright.tasks import load
from warpwright.verify.ladder import climb


def fallback(host) -> str:
    """What an entry point does where the kernel for tiles declines."""
    (declined,) = [node for node in host.statements if isinstance(node, If) and "tile_products" in node.test.text]
    return "\n".join(printed(declined.then))


@pytest.mark.parametrize("name", ["paper/mnist_linear:backward", "paper/mnist_linear:training"])
def test_products_of_one_factor_and_its_column_sums_share_a_launch(composed, name: str) -> None:
    found = composed(name)
    choices = found.strategies(len(found.plan.entries) - 1)
    assert choices[0][0] == "tile products"
    host = found.function("backward")
    columns = host.calls("launch_mnist_linear_backward_columns")
    assert len(columns) == 1
    assert host.statements[columns[0]].value.text in fallback(host)


def test_a_first_factor_that_is_needed_once_is_computed_where_it_is_read(composed) -> None:
    host = composed("paper/mnist_linear_relu:backward").function("backward")
    (made,) = host.declares("alive")
    declined = min(place for place, node in enumerate(host.statements) if isinstance(node, If))
    assert made > declined, "only where the kernel for tiles declines is it left in memory"


@pytest.mark.parametrize(
    ("body", "is_left_first"),
    [
        ("a = x.relu(); return a @ w, a", True),  # It is returned too.
        ("return (x * x[0]) @ w", True),  # It takes more than its own elements.
        ("return x.relu() @ w", False),
    ],
)
def test_a_first_factor_that_others_need_too_is_left_in_memory(function_of, body: str, is_left_first: bool) -> None:
    host = function_of("x, w", body, "64,32:fp32", "32,48:fp32").function("forward")
    (made,) = host.calls("launch_f_elements")
    declined = min(place for place, node in enumerate(host.statements) if isinstance(node, If))
    assert (made < declined) is is_left_first


def test_products_that_need_each_other_share_no_launch(function_of) -> None:
    found = function_of("x, y", "return x @ (x @ y)", "32,32:fp32", "32,32:fp32")
    assert [choice[0] for choice in found.strategies()] == ["tile products", "tile products"]
    mixed = function_of("x", "return (x @ x.t()) @ x", "8,16:fp32")
    assert sorted(choice[0] for choice in mixed.strategies()) == ["small products", "tile products"]


def test_sums_that_no_product_can_leave_have_a_kernel(function_of) -> None:
    host = function_of("x, w", "return x @ w, x.sum(0)", "64,32:fp32", "32,48:fp32").function("forward")
    assert host.calls("launch_f_columns")
    assert "launch_f_columns" not in fallback(host)


def test_what_is_large_is_left_to_a_library(composed) -> None:
    h200 = gpu_named("h200")
    assert is_small(64, 1600, 128, h200)
    assert not is_small(64, 1600, 257, h200)
    assert not is_small(1024, 1024, 64, h200)
    assert "tile products" not in composed("paper/unet_linear:backward").serving()


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
    plan = plan_of(task)
    assert any(
        strategy.name == "tile products"
        for site in sites_of(plan.entries[0])
        for strategy, _ in chosen(site, plan.usual)
    )
    text = plan.write({})
    assert climb(task, Candidate(source=text)).dossier.verdict is Verdict.HOLDS
