"""Merging: parts keep to themselves, the right one runs, and what cannot be merged is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Direction, Output, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.languages.cuda.merging.merge import merged
from warpwright.languages.cuda.merging.rule import Rule, Split, rule_for
from warpwright.languages.cuda.tunables import space
from warpwright.tasks import load
from warpwright.verify.ladder import climb

CORPUS = Path(__file__).parents[3] / "corpus" / "seal"
SIZES = (4, 64, 1024, 16384)
TASK = Task(
    name="scale",
    arguments=(TensorArg(name="x", shape=("N", "D")), ScalarArg(name="by", values=(2.0,))),
    outputs=(Output(name="y", shape=("N", "D")),),
    cases=tuple(
        Case(name=f"D{size}-{dtype}", role=Role.TIME, dims={"N": 8, "D": size}, dtype=dtype, scalars={"by": 2.0})
        for size in SIZES
        for dtype in ("fp32", "bf16")
    ),
    reference=Reference(source=""),
)
PLAIN = """#include <torch/extension.h>
#include <cmath>
// tune: BLOCK = 64, 128
#define BLOCK 128
#define TWICE(x) ((x) + (x))
torch::Tensor forward(torch::Tensor x, double by = 1.0) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "scaled", py::arg("x"), py::arg("by") = 1.0); }
"""
NAMED = """#pragma once
#include <cmath>
#include "ATen/ATen.h"
constexpr int BLOCK = 64;
namespace mine {
static inline at::Tensor scaled(const at::Tensor& input, float factor) { return input; }
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &mine::scaled); }
"""
BY_SIZE = {case.name: int(case.dims["D"] > 100) for case in TASK.cases}


def test_parts_have_namespaces_and_the_winner_of_a_size_is_called() -> None:
    text = merged(TASK, [PLAIN, NAMED], BY_SIZE, best=0)
    assert text.index("#include <cmath>") < text.index("namespace part_0 {")
    assert text.count("#include <cmath>") == 1
    assert "#pragma once" not in text
    assert text.count("PYBIND11_MODULE") == 1
    assert "torch::Tensor forward(torch::Tensor x, double by) {\n  if (x.size(1) <= 256) {" in text
    assert "    return part_0::forward(x, by);\n  }\n  return part_1::mine::scaled(x, by);\n}" in text
    assert '  m.def("forward", &forward, "scaled", py::arg("x"), py::arg("by") = 1.0);' in text


def test_only_macros_that_a_later_part_would_meet_are_undefined() -> None:
    text = merged(TASK, [PLAIN, NAMED], BY_SIZE, best=0)
    assert "}  // namespace part_0\n#undef BLOCK\n\nnamespace part_1 {" in text
    assert "#undef TWICE" not in text


def test_what_was_tuned_is_no_longer_left_open() -> None:
    assert space(merged(TASK, [PLAIN, NAMED], BY_SIZE, best=0)) == {}


def test_types_separate_where_sizes_do_not() -> None:
    winners = {case.name: int(case.dtype == "bf16") for case in TASK.cases}
    text = merged(TASK, [PLAIN, NAMED], winners, best=1)
    assert "at::Tensor forward(const at::Tensor& input, float factor) {" in text
    assert "  if (input.scalar_type() == torch::kBFloat16) {\n    return part_1" in text


def test_a_source_that_wins_nothing_is_left_out() -> None:
    text = merged(TASK, [PLAIN, NAMED, "nonsense"], BY_SIZE, best=0)
    assert "part_2" not in text


TRAINING = Task(**{**{name: getattr(TASK, name) for name in TASK.__slots__}, "direction": Direction.TRAINING})
MODULE = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) "


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("int x;", "it has no PYBIND11_MODULE"),
        (NAMED + NAMED, "it has 2 PYBIND11_MODULEs"),
        (NAMED.replace('"forward"', '"other"'), "it binds no forward"),
        (NAMED.replace("&mine::scaled", "[](at::Tensor x, float f) { return x; }"), "not bound to a function by name"),
        (NAMED.replace("m.def(", 'm.def("prepare", &mine::scaled); m.def(', 1), "it exports prepare"),
        (NAMED.replace("scaled(const", "other(const"), "scaled is defined 0 times"),
        (NAMED.replace("static inline", "template <int N>"), "is a template or has a C name"),
        (NAMED.replace("#include <cmath>", "#if 1\n#include <cmath>\n#endif"), "includes <cmath> under a condition"),
        ("namespace std { struct s {}; }\n" + NAMED, "it adds to the namespace std"),
        ("TORCH_LIBRARY(a, m) {}\n" + NAMED, "it registers operators with TORCH_LIBRARY"),
        (NAMED.replace("return input", "return ::scaled(input, factor)"), "names ::scaled"),
        (NAMED.replace("at::Tensor scaled", "std::vector<at::Tensor> scaled"), "returns std::vector<at::Tensor>"),
        (NAMED.replace("float factor", "float"), "has no name"),
        (NAMED.replace(", float factor", ""), "take different arguments"),
    ],
)
def test_what_cannot_be_merged_is_refused_in_a_sentence(other: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refusal:
        merged(TASK, [PLAIN, other], BY_SIZE, best=0)
    assert "\n" not in str(refusal.value)


def test_two_parts_with_c_names_are_refused() -> None:
    named = 'extern "C" void twice() {}\n'
    assert 'extern "C"' in merged(TASK, [PLAIN, named + NAMED], BY_SIZE, best=0)
    with pytest.raises(UsageError, match="both have functions with C names"):
        merged(TASK, [named + PLAIN, named + NAMED], BY_SIZE, best=0)


@pytest.mark.parametrize(
    ("task", "winners", "best", "message"),
    [
        (TRAINING, BY_SIZE, 0, "a training pair cannot be merged"),
        (TASK, dict.fromkeys(BY_SIZE, 1), 1, "nothing to merge"),
        (TASK, {"D5": 0}, 0, "no case D5"),
        (TASK, BY_SIZE, 2, "there is no source 2"),
    ],
)
def test_what_makes_no_sense_is_refused(task: Task, winners: dict[str, int], best: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merged(task, [PLAIN, NAMED], winners, best)


def followed(rule: Rule, case: Case) -> int:
    """The part that the rule picks for a case, as C++ would."""
    while isinstance(rule, Split):
        left, operator, right = rule.condition.split()
        if operator == "<=":
            true = case.dims["ND"[int(left[-2])]] <= float(right)
        else:
            true = {"fp32": "torch::kFloat32", "bf16": "torch::kBFloat16"}[case.dtype] == right
        rule = rule.then if true else rule.otherwise
    return rule


@given(st.lists(st.integers(0, 2), min_size=len(TASK.cases), max_size=len(TASK.cases)), st.integers(0, 2))
def test_any_winners_are_honoured_where_arguments_tell_the_cases_apart(won: list[int], best: int) -> None:
    winners = {case.name: part for case, part in zip(TASK.cases, won, strict=True)}
    rule = rule_for(TASK, TASK.cases, winners, best, ["x", "by"])
    assert {case.name: followed(rule, case) for case in TASK.cases} == winners


def test_cases_that_cannot_be_told_apart_go_to_the_best() -> None:
    twins = tuple(
        Case(name=name, role=Role.TIME, dims={"N": 8, "D": 4}, scalars={"by": 2.0}) for name in ("one", "other")
    )
    assert rule_for(TASK, twins, {"one": 0, "other": 1}, 1, ["x", "by"]) == 1


def test_a_merged_kernel_climbs_the_ladder() -> None:
    (task,) = load("modern/softmax:forward")
    wanted = ("N3-D7-fp32", "N2-D1021-fp32")
    cases = [case for case in task.cases_of(Role.CHECK) if case.name in wanted]
    sources = [(CORPUS / f"softmax_{name}.cu").read_text() for name in ("online_warp", "shared_tree")]
    winners = {case.name: int(case.dims["D"] > 100) for case in cases}
    text = merged(task, sources, winners, best=0)
    dossier = climb(task, Candidate(source=text), cases).dossier
    assert dossier.faults == ()
    assert dossier.verdict is not Verdict.REFUTED
    assert dossier.evidence[-1].rung == "emulate"
    assert dossier.evidence[-1].verdict is Verdict.HOLDS, dossier.evidence[-1]
