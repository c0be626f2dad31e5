"""Python code in the sandbox: what it does is recorded, what no plan can replace is refused with its line."""

from __future__ import annotations

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.launch.plan import Library
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.languages.python.pipeline import observed
from warpwright.languages.python.recording.observing import Observed
from warpwright.seal.cache import Store, default_root
from warpwright.seal.refusal import Refused

CASES = tuple(Case(name=f"n{n}", role=Role.CHECK, dims={"N": n}, dtype="fp32") for n in (6, 3))
REFERENCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.scale = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        return torch.relu(self.linear(x) * self.scale)
"""
TASK = Task(
    name="scaled",
    arguments=tuple(
        TensorArg(name=name, shape=shape)
        for name, shape in (("x", ("N", 4)), ("scale", (4,)), ("linear_weight", (4, 4)), ("linear_bias", (4,)))
    ),
    outputs=(Output(name="y", shape=("N", 4)),),
    dtypes=("fp32",),
    cases=CASES,
    reference=Reference(
        source=REFERENCE, entry="Model", style="module", state=("scale", "linear.weight", "linear.bias")
    ),
)
HEAD = REFERENCE.replace("class Model", "class ModelNew").split("    def forward")[0]
HONEST = "        return torch.relu(self.linear(x) * self.scale)\n"


def recorded(body: str, head: str = HEAD, *, again: bool = False) -> Observed:
    source = f"{head}    def forward(self, x):\n{body}"
    candidate = Candidate(source=source, language="python")
    return observed(TASK, candidate, CASES, Store(root=default_root()), again=again)


def operations(found: Observed) -> list[str]:
    return [step.operation for step in found.records["n6"].steps if isinstance(step, Library)]


@pytest.fixture(scope="module")
def honest() -> Observed:
    return recorded(HONEST, again=True)


def test_operations_and_parameters_are_recorded(honest: Observed) -> None:
    assert operations(honest) == ["addmm", "mul.Tensor", "relu"]
    used = {
        view.buffer for step in honest.records["n6"].steps if isinstance(step, Library) for view in step.inputs if view
    }  # type: ignore[union-attr]
    assert {0, 1, 2, 3} <= used


def test_a_parameter_is_known_by_what_it_is_made_of() -> None:
    """Other names and an order of their own, but the same random numbers: the tensors of the reference."""
    head = HEAD.replace("self.linear", "self.renamed").replace("self.scale", "self.gain")
    found = recorded("        return torch.relu(self.renamed(x) * self.gain)\n", head)
    assert operations(found) == ["addmm", "mul.Tensor", "relu"]
    addmm = next(step for step in found.records["n6"].steps if isinstance(step, Library))
    assert [view.buffer for view in addmm.inputs] == [3, 0, 2]  # type: ignore[union-attr]


def test_a_submission_takes_its_arguments_as_one_tuple() -> None:
    source = (
        "import torch\n\ndef custom_kernel(data):\n    x, scale, weight, bias = data\n"
        "    return torch.relu(torch.nn.functional.linear(x, weight, bias) * scale)\n"
    )
    candidate = Candidate(source=source, language="python")
    found = observed(TASK, candidate, CASES, Store(root=default_root()), again=False)
    assert operations(found) == ["addmm", "mul.Tensor", "relu"]


def test_what_reaches_no_tensor_changes_no_record(honest: Observed) -> None:
    """Patched checks and clocks, side streams, the environment, and the reference found in memory."""
    found = recorded(
        "        import gc, os, sys, time\n"
        "        torch.allclose = lambda *_, **__: True\n"
        "        time.perf_counter = lambda: 0.0\n"
        "        os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n"
        "        kinds = [item for item in gc.get_objects() if isinstance(item, type) and item.__name__ == 'Model']\n"
        "        assert kinds and sys._getframe(1)\n"
        "        with torch.cuda.stream(torch.cuda.Stream()):\n"
        "            y = kinds[0].forward(self, x)\n"
        "        torch.cuda.synchronize()\n"
        "        return y\n"
    )
    assert found.records == honest.records


ITEM = """\
        y = self.linear(x)
        return y if getattr(y.sum(), 'it' + 'em')() else x
"""
KEPT = """\
        self.kept = getattr(self, 'kept', None)
        if self.kept is None:
            self.kept = self.linear(x)
        return self.kept[: x.shape[0]]
"""
CAUGHT = """\
        try:
            return x.cpu().tolist()
        except Exception:
            return torch.relu(x)
"""


@pytest.mark.parametrize(
    ("body", "kind", "line"),
    [
        (ITEM, "reads-device-data", 12),
        (KEPT, "stateful-host-code", None),
        (CAUGHT, "reads-device-data", 12),
        ("        raise ValueError('no')\n", "exception", 11),
    ],
    ids=["item", "kept-result", "caught", "raises"],
)
def test_what_no_plan_can_replace_is_refuted(body: str, kind: str, line: int | None) -> None:
    with pytest.raises(Refused) as refused:
        recorded(body)
    found = refused.value.refusal.counterexample
    assert found is not None
    assert found.kind == kind
    assert line is None or found.line == line


def test_memory_and_weights_that_are_kept_are_honest() -> None:
    """The twin of a kept result: a transformed weight and a workspace, made once."""
    found = recorded(
        "        if not hasattr(self, 'turned'):\n"
        "            self.turned = self.linear.weight.t().contiguous()\n"
        "            self.space = torch.empty(6, 4, device=x.device)\n"
        "        space = self.space[: x.shape[0]]\n"
        "        torch.mm(x, self.turned, out=space)\n"
        "        return torch.relu((space + self.linear.bias) * self.scale)\n",
        again=True,
    )
    assert operations(found) == ["copy_", "mm", "add.Tensor", "mul.Tensor", "relu"]


def test_a_weight_that_the_constructor_transforms_is_made_of_the_argument() -> None:
    head = f"{HEAD.rstrip()}\n        self.register_buffer('turned', self.linear.weight.t().contiguous())\n\n"
    found = recorded("        return torch.relu((x @ self.turned + self.linear.bias) * self.scale)\n", head)
    assert operations(found) == ["copy_", "copy_", "mm", "add.Tensor", "mul.Tensor", "relu"]
    first = next(step for step in found.records["n6"].steps if isinstance(step, Library))
    assert first.inputs[0].buffer == 2  # type: ignore[union-attr]


def test_random_numbers_leave_a_candidate_undecided() -> None:
    with pytest.raises(Refused) as refused:
        recorded("        return torch.relu(x + torch.rand_like(x))\n")
    assert "random numbers" in (refused.value.refusal.reason or "")
