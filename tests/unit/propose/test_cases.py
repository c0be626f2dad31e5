"""A task's cases and reference in words: nothing that decides is left out, nothing is said twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright import languages
from warpwright.core.gpus.table import gpu_named
from warpwright.core.hidden import hidden_cases
from warpwright.core.task import Case, Layout, Output, Range, Reference, Role, ScalarArg, Task, TensorArg, Work
from warpwright.propose.prompting.cases import checked, gradient_layouts, hidden, limits_us, timed
from warpwright.propose.prompting.describe import description
from warpwright.propose.prompting.reference import reference
from warpwright.tasks import load

H200 = gpu_named("h200")


def task(*cases: Case, source: str = "def forward(x):\n    return x\n", **more: object) -> Task:
    return Task(
        name="t",
        arguments=(TensorArg(name="x", shape=("N",)),),
        outputs=(Output(name="y", shape=("N",)),),
        cases=cases or (Case(name="a", role=Role.CHECK),),
        reference=Reference(source=source),
        **more,  # type: ignore[arg-type]
    )


def test_equal_sizes_are_told_once() -> None:
    cases = [Case(name=f"n{dtype}", role=Role.CHECK, dims={"N": 7}, dtype=dtype) for dtype in ("fp32", "bf16")]
    assert checked(task(*cases)) == "N=7"


def test_unusual_types_and_strides_are_named() -> None:
    cases = [Case(name=f"{n}{t}", role=Role.CHECK, dims={"N": n}, dtype=t) for n in (1, 2) for t in ("fp32", "bf16")]
    odd = Case(name="odd", role=Role.CHECK, dims={"N": 2}, layout=Layout.EXPANDED)
    assert checked(task(*cases, odd)) == "N=1; N=2; N=2, gradients with stride 0 everywhere (fp32 only)"
    assert gradient_layouts(task(odd)) == "with stride 0 everywhere"


def test_strides_of_a_single_number_are_not_spoken_of() -> None:
    odd = Case(name="odd", role=Role.CHECK, dims={"N": 2}, layout=Layout.EXPANDED)
    loss = replace(task(odd), outputs=(Output(name="loss", shape=()),))
    assert checked(loss) == "N=2"
    assert gradient_layouts(loss) is None
    assert gradient_layouts(task(replace(odd, layout=Layout.CONTIGUOUS))) == "with any strides"


def test_whole_numbers_that_may_decide_shapes_are_told() -> None:
    cases = [
        Case(name=f"k{k}", role=Role.CHECK, dims={"N": 7}, dtype=dtype, scalars={"k": k, "eps": 0.1, "flag": True})
        for k, dtype in ((2, "fp32"), (4, "bf16"))
    ]
    assert checked(task(*cases)) == "N=7 k=2|4"


def test_a_task_without_work_has_no_limit() -> None:
    only = task(Case(name="big", role=Role.TIME, dims={"N": 1 << 20}))
    assert timed(only, H200) == "- big (N=1048576): limit unknown"
    assert limits_us(only, H200) == {"big": None}


def test_small_work_is_called_small() -> None:
    only = task(Case(name="N7", role=Role.TIME, dims={"N": 7}), work=Work(reads="N*e"))
    assert timed(only, H200) == "- N7: under 1 µs of work, so the latency of each kernel decides"


def test_hidden_sizes_exist_whether_or_not_their_range_is_known() -> None:
    assert "which you are not shown" in hidden(task())
    assert "drawn from B 1 to 6" in hidden(load("layernorm:forward")[0])


def test_everything_that_hidden_cases_draw_is_told() -> None:
    assert "N 1 to 300, E 8 to 300, k in {2, 4, 8, 6}." in hidden(load("topk_gating:forward")[0])
    ranges = {"N": Range(low=2, high=8, multiple=2), "D": Range(choices=(64,))}
    scalars = (ScalarArg(name="eps", values=(0.1, 0.1)), ScalarArg(name="pads", values=((1, 2), (0, 0))))
    asked = replace(task(), ranges=ranges, arguments=scalars)
    assert hidden(asked).endswith("drawn from N 2 to 8 in steps of 2, D = 64, eps = 0.1, pads in {[1, 2], [0, 0]}.")
    for case in hidden_cases(asked, 1, 8):
        assert all(f"{name} " in hidden(asked) for name in (*case.dims, *case.scalars))


SOURCE = '''"""A file."""
import math
import torch

FACTOR, OTHER = 2, 3

def half(x):
    return x / FACTOR

@torch.no_grad()
def forward(x):
    return half(x) + math.pi

def rival(x):
    return torch.relu(x)
'''


def test_the_entry_and_all_it_mentions_are_kept() -> None:
    text = reference(task(source=SOURCE))
    assert "FACTOR, OTHER = 2, 3" in text
    assert "def half(x):" in text
    assert "@torch.no_grad()\ndef forward(x):" in text
    assert "import torch" in text
    assert "rival" not in text
    compile(text, "reference.py", "exec")


@pytest.mark.parametrize("source", ["def broken(:", "nothing = 1", "\0"])
def test_what_cannot_be_cut_is_shown_whole(source: str) -> None:
    assert reference(task(source=source)) == source


@given(st.text())
def test_any_source_can_be_shown(source: str) -> None:
    assert isinstance(reference(task(source=source)), str)


def test_a_module_is_told_with_its_arguments_and_state() -> None:
    told = Reference(
        source="class Net: ...", entry="Net", style="module", init=(4,), init_named={"b": True}, state=("w",)
    )
    text = description(
        Task(
            name="net",
            arguments=(TensorArg(name="x", shape=("N",)), TensorArg(name="w", shape=("N",))),
            outputs=(Output(name="y", shape=("N",)),),
            cases=(Case(name="a", role=Role.CHECK, dims={"N": 3}),),
            reference=told,
        ),
        H200,
        languages.named("cuda"),
    )
    assert "Correct results are those of the module `Net(4, b=True)`, as written below." in text
    assert "follow the inputs as arguments: w." in text
