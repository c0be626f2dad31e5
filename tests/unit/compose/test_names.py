"""Names in composed sources: one for each value, and no value under another's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import plan as plan_of
from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.seal import toolchain
from warpwright.seal.sealing import seal
from warpwright.tasks import load

TASKS = [
    "paper/layernorm:backward",
    "paper/llama_rmsnorm:training",
    "paper/resnet_block:backward",
    "modern/group_norm_silu:backward",
    "modern/log_softmax:backward",
    "modern/cross_entropy:training",
    "modern/rope:forward",
]
DECLARED = re.compile(r"(?:const )?(?:float|int|int64_t|bool|Pack<[\w, ]+>) (?P<name>\w+)(?:\[\w+\])?(?: =|;)")


@cache
def source(name: str) -> str:
    (task,) = load(name)
    planned = plan_of(task)
    return planned.write(planned.default())


@cache
def own(text: str, *inputs: str, direction: str = "forward") -> str:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ref.py"
        path.write_text(f"import torch\n\n{text}")
        (task,) = load(f"{path}:f", inputs=list(inputs), direction=direction)
    return plan_of(task).write({})


def kernels(text: str) -> list[str]:
    return re.findall(r"^__global__ .*?^}", text, flags=re.DOTALL | re.MULTILINE)


def shadows(kernel: str) -> Iterator[str]:
    """Names that are declared where an enclosing scope has them already. Indentation tells scopes."""
    scopes: dict[int, set[str]] = defaultdict(set)
    for line in kernel.splitlines():
        depth = len(line) - len(line.lstrip())
        for deeper in [known for known in scopes if known > depth]:
            del scopes[deeper]
        if found := DECLARED.match(line.strip()):
            if any(found["name"] in names for outer, names in scopes.items() if outer < depth):
                yield found["name"]
            scopes[depth].add(found["name"])


def test_shadows_are_seen() -> None:
    lines = ["void f() {", "    const float a = 1;", "    for (;;) {", "        const float a = 2;", "    }", "}"]
    assert list(shadows("\n".join(lines))) == ["a"]


@pytest.mark.parametrize("name", TASKS)
def test_no_name_hides_another(name: str) -> None:
    found = kernels(source(name))
    assert found
    assert [hidden for kernel in found for hidden in shadows(kernel)] == []


@pytest.mark.parametrize("name", TASKS)
def test_a_value_has_one_name_in_all_passes_of_a_kernel(name: str) -> None:
    """What is computed by the same words from the same names is the same."""
    for kernel in kernels(source(name)):
        called = defaultdict(set)
        for declared, words in re.findall(r"const float (\w+) = ([^;]*);", kernel):
            called[words].add(declared)
        assert {words: names for words, names in called.items() if len(names) > 1} == {}


def test_arguments_keep_the_names_they_have() -> None:
    text = source("modern/group_norm_silu:forward")
    assert "int64_t groups, double eps)" in text
    assert "groups_" not in text


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("kernel, vectors", "return torch.softmax(kernel * vectors, -1)"),
        ("packs, run", "new = torch.cumsum(packs, -1)\n    blocks = new * run\n    return torch.cumsum(blocks, -1)"),
        ("A, B", "C = A @ B.T\n    D = torch.cumsum(C, -1)\n    return torch.softmax(D, -1)"),
        (
            "x, y",
            "__union__ = torch.cumsum(x * y, -1)\n    \u03c3 = __union__ + x\n    return \u03c3.softmax(-1)",
        ),
    ],
)
def test_names_of_the_reference_are_in_nobodys_way(tmp_path: Path, parameters: str, body: str) -> None:
    path = tmp_path / "ref.py"
    path.write_text(f"import torch\n\ndef f({parameters}):\n    {body}\n", encoding="utf-8")
    (task,) = load(f"{path}:f", inputs=["64,512:fp32", "64,512:fp32"], direction="forward")
    sealed = seal(task, Candidate(source=plan_of(task).write({})))
    assert isinstance(sealed, Sealed), sealed


def test_gradients_are_called_after_what_they_are_the_gradients_of() -> None:
    kernel = next(text for text in kernels(source("paper/layernorm:backward")) if "_cooperative_kernel" in text)
    assert "grad_rstd += grad_y_times_weight * centred;" in kernel
    text = source("modern/group_norm_silu:backward")
    assert re.search(r"const float grad_normed = float\(grad_y_pack.at\[k\]\) \* logistic", text)


def test_a_gradient_belongs_to_the_last_thing_that_a_statement_computes() -> None:
    code = "    inner = torch.mul(\n        torch.exp(x),\n        y,\n    )\n    return inner * torch.sin(inner)\n"
    text = own(f"def f(x, y):\n{code}", "64,32:fp32", "64,32:fp32", direction="backward")
    (declared,) = set(re.findall(r"const float grad_inner = ([^;]*);", text))
    assert "sinf(inner)" in declared


@pytest.mark.parametrize(
    ("expression", "declared"),
    [
        ("y = x * w\n    return y / y.square().sum(-1, keepdim=True)", "sum_of_y_squared"),
        ("y = x * w\n    return torch.tanh(y) * (2 * y).sum(-1, keepdim=True)", "sum_of_twice_y"),
        ("return x / (x * w).sum(-1, keepdim=True)", "sum_of_x_times_w"),
    ],
)
def test_sums_are_called_after_what_is_summed(expression: str, declared: str) -> None:
    assert f"float {declared} = Sum::identity();" in own(
        f"def f(x, w):\n    {expression}\n", "64,32:fp32", "64,32:fp32"
    )


def test_sums_of_rows_that_make_a_result_are_called_after_it() -> None:
    assert "loss_of_rows[row] = " in source("modern/cross_entropy:training")
