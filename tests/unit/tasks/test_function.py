"""Loading of ref.py:fn and model.py:Net, and common mistakes of new users."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from warpwright.core.errors import Exit, OurFault, TaskError, UsageError
from warpwright.core.hidden import hidden_cases
from warpwright.core.task import Direction, Role, ScalarArg, Task, TensorArg
from warpwright.tasks import load
from warpwright.tasks.probing import probe
from warpwright.tasks.probing.seen import Job

SAMPLES = Path(__file__).parent / "samples"
Sample = Callable[..., Task]
Accepts = Callable[[Task, Callable[..., Any]], None]

REFERENCE = "functions/reference.py"
PATH = str(SAMPLES / REFERENCE)


def test_arguments_are_named_by_the_signature_and_defaults_fill_the_rest(sample: Sample, accepts: Accepts) -> None:
    task = sample(f"{REFERENCE}:scaled", "4,64:fp16", "64:fp16", "eps=1e-3")
    assert [argument.name for argument in task.arguments] == ["x", "weight", "eps", "bias"]
    assert [a.values for a in task.arguments if isinstance(a, ScalarArg)] == [(1e-3,), (None,)]
    assert task.dtypes == ("fp16",)
    assert task.outputs[0].dtype == "fp32"  # the reference itself promotes
    accepts(task, lambda x, w, eps, bias: x * w / (x.double().square().mean(-1, keepdim=True) + eps).sqrt().float())


def test_a_module_takes_on_the_dtype_of_its_inputs_if_it_must(sample: Sample, accepts: Accepts) -> None:
    task = sample(f"{REFERENCE}:Net", "4,16:bf16")
    assert task.reference.dtype == "bf16"
    assert {a.dtype for a in task.arguments if isinstance(a, TensorArg)} == {"T"}
    accepts(task, lambda x, table, w, b: torch.relu(torch.nn.functional.linear(x, w, b)) + table)
    assert sample(f"{REFERENCE}:Net", "4,16").reference.dtype is None
    assert sample(f"{REFERENCE}:Upcasting", "4,16:bf16").reference.dtype is None


def test_smaller_sizes_surround_the_given_ones(sample: Sample, accepts: Accepts) -> None:
    task = sample(f"{REFERENCE}:softmax", "8,32,48:bf16")
    assert sizes(task, Role.TIME) == sizes(task, Role.CHECK) == [{"A": 8, "B": 32, "C": 48}]
    assert {"A": 1, "B": 1, "C": 1} in sizes(task, Role.ENVELOPE)
    assert any(size["C"] % 2 and size["C"] > 1 for size in sizes(task, Role.ENVELOPE))
    accepts(task, lambda x, dim: torch.softmax(x.double(), dim).bfloat16())


def test_reductions_of_large_sizes_keep_each_size_and_its_divisors(sample: Sample) -> None:
    task = sample(f"{REFERENCE}:softmax", "64,512,768:bf16")
    asked = {"A": 64, "B": 512, "C": 768}
    assert sizes(task, Role.TIME) == [asked]
    checked = task.cases_of(Role.CHECK)
    assert {case.stands_for for case in checked} == {task.cases_of(Role.TIME)[0].name}
    for name, extent in asked.items():
        assert any(case.dims[name] == extent for case in checked)
        assert all(case.dims[name] % 2 == 0 for case in checked)


def test_products_are_reduced_by_what_they_multiply(sample: Sample) -> None:
    task = sample(f"{REFERENCE}:product", "512,512", "512,512")
    assert task.cases_of(Role.CHECK)
    assert all(math.prod(case.dims.values()) <= 2**25 for case in task.cases_of(Role.CHECK))


def test_hidden_sizes_are_drawn_only_for_tasks_that_cover_their_ranges(sample: Sample) -> None:
    task = sample(f"{REFERENCE}:softmax", "8,32,48:bf16")
    assert not hidden_cases(task, secret=1, count=2)
    assert len(hidden_cases(task.in_general(), secret=1, count=2)) == 2
    assert task.asked + task.cases_of(Role.ENVELOPE)
    assert not task.in_general().cases_of(Role.ENVELOPE)


@pytest.mark.parametrize("direction", [Direction.BACKWARD, Direction.TRAINING])
def test_other_directions_are_loaded_on_request(sample: Sample, direction: Direction) -> None:
    task = sample(f"{REFERENCE}:softmax", "8,64", direction=direction)
    assert task.key == f"softmax:{direction}"


def test_indices_stay_inside_the_table_whatever_its_size(sample: Sample, accepts: Accepts) -> None:
    task = sample(f"{REFERENCE}:embed", "100,16", "8:int64<100")
    assert isinstance(task.arguments[1], TensorArg)
    assert task.arguments[1].below == "A"
    accepts(task, lambda table, index: torch.nn.functional.embedding(index, table))


def test_distributions_that_give_non_finite_results_are_omitted(sample: Sample) -> None:
    assert "negative" not in sample(f"{REFERENCE}:root", "16,16").distributions
    assert "negative" in sample(f"{REFERENCE}:softmax", "8,64").distributions


def test_results_may_be_8_bit_floats(sample: Sample) -> None:
    assert sample(f"{REFERENCE}:in_eight_bits", "16,64").outputs[0].dtype == "e4m3"


def test_a_mutated_argument_is_declared(sample: Sample) -> None:
    task = sample(f"{REFERENCE}:add_in_place", "6,4", "6,4")
    assert task.mutates == ("x",)
    assert task.outputs[0].name == "out"
    with pytest.raises(TaskError, match="in place, so it has no backward"):
        sample(f"{REFERENCE}:add_in_place", "6,4", "6,4", direction=Direction.BACKWARD)


def test_a_function_that_looks_at_data_gets_some(sample: Sample, accepts: Accepts) -> None:
    accepts(sample(f"{REFERENCE}:looks_at_data", "6,4"), lambda x: (x.double() * x.double().sum()).float())


def test_a_module_is_a_function_of_inputs_and_state(sample: Sample, accepts: Accepts) -> None:
    task = sample(f"{REFERENCE}:Net", "64,16")
    assert [argument.name for argument in task.arguments] == ["x", "table", "linear_weight", "linear_bias"]
    table = torch.arange(3.0)
    accepts(task, lambda x, _, w, b: (torch.relu(x.double() @ w.double().T + b) + table).float())


def test_tied_weights_are_one_argument(sample: Sample, accepts: Accepts) -> None:
    task = sample(f"{REFERENCE}:Tied", "5,8")
    assert task.reference.state == ("first.weight",)
    accepts(task, lambda x, w: (x.double() @ w.double().T @ w.double().T).float())


MISTAKES = {
    "no inputs": ("softmax", (), "does not say how large its inputs are"),
    "unknown dtype": ("softmax", ("4,4:floaty",), "unknown dtype 'floaty'"),
    "not an input": ("softmax", ("four",), "is not an input"),
    "too few": ("scaled", ("4,64",), "needs 'weight'"),
    "too many": ("softmax", ("4,4", "1", "2"), "1 too many"),
    "unknown argument": ("softmax", ("4,4", "axis=1"), "takes no positional argument 'axis'"),
    "twice": ("softmax", ("x=4,4", "x=4,4"), "names 'x' twice"),
    "shapes that do not fit": ("scaled", ("4,64", "63:fp32", "1e-5"), "reference.py:14, scaled: RuntimeError"),
    "no such function": ("sofmax", ("4,4",), "is not a function or module there; there are .*softmax"),
    "no tensor": ("nothing", ("4,4",), "nothing: returns no tensor"),
    "a dict": ("named", ("4,4",), "named: returns a dict, which is not understood; return a tensor, or a tuple"),
    "raises": ("fails", ("4,4",), "fails: KeyError"),
    "constructor": ("Demanding", ("4,4",), "its constructor needs width"),
    "instance": ("instance", ("4,4",), "is an instance"),
}


@pytest.mark.parametrize(("name", "inputs", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_one_clear_sentence(name: str, inputs: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence) as caught:
        load(f"{PATH}:{name}", inputs=inputs)
    assert caught.value.exit_code == Exit.WRONG_USE
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef fn(:\n")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TaskError, match=r"broken.py:2: syntax error"):
        load(f"{tmp_path}/broken.py:fn", inputs=["4,4"])
    with pytest.raises(TaskError, match=r"binary.py: is not UTF-8"):
        load(f"{tmp_path}/binary.py:fn", inputs=["4,4"])
    with pytest.raises(TaskError, match=r"missing.py: cannot be read"):
        load(f"{tmp_path}/missing.py:fn", inputs=["4,4"])
    with pytest.raises(TaskError, match="needs the package 'package_that_is_nowhere'"):
        load(f"{SAMPLES}/functions/lonely.py:fn", inputs=["4,4"])


@pytest.mark.usefixtures("real_child")
def test_errors_of_the_child_process_are_reported() -> None:
    (task,) = load(f"{PATH}:softmax", inputs=["16,8"])
    assert task.outputs[0].shape == ("A", "B")
    with pytest.raises(TaskError, match="ended the process that ran it with exit code 3"):
        load(f"{PATH}:leaves", inputs=["4,4"])


@pytest.mark.usefixtures("real_child")
def test_a_child_that_fails_by_itself_is_our_fault() -> None:
    with pytest.raises(OurFault, match="nonsense"):
        probe.probe(Job(kind="nonsense", filename="fine.py", source=""))


@pytest.mark.usefixtures("real_child")
def test_a_file_that_never_ends_is_stopped() -> None:
    job = Job(kind="function", filename="endless.py", source="while True: pass", entry="fn")
    with pytest.raises(TaskError, match=r"endless.py: gave no answer within 0.5 s"):
        probe.probe(job, seconds=0.5)


def sizes(task: Task, role: Role) -> list[dict[str, int]]:
    return [dict(case.dims) for case in task.cases_of(role)]


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_a_function_may_have_the_name_of_a_direction(tmp_path, name):
    (tmp_path / "ref.py").write_text(f"def {name}(x):\n    return x + x\n")
    (task, *_) = load(f"{tmp_path}/ref.py:{name}", inputs=["4,5"])
    assert (task.reference.entry, task.direction) == (name, "forward")
    (other,) = load(f"{tmp_path}/ref.py:{name}:backward", inputs=["4,5"])
    assert other.direction == "backward"
