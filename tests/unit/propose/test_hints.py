"""The library of hints: enough, short, restricted to what exists, and each of use somewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwright import languages
from warpwright.core.gpus.limit import Bound
from warpwright.core.gpus.table import GPUS, gpu_named
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.propose.prompting.gpu.hints import Hint, applicable, bounds_of, called, hint_text, hints, unsuited
from warpwright.tasks import all_tasks, load

TASKS = all_tasks()
CUDA = languages.named("cuda")


@pytest.mark.parametrize("hint", hints(CUDA), ids=lambda hint: hint.id)
def test_a_hint_is_short_and_speaks_of_what_exists(hint: Hint) -> None:
    assert 8 <= len(hint.text.split()) <= 60
    assert hint.text.endswith(".")
    assert set(hint.architectures) <= {gpu.arch for gpu in GPUS.values()}
    assert set(hint.families) <= {task.family for task in TASKS}


def test_there_are_enough_and_each_has_its_own_name() -> None:
    assert len(hints(CUDA)) >= 40
    assert len({hint.id for hint in hints(CUDA)}) == len({hint.text for hint in hints(CUDA)}) == len(hints(CUDA))


def test_each_is_of_use_for_some_task_on_some_gpu() -> None:
    used = {hint.id for task in TASKS for gpu in GPUS.values() for hint in applicable(task, gpu, CUDA)}
    assert used == {hint.id for hint in hints(CUDA)}


def named(task: str, gpu: str) -> set[str]:
    return {hint.id for hint in applicable(load(task)[0], gpu_named(gpu), CUDA)}


def test_architectures_matter() -> None:
    assert "wgmma" in named("matmul:forward", "h200")
    assert "wgmma" not in named("matmul:forward", "b200")
    assert "tcgen05" in named("matmul:forward", "b200")
    assert "tcgen05" not in named("matmul:forward", "rtx5090")
    assert "cp-async-stages" not in named("matmul:forward", "t4")
    assert "cluster-rows" not in named("softmax:forward", "l4")


def test_families_bounds_and_directions_matter() -> None:
    assert "online-softmax" in named("softmax:forward", "h200")
    assert "online-softmax" not in named("adamw", "h200")
    assert "stream-k" not in named("layernorm:forward", "h200")
    assert "column-partials" in named("layernorm:backward", "h200")
    assert "column-partials" not in named("layernorm:forward", "h200")


def test_a_task_that_says_nothing_gets_what_is_general() -> None:
    task = Task(
        name="mine",
        arguments=(TensorArg(name="x", shape=("N",)),),
        outputs=(Output(name="y", shape=("N",)),),
        cases=(Case(name="n", role=Role.CHECK, dims={"N": 7}),),
        reference=Reference(source=""),
    )
    assert bounds_of(task, gpu_named("h200")) == frozenset()
    found = {hint.id for hint in applicable(task, gpu_named("h200"), CUDA)}
    assert "vector-access" in found
    assert "flash-tiles" not in found


def test_bounds_are_those_of_the_timed_cases() -> None:
    assert bounds_of(load("layernorm:forward")[0], gpu_named("h200")) == {Bound.MEMORY}


def test_words_of_ones_own_are_a_hint_too() -> None:
    assert hint_text("use a spoon") == "use a spoon"
    assert hint_text("one-pass").startswith("Read the data once")


def test_a_hint_about_a_function_is_for_references_that_call_it() -> None:
    offered = {task.key: {hint.id for hint in applicable(task, gpu_named("h200"), CUDA)} for task in TASKS}
    assert "exp2-scaling" in offered["modern/softmax:forward"]
    assert "exp2-scaling" not in offered["paper/llama_rmsnorm:backward"]
    assert "cheap-functions" in offered["paper/llama_rmsnorm:backward"]
    assert "cheap-functions" not in offered["modern/topk_gating:forward"]
    assert "online-softmax" not in offered["paper/layernorm:forward"]
    assert "select-by-register" in offered["modern/topk_gating:forward"]
    assert "select-by-register" not in offered["modern/argmax:forward"]


def test_a_hint_about_an_argument_is_for_functions_that_take_it() -> None:
    assert "column-partials" not in named("softmax:backward", "h200")
    assert "welford-merge" in named("layernorm:forward", "h200")
    assert "welford-merge" not in named("llama_rmsnorm:forward", "h200")
    assert "dequantise-in-registers" in named("int8_linear:forward", "h200")
    assert "dequantise-in-registers" not in named("matmul:forward", "h200")


def test_what_only_a_rival_calls_asks_for_no_hint() -> None:
    source = "def forward(x):\n    return x + 1\n\ndef rival(x):\n    return x.softmax(-1)\n"
    (task,) = load("swiglu:forward")
    plain = replace(task, reference=Reference(source=source))
    assert called(plain) == {"forward"}


def test_a_hint_that_cannot_help_a_kernel_is_unsuited_to_it() -> None:
    no_memset = next(hint for hint in hints(CUDA) if hint.id == "no-memset")
    bounds = next(hint for hint in hints(CUDA) if hint.id == "launch-bounds")
    assert unsuited([no_memset, bounds], "x[i] = 1;") == ("no-memset",)
    assert unsuited([no_memset, bounds], "__launch_bounds__(256) atomicAdd(p, v);") == ("launch-bounds",)


def test_without_measurements_only_ideas_remain_whose_gain_can_be_predicted() -> None:
    (task,) = load("layernorm:forward")
    gpu = gpu_named("h200")
    measured, predicted = (applicable(task, gpu, CUDA, measured=known) for known in (True, False))
    assert {hint.id for hint in measured} - {hint.id for hint in predicted} == {"bulk-copy"}
