"""The comparator: what it accepts and refutes, for every dtype and every special value."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from warpwright.core.dtypes import DTYPES
from warpwright.core.signature import TensorSpec, contiguous
from warpwright.core.task import Compare
from warpwright.oracle.compare.elements import compare
from warpwright.oracle.inputs.arguments import torch_dtype
from warpwright.oracle.truth.expected import Expected

FLOATS = [name for name, dtype in DTYPES.items() if dtype.floating]
WHOLE = [name for name, dtype in DTYPES.items() if not dtype.floating]
AWKWARD = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-40, 6e-8, 3e-5, 447.0, 65504.0, math.inf, -math.inf, math.nan]
shapes = st.lists(st.integers(0, 5), max_size=3).map(tuple)


def expecting(value, dtype="fp32", spread=None, kind=Compare.VALUE, choices=None, slack=1.0):
    shape = tuple(value.shape)
    spec = TensorSpec(name="y", shape=shape, stride=contiguous(shape), dtype=dtype)
    if spread is None and value.is_floating_point():
        spread = torch.zeros_like(value)
    return Expected(name="y", spec=spec, compare=kind, value=value, spread=spread, choices=choices, slack=slack)


@st.composite
def truths(draw, finite=False):
    """Generates a dtype, and a double tensor of values that it represents, special ones among them."""
    dtype, shape = draw(st.sampled_from(FLOATS)), draw(shapes)
    numbers = st.floats(width=32, allow_nan=not finite, allow_infinity=not finite)
    pool = [value for value in AWKWARD if not finite or math.isfinite(value)]
    values = draw(st.lists(st.sampled_from(pool) | numbers, min_size=math.prod(shape), max_size=math.prod(shape)))
    tensor = torch.tensor(values, dtype=torch.float64).reshape(shape)
    if finite:
        limit = float(torch.finfo(torch_dtype(dtype)).max) / 4
        tensor = tensor.clamp(-limit, limit)
    return dtype, tensor


@given(truths())
def test_the_rounded_exact_value_is_correct(pair):
    dtype, exact = pair
    assert compare(expecting(exact, dtype), exact.to(torch_dtype(dtype))) is None


@given(truths(), st.sampled_from([math.nan, math.inf, -math.inf, 0.0]), st.data())
def test_a_wrong_class_at_any_position_is_refused(pair, intruder, data):
    dtype, exact = pair
    actual = exact.to(torch_dtype(dtype))
    assume(actual.numel())
    position = data.draw(st.integers(0, actual.numel() - 1))
    flat = actual.to(torch.float32).flatten()
    replacement = torch.tensor(intruder).to(actual.dtype).to(torch.float32)
    assume(flat[position].isnan() != replacement.isnan() or flat[position].isinf() != replacement.isinf())
    assume(abs(float(exact.flatten()[position])) < float(torch.finfo(actual.dtype).max) / 4 or replacement.isfinite())
    flat[position] = replacement
    found = compare(expecting(exact, dtype), flat.reshape(actual.shape).to(actual.dtype))
    assert found is not None
    assert found.kind == "class" or not exact.flatten()[position].abs() < torch.finfo(actual.dtype).max


@given(truths(finite=True), st.data())
def test_one_element_off_by_more_than_the_budget_is_refused(pair, data):
    dtype, exact = pair
    assume(exact.numel())
    position = data.draw(st.integers(0, exact.numel() - 1))
    off = exact.flatten().clone()
    away = off[position].abs() / 2 + (1.0 if dtype in ("e4m3", "e5m2") else 0.01)
    off[position] += away.copysign(off[position])
    found = compare(expecting(exact, dtype), off.reshape(exact.shape).to(torch_dtype(dtype)))
    assert found is not None
    assert found.facts["wrong"] >= 1


@given(shapes, st.sampled_from(FLOATS))
def test_nan_everywhere_is_never_correct(shape, dtype):
    assume(math.prod(shape))
    exact = torch.ones(shape, dtype=torch.float64)
    spread = torch.full_like(exact, math.inf)  # even a budget without bounds does not let NaN pass
    assert compare(expecting(exact, dtype, spread), torch.full(shape, math.nan).to(torch_dtype(dtype))) is not None


@given(shapes, st.sampled_from(FLOATS), st.data())
def test_a_nan_budget_accepts_nothing_but_equality_of_class(shape, dtype, data):
    assume(math.prod(shape))
    exact = torch.ones(shape, dtype=torch.float64)
    nan_budget = expecting(exact, dtype, torch.full_like(exact, math.nan))
    assert compare(nan_budget, exact.to(torch_dtype(dtype))) is not None


@given(shapes, shapes)
def test_shapes_never_broadcast(left, right):
    assume(left != right)
    found = compare(expecting(torch.ones(left, dtype=torch.float64)), torch.ones(right))
    assert found is not None
    assert found.kind == "shape"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("other", list(DTYPES))
def test_dtypes_must_agree(dtype, other):
    if dtype == other:
        return
    found = compare(expecting(torch.ones(3, dtype=torch.float64), dtype), torch.ones(3).to(torch_dtype(other)))
    assert found is not None
    assert found.kind == "dtype"


def test_strides_must_agree_except_along_sizes_of_one():
    exact = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    assert compare(expecting(exact), exact.float().t().contiguous().t()).kind == "stride"
    assert compare(expecting(exact), torch.zeros(1, 1).expand(2, 3)).kind == "stride"
    column = torch.ones(4, 1, dtype=torch.float64)
    assert compare(expecting(column), torch.ones(4, 1).as_strided((4, 1), (1, 7))) is None


@settings(max_examples=50)
@given(st.sampled_from(WHOLE), st.lists(st.booleans(), min_size=1, max_size=20), st.data())
def test_integers_are_compared_exactly(dtype, values, data):
    exact = torch.tensor(values).to(torch_dtype(dtype))
    wanted = expecting(exact, dtype)
    assert compare(wanted, exact.clone()) is None
    position = data.draw(st.integers(0, len(values) - 1))
    wrong = exact.clone()
    wrong[position] = 1 - wrong[position].to(torch.int64)
    assert compare(wanted, wrong).facts["worst"] == [position]


def test_the_other_rounding_of_a_tie_is_correct_and_a_whole_step_is_not():
    tie = torch.tensor([[17.0, 1.0, 1.0, 1.0]], dtype=torch.float64)  # e4m3 has 16 and 18 around it
    wanted = expecting(tie, "e4m3", torch.full_like(tie, 1e-6))
    for neighbour in (16.0, 18.0):
        assert compare(wanted, torch.tensor([[neighbour, 1.0, 1.0, 1.0]]).to(torch.float8_e4m3fn)) is None
    clear = expecting(torch.tensor([[16.2, 1.0, 1.0, 1.0]], dtype=torch.float64), "e4m3", torch.full_like(tie, 1e-6))
    assert compare(clear, torch.tensor([[18.0, 1.0, 1.0, 1.0]]).to(torch.float8_e4m3fn)) is not None


def test_a_row_that_is_too_coarse_everywhere_is_refused_though_no_element_is():
    exact = torch.randn(4, 4096, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wanted = expecting(exact, "fp32", exact.abs() * 1e-7)
    coarse = (exact * (1 + 9e-7)).float()
    assert compare(wanted, coarse).kind == "typical error"
    assert compare(wanted, (exact * (1 + 1e-7)).float()) is None


def test_near_the_largest_number_finite_and_infinite_are_correct():
    exact = torch.tensor([65519.0, 1.0], dtype=torch.float64)
    wanted = expecting(exact, "fp16", torch.tensor([8.0, 0.0], dtype=torch.float64))
    assert compare(wanted, torch.tensor([65504.0, 1.0]).half()) is None
    assert compare(wanted, torch.tensor([math.inf, 1.0]).half()) is None
    assert compare(wanted, torch.tensor([-math.inf, 1.0]).half()) is not None


class TestIndices:
    choices = torch.tensor([[1.0, 3.0, 3.0, 0.0], [math.nan, 2.0, 5.0, 5.0]], dtype=torch.float64)

    def test_ties_may_be_broken_either_way(self):
        wanted = expecting(torch.tensor([1, 0]), "int64", kind=Compare.INDEX, choices=self.choices)
        assert compare(wanted, torch.tensor([2, 0])) is None
        found = compare(wanted, torch.tensor([0, 0]))
        assert found.kind == "selected value"
        assert "was chosen" in found.message
        assert compare(wanted, torch.tensor([1, 2])).kind == "selected value"

    @pytest.mark.parametrize("outside", [-1, 4, 2**40])
    def test_an_index_out_of_range_is_refused_and_never_used(self, outside):
        wanted = expecting(torch.tensor([1, 0]), "int64", kind=Compare.INDEX, choices=self.choices)
        assert compare(wanted, torch.tensor([1, outside])).kind == "index range"

    def test_the_same_index_twice_is_refused(self):
        wanted = expecting(torch.tensor([[1, 2], [0, 2]]), "int64", kind=Compare.INDEX, choices=self.choices)
        assert compare(wanted, torch.tensor([[2, 1], [0, 3]])) is None
        assert compare(wanted, torch.tensor([[1, 1], [0, 2]])).kind == "repeated index"


def test_the_explanation_names_the_tail():
    exact = torch.ones(3, 70, dtype=torch.float64)
    actual = exact.float()
    actual[:, 64:] = 0
    found = compare(expecting(exact), actual)
    assert found.facts["pattern"] == "every column from 64, a multiple of 64 to the end"
    assert found.facts["wrong"] == 18
    assert "18 of 210 elements wrong" in found.message


def test_the_explanation_names_the_row_and_the_lane():
    exact = torch.ones(8, 128, dtype=torch.float64)
    one_row, one_lane = exact.float(), exact.float()
    one_row[5] = 2
    one_lane[:, 3::32] = 2
    assert "in rows 5 to 5 (1 of 8)" in compare(expecting(exact), one_row).message
    assert compare(expecting(exact), one_lane).facts["pattern"] == "columns 3 modulo 32"


def test_a_scalar_is_explained_without_rows():
    assert (
        "1 of 1 elements wrong" in compare(expecting(torch.tensor(2.0, dtype=torch.float64)), torch.tensor(3.0)).message
    )
