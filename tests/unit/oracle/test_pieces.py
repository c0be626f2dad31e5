"""Large draws are checked in pieces along their batch, where the reference treats rows independently."""

from functools import partial

import pytest
import torch

from warpwright.core.task import Case, Draw, Output, Reference, Role, Task, TensorArg
from warpwright.oracle.compare import elements
from warpwright.oracle.compare import pieces as module
from warpwright.oracle.compare.pieces import batch_size, check_draw, pieces
from warpwright.oracle.truth import expected
from warpwright.oracle.truth.expected import scenario
from warpwright.oracle.truth.reference import evaluate, function

ROWS, MOST = 20, 64
INDEPENDENT = {
    "softmax": "def forward(x, w):\n    return x.softmax(-1) + w\n",
    "product": "def forward(x, w):\n    return x * w.sum()\n",
}
DEPENDENT = {
    "batch norm": "def forward(x, w):\n    return (x - x.mean(0)) / (x.var(0) + 1e-3).sqrt() + w\n",
    "running sum": "def forward(x, w):\n    return x.cumsum(0) + w\n",
    "fixed size": "def forward(x, w):\n    return x.view(20, -1) + w\n",
}


def task_of(source: str, weight: tuple[str, ...] = ("D",), output: tuple[str, ...] = ("R", "D")) -> Task:
    return Task(
        name="t",
        arguments=(TensorArg(name="x", shape=("R", "D")), TensorArg(name="w", shape=weight)),
        outputs=(Output(name="y", shape=output),),
        cases=(),
        reference=Reference(source=source),
    )


def drawn(task: Task):
    draw = Draw(case=Case(name="c", role=Role.TIME, dims={"R": ROWS, "D": 16}, dtype="fp32"), seed=5)
    given = scenario(task, draw)
    return draw, given, evaluate(task, draw.case, function(task.reference), given.arguments, [], [])


@pytest.fixture
def evaluated(monkeypatch):
    """Counts the rows of every draw whose expected values are computed."""
    rows, plain = [], module.expectations
    monkeypatch.setattr(
        module, "expectations", lambda task, draw, *rest: rows.append(draw.case.dims["R"]) or plain(task, draw, *rest)
    )
    return rows


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_rows_are_checked_a_few_at_a_time(name, evaluated):
    task = task_of(INDEPENDENT[name])
    draw, given, right = drawn(task)
    assert check_draw(task, draw, given, right, MOST)[1] is None
    assert max(evaluated) == MOST // 16
    assert sum(evaluated) == ROWS


@pytest.mark.parametrize("row", [0, 7, ROWS - 1])
def test_a_wrong_element_is_found_in_any_piece(row):
    task = task_of(INDEPENDENT["softmax"])
    draw, given, right = drawn(task)
    right[0][row, 3] += 0.01
    mismatch = check_draw(task, draw, given, right, MOST)[1]
    assert mismatch is not None
    first = row // 4 * 4
    assert mismatch.facts["in_rows"] == f"in rows {first} to {first + 3}"


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_rows_are_checked_whole(name, evaluated):
    task = task_of(DEPENDENT[name])
    draw, given, right = drawn(task)
    assert check_draw(task, draw, given, right, MOST)[1] is None
    assert ROWS in evaluated
    right[0][11, 3] += 0.5
    assert check_draw(task, draw, given, right, MOST)[1] is not None


def test_a_result_of_another_shape_is_a_mismatch():
    task = task_of(INDEPENDENT["softmax"])
    draw, given, right = drawn(task)
    for wrong in ([right[0][:4]], [right[0].sum()], []):
        assert check_draw(task, draw, given, wrong, MOST)[1] is not None


@pytest.mark.parametrize(
    ("weight", "output", "batch"),
    [(("D",), ("R", "D"), "R"), (("R",), ("R", "D"), "R"), (("D", "R"), ("R", "D"), None), (("D",), ("D",), None)],
)
def test_the_batch_leads_every_output_and_appears_nowhere_else(weight, output, batch):
    task = task_of(INDEPENDENT["softmax"], weight, output)
    assert batch_size(task, Case(name="c", role=Role.TIME, dims={"R": 4, "D": 16})) == batch


def test_a_small_draw_is_not_split():
    task = task_of(INDEPENDENT["softmax"])
    draw, given, _ = drawn(task)
    assert list(pieces(task, draw, given, ROWS * 16)) == []


def test_pieces_cover_every_row_once():
    task = task_of(INDEPENDENT["softmax"])
    draw, given, _ = drawn(task)
    cut = list(pieces(task, draw, given, 3 * 16))
    assert torch.equal(torch.cat([piece.given.arguments[0] for piece in cut]), given.arguments[0])
    assert all(piece.given.arguments[1] is given.arguments[1] for piece in cut)


@pytest.fixture
def small_blocks(monkeypatch):
    """Compares a few rows at a time, as for a large result."""
    for place in (elements, expected):
        monkeypatch.setattr(place, "row_blocks", partial(expected.row_blocks, most=MOST))


@pytest.mark.parametrize("name", DEPENDENT)
def test_errors_of_a_large_result_are_computed_in_blocks(name, small_blocks):
    task = task_of(DEPENDENT[name])
    draw, given, right = drawn(task)
    assert check_draw(task, draw, given, right, 10**6)[1] is None
    right[0][11, 3] += 0.5
    mismatch = check_draw(task, draw, given, right, 10**6)[1]
    assert mismatch is not None
    assert mismatch.facts["in_rows"] == "in rows 8 to 11"


def test_the_spread_does_not_depend_on_the_blocks(monkeypatch):
    task = task_of(DEPENDENT["batch norm"])
    draw, given, _ = drawn(task)
    (whole,) = module.expectations(task, draw, given)
    monkeypatch.setattr(expected, "row_blocks", partial(expected.row_blocks, most=MOST))
    (blocked,) = module.expectations(task, draw, given)
    assert torch.equal(blocked.spread, whole.spread)
    assert blocked.independent == whole.independent
