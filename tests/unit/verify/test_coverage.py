"""Coverage: which timed cases ran or were replaced by reduced ones, and which kernels no check launched."""

from __future__ import annotations

from dataclasses import replace

from warpwright.core.candidate import Flags
from warpwright.core.launch.plan import Launch, Plan
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.verify.coverage import comparable, gap, not_run, unchecked_kernels

ASKED = Case(name="N4096", role=Role.TIME, dims={"N": 4096})
REDUCED = Case(name="N64", role=Role.CHECK, dims={"N": 64}, stands_for="N4096")
MADE_UP = Case(name="N3", role=Role.ENVELOPE, dims={"N": 3})
TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(REDUCED, MADE_UP, ASKED),
    reference=Reference(source=""),
)
MANIFEST = Manifest(
    candidate="c", task=TASK.key, gpu="h200", arch="sm_90a", flags=Flags(), compilers={}, command=(), hashes={},
    seconds={}, isolation="none", warpwright="0",
)  # fmt: skip


def sealed(**kernels: str) -> Sealed:
    """Builds plans of these cases, each with one launch whose grid is the number of the case."""
    plans = tuple(
        Plan(
            entry="forward",
            case=case,
            buffers=(),
            arguments=(),
            nodes=(Launch(kernel=kernel, grid=(int(case[1:]), 1, 1), block=(32, 1, 1)),),
            returns=(),
        )
        for case, kernel in kernels.items()
    )
    return Sealed(id="s", source="", manifest=MANIFEST, entries=("forward",), cubin=None, plans=plans)


def test_a_case_that_ran_at_full_size_is_covered() -> None:
    whole = replace(TASK, cases=(replace(ASKED, role=Role.CHECK), ASKED))
    assert not_run(whole, {"N4096"}) == {}
    assert gap(whole, sealed(N4096="k"), {"N4096"}) is None


def test_the_reduced_cases_that_replace_a_case_are_named() -> None:
    assert not_run(TASK, {"N64", "N3"}) == {"N4096": ("N64",)}
    assert gap(TASK, sealed(N64="k", N4096="k"), {"N64"}) is None


def test_a_case_without_a_reduced_one_is_a_gap() -> None:
    assert "N4096 is too large" in (gap(TASK, sealed(N4096="k"), {"N3"}) or "")


def test_a_kernel_that_only_the_timed_case_launches_is_a_gap() -> None:
    found = sealed(N64="narrow<4>", N4096="wide<8>")
    assert unchecked_kernels(TASK, found, {"N64"}) == {"wide<8>": "N4096"}
    assert "N4096 launches wide<8>" in (gap(TASK, found, {"N64"}) or "")


def test_a_reduced_case_launched_like_the_full_one_shows_hard_coded_sizes() -> None:
    (whole,) = sealed(N4096="k").plans
    fixed = replace(sealed(N4096="k"), plans=(whole, replace(whole, case="N64")))
    assert comparable(TASK, fixed) == (MADE_UP, ASKED)
    assert comparable(TASK, sealed(N64="k", N4096="k")) == TASK.cases
    assert comparable(TASK, sealed(N4096="k")) == (MADE_UP, ASKED)


def test_where_every_size_is_asked_for_the_plans_do_not_tell_what_was_launched() -> None:
    found = sealed(N64="narrow<4>", N4096="wide<8>")
    assert gap(TASK.in_general(), found, {"N64"}) is None
