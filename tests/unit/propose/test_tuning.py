"""Tuning: the settings that are tried, and the best of them by few looks; merging by what kernels scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.records.search import Basis, Score
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.languages.cuda.tunables import settings
from warpwright.propose.prompting.known import Known
from warpwright.propose.specialising import specialised
from warpwright.propose.tuning.halving import Rung
from warpwright.propose.tuning.ranking import MEASURED, PREDICTED, entrants, tuned

SOURCE = "// tune: BLOCK = 64, 128, 256\nconstexpr int BLOCK = 128;\n// tune: WIDE = true, false\n#define WIDE true\n"


def test_all_settings_are_tried_and_the_given_one_comes_first() -> None:
    tried = entrants(Candidate(source=SOURCE))
    assert tried[0].candidate.source == SOURCE
    assert len(tried) == len({item.candidate.id for item in tried}) == 6
    assert all(settings(item.candidate.source) == item.settings for item in tried)


@given(st.integers(2, 9))
def test_no_more_are_tried_than_asked_for_and_always_the_same(most: int) -> None:
    tried = entrants(Candidate(source=SOURCE), most)
    assert len(tried) == min(most, 6)
    assert tried == entrants(Candidate(source=SOURCE), most)


def test_a_space_too_large_to_list_is_drawn_from() -> None:
    lines = [f"// tune: C{n} = {', '.join(map(str, range(8)))}\nconstexpr int C{n} = 0;\n" for n in range(40)]
    tried = entrants(Candidate(source="".join(lines)), 5)
    assert len({item.candidate.id for item in tried}) == 5


def test_a_kernel_that_leaves_nothing_open_is_refused() -> None:
    with pytest.raises(UsageError, match="has no tunable"):
        entrants(Candidate(source="int x;"))


class Looks:
    """Scores by BLOCK; what was looked at, by rung."""

    def __init__(self, predicted: Mapping[int, float | None], measured: Mapping[int, float | None]) -> None:
        self._scores = {PREDICTED.name: predicted, MEASURED.name: measured}
        self.seen: dict[str, list[int]] = {PREDICTED.name: [], MEASURED.name: []}

    def __call__(self, rung: Rung, candidates: Sequence[Candidate]) -> dict[str, float | None]:
        blocks = {item.id: int(settings(item.source)["BLOCK"]) for item in candidates}
        self.seen[rung.name] += blocks.values()
        return {name: self._scores[rung.name].get(block) for name, block in blocks.items()}


SIZES = tuple(32 * n for n in range(1, 17))
WIDE = Candidate(source=f"// tune: BLOCK = {', '.join(map(str, SIZES))}\nconstexpr int BLOCK = 512;\n")


def winner(looks: Looks, *, measured: bool) -> int | None:
    tried = entrants(WIDE)
    done = tuned(tried, looks, measured=measured)
    by_id = {item.candidate.id: int(item.settings["BLOCK"]) for item in tried}
    return by_id[done.winner] if done.winner else None


def test_without_a_gpu_the_best_prediction_wins() -> None:
    looks = Looks({size: -abs(size - 96) for size in SIZES}, {})
    assert winner(looks, measured=False) == 96
    assert sorted(looks.seen[PREDICTED.name]) == list(SIZES)
    assert looks.seen[MEASURED.name] == []


def test_predictions_choose_who_is_measured_and_measurements_decide() -> None:
    looks = Looks({size: -abs(size - 96) for size in SIZES}, {size: float(size) for size in SIZES if size < 512})
    assert winner(looks, measured=True) == 128
    assert len(looks.seen[MEASURED.name]) == 5, "a quarter of sixteen, and the given one"
    assert 512 in looks.seen[MEASURED.name], "the given setting is carried on, to be compared with"


def test_where_nothing_can_be_predicted_everybody_is_measured() -> None:
    looks = Looks({}, {64: 1.0, 96: 2.0})
    assert winner(looks, measured=True) == 96
    assert sorted(looks.seen[MEASURED.name]) == list(SIZES)


def test_a_wrong_setting_never_wins() -> None:
    assert winner(Looks({64: 0.5, 96: None}, {}), measured=False) == 64
    assert winner(Looks({}, {}), measured=True) is None


TASK = Task(
    name="scale",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=tuple(Case(name=f"N{size}", role=Role.TIME, dims={"N": size}) for size in (64, 4096)),
    reference=Reference(source=""),
)


def kernel(name: str, small: float, large: float, basis: Basis = Basis.PREDICTED) -> Known:
    source = (
        "#include <torch/extension.h>\n"
        f"torch::Tensor forward(torch::Tensor x) {{ return {name}(x); }}\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }\n'
    )
    candidate = Candidate(source=source)
    by_case = {"N64": small, "N4096": large}
    return Known(
        candidate=candidate,
        score=Score(candidate=candidate.id, basis=basis, value=(small + large) / 2, by_case=by_case),
    )


def test_the_winner_of_each_shape_runs_there() -> None:
    text = specialised(TASK, [kernel("quick", 1.0, 0.0), kernel("broad", 0.0, 2.0)])
    assert "if (x.size(0) <= 512) {\n    return part_0::forward(x);\n  }\n  return part_1::forward(x);" in text


@pytest.mark.parametrize(
    ("kernels", "why"),
    [
        ([kernel("a", 1.0, 1.0), kernel("b", 0.0, 0.0)], "one source wins every case"),
        ([kernel("a", 1.0, 1.0), kernel("b", 1.0, 1.0)], "one source wins every case"),
        ([kernel("a", 1.0, 0.0), kernel("b", 0.0, 1.0, Basis.MEASURED)], "all were measured or all were predicted"),
        (
            [kernel("a", 1.0, 0.0), Known(candidate=Candidate(source="int x;"))],
            "all were measured or all were predicted",
        ),
    ],
)
def test_kernels_that_cannot_be_held_against_each_other_are_not_merged(kernels: list[Known], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        specialised(TASK, kernels)
