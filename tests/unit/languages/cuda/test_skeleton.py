"""Skeletons: the right C++ signatures for every kind of argument, and every one of them compiles."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from warpwright.core.calls import entries
from warpwright.core.task import Case, Direction, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.languages.cuda.skeleton import parameters, scalar_type, skeleton
from warpwright.tasks import load

TASK = Task(
    name="everything",
    summary="Takes one of each.",
    dtypes=("fp32", "bf16"),
    arguments=(
        TensorArg(name="x", shape=("B", "S", "D")),
        TensorArg(name="items", shape=("D",), count=2),
        TensorArg(name="index", shape=("B",), dtype="int64"),
        ScalarArg(name="eps", values=(1e-5,)),
        ScalarArg(name="k", values=(2, 4)),
        ScalarArg(name="causal", values=(True, False)),
        ScalarArg(name="new", values=("mean",)),
        ScalarArg(name="window", values=(None, 128)),
        ScalarArg(name="padding", values=((1, 1), (0, 2))),
        ScalarArg(name="nothing", values=(None,)),
    ),
    outputs=(
        Output(name="y", shape=("B", "k", "D // 2")),
        Output(name="scale", shape=("B",), dtype="e4m3"),
        Output(name="odd", shape=("ceil(D / 3)",)),
        Output(name="x", shape=("B", 3)),
    ),
    saves=(Output(name="rstd", shape=("B", "S"), dtype="fp32"),),
    mutates=("items",),
    prepares=("index",),
    cases=(
        Case(
            name="c",
            role=Role.CHECK,
            dims={"B": 2, "S": 3, "D": 8},
            scalars={
                "eps": 1e-5,
                "k": 2,
                "causal": True,
                "new": "mean",
                "window": None,
                "padding": (1, 1),
                "nothing": None,
            },
        ),
    ),
    reference=Reference(source=""),
)
EVERY = [replace(TASK, direction=direction) for direction in Direction]

# Just enough of torch that a compiler can tell a right signature from a wrong one.
TORCH = """
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>
#define __global__
namespace torch {
enum ScalarType { kFloat64, kFloat32, kFloat16, kBFloat16, kFloat8_e4m3fn, kFloat8_e5m2, kInt64, kInt32, kInt16, kInt8,
                  kUInt8, kBool };
struct TensorOptions { TensorOptions dtype(ScalarType) const { return *this; } };
struct Tensor {
    int64_t size(int64_t) const { return 1; }
    TensorOptions options() const { return {}; }
};
inline Tensor empty(std::initializer_list<int64_t>, TensorOptions) { return {}; }
inline Tensor empty_like(const Tensor&) { return {}; }
}
struct Module { template <typename Function> void def(const char*, Function*) {} };
#define PYBIND11_MODULE(name, m) void bind(Module m)
"""


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((1.0,), "double"),
        ((1, 2.5), "double"),
        ((1,), "int64_t"),
        ((True,), "bool"),
        (("sum",), "std::string"),
        ((None, 1), "std::optional<int64_t>"),
        ((None,), "std::optional<torch::Tensor>"),
        (((1, 2),), "std::vector<int64_t>"),
        (((1.0, 2),), "std::vector<double>"),
        (((),), "std::vector<int64_t>"),
        ((None, (1, 2)), "std::optional<std::vector<int64_t>>"),
    ],
)
def test_scalars_become_the_type_that_holds_them_all(values, kind: str) -> None:
    assert scalar_type(values) == kind


def test_forward_takes_what_the_reference_takes() -> None:
    taken = [(parameter.type, parameter.name) for parameter in parameters(TASK, "forward")]
    assert taken[:7] == [
        ("torch::Tensor", "x"),
        ("std::vector<torch::Tensor>", "items"),
        ("torch::Tensor", "index"),
        ("double", "eps"),
        ("int64_t", "k"),
        ("bool", "causal"),
        ("std::string", "new_"),
    ]


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("topk_gating:forward", "// such as 2, 4, 8, 6"),
        ("llama_rmsnorm:forward", "// one of 1e-05, 1e-06, 0.001"),
    ],
)
def test_a_number_is_said_to_be_one_of_its_values_only_where_no_case_has_another(name: str, note: str) -> None:
    (task,) = load(name)
    assert note in skeleton(task)


def test_backward_takes_gradients_and_saves_first() -> None:
    task = replace(TASK, direction=Direction.BACKWARD)
    names = [parameter.name for parameter in parameters(task, "backward")]
    assert names[:6] == ["grad_y", "grad_scale", "grad_odd", "grad_x", "rstd", "x"]


def test_outputs_are_allocated_from_what_is_given() -> None:
    text = skeleton(TASK)
    assert "torch::Tensor y = torch::empty({B, k, D / 2}, x.options());" in text
    assert "torch::Tensor scale = torch::empty({B}, x.options().dtype(torch::kFloat8_e4m3fn));" in text
    assert "torch::Tensor odd;  // [ceil(D / 3)] T" in text
    assert "torch::Tensor new_x = torch::empty({B, 3}, x.options());" in text
    assert "// Changed in place: items." in text
    assert "prepare(index)" in text


def test_each_direction_exports_its_entries() -> None:
    for task, names in zip(EVERY, (("forward",), ("backward",), ("forward", "backward")), strict=True):
        assert entries(task) == names
        assert [f'm.def("{name}", &{name});' in skeleton(task) for name in ("forward", "backward")] == [
            name in names for name in ("forward", "backward")
        ]


def test_every_skeleton_compiles(tmp_path: Path) -> None:
    from warpwright.tasks import all_tasks

    compiler = shutil.which("g++")
    assert compiler, "g++ is required; see warpwright doctor"
    parts = [TORCH]
    for number, task in enumerate((*EVERY, *all_tasks())):
        body = [line for line in skeleton(task).splitlines() if not line.startswith("#include")]
        parts += [f"namespace task{number} {{", *body, "}"]
    source = tmp_path / "skeletons.cpp"
    source.write_text("\n".join(parts))
    ran = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", source], capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr[:2000]
