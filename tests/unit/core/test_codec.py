"""Every core type survives encoding as JSON, with the same content id; data that does not fit is named."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pkgutil
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwright import core
from warpwright.core import candidate, task
from warpwright.core.codec import CodecError, content_id, decode, dumps, encode, loads
from warpwright.core.launch import plan
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.measurement import Measurement

MODULES = [import_module(f"warpwright.core.{module.name}") for module in pkgutil.iter_modules(core.__path__)]
WORDS = sorted(
    {
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and not isinstance(kind, typing._ProtocolMeta)
    },
    key=lambda kind: kind.__name__,
)
NON_FINITE = {"nan", "inf", "-inf"}
texts = st.text(max_size=8).filter(lambda text: text not in NON_FINITE)
LEAVES = {
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False),
    str: texts,
    bytes: st.binary(max_size=8),
    type(None): st.none(),
    Any: st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
        lambda items: st.lists(items, max_size=2) | st.dictionaries(texts, items, max_size=2),
        max_leaves=3,
    ),
}
POSITIVE = st.lists(st.floats(min_value=1e-3, max_value=1e6), max_size=3).map(tuple)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Generates a value of any type that a core dataclass may have as a field."""
    origin, items = typing.get_origin(kind), typing.get_args(kind)
    if kind in LEAVES:
        return LEAVES[kind]
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values_of(item) for item in items])
    if origin is tuple and items[-1] is Ellipsis:
        return st.lists(values_of(items[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, items))
    if origin in (dict, Mapping):
        return st.dictionaries(texts, values_of(items[1]), max_size=2)
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return st.deferred(lambda: dataclass_values(kind))


@cache
def dataclass_values(kind: Any) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    fields = {field.name: values_of(hints[field.name]) for field in dataclasses.fields(kind)}
    if "samples_us" in fields:
        fields["samples_us"] = POSITIVE
    return st.fixed_dictionaries(fields).map(lambda values: kind(**LAWS.get(kind, dict)(values)))


def lawful_measurement(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"blocks": (len(values["samples_us"]),)}


def lawful_evidence(values: dict[str, Any]) -> dict[str, Any]:
    """Keeps a counterexample and REFUTED together."""
    if values["counterexample"]:
        return values | {"verdict": Verdict.REFUTED, "skipped": False}
    if values["verdict"] is Verdict.HOLDS:
        return values | {"skipped": False}
    return values | {"verdict": Verdict.UNDECIDED, "reason": values["reason"] or "no GPU here"}


# Classes that forbid some combinations of values, with the function that makes a combination valid.
LAWS = {Evidence: lawful_evidence, Measurement: lawful_measurement}


@pytest.mark.parametrize("kind", WORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=40)
@given(data=st.data())
def test_every_core_type_survives_encoding(kind: type, data: st.DataObject) -> None:
    value = data.draw(dataclass_values(kind))
    back = loads(kind, dumps(value))
    assert back == value
    assert content_id(back) == content_id(value)


@pytest.mark.parametrize("kind", WORDS, ids=lambda kind: kind.__name__)
def test_core_types_are_frozen_and_keyword_only(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(kind))


def test_equal_content_has_equal_ids_and_changed_content_has_not() -> None:
    one = candidate.Candidate(source="x")
    assert one.id == candidate.Candidate(source="x").id
    assert one.id != candidate.Candidate(source="x ").id
    assert one.id != candidate.Candidate(source="x", flags=candidate.Flags(fast_math=True)).id


def test_a_candidate_in_cuda_has_the_id_it_had_before_candidates_had_a_language() -> None:
    kernel = candidate.Candidate(source="__global__ void f() {}")
    assert kernel.id == "19aec92e3b3ede3c6ac0"
    assert loads(candidate.Candidate, '{"flags":{},"source":"__global__ void f() {}"}') == kernel


def test_the_same_text_in_another_language_is_another_candidate() -> None:
    one, other = (candidate.Candidate(source="x", language=language) for language in ("cuda", "other"))
    assert one.id != other.id
    assert loads(candidate.Candidate, dumps(other)) == other


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_non_finite_floats_travel_as_strings(value: float) -> None:
    assert json.loads(dumps({"x": value})) == {"x": str(value)}
    assert str(decode(float, str(value))) == str(value)


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (task.Range, {"low": "1"}, r"\$\.low: expected int"),
        (task.Range, {"low": True}, r"\$\.low: expected int, found bool"),
        (task.Range, {"lo": 1}, "unknown key 'lo' for Range"),
        (task.Range, [], "expected dict"),
        (task.Case, {"name": "c", "role": "chekc"}, r"\$\.role: 'chekc'"),
        (task.Case, {"role": "check"}, "name"),
        (plan.Fill, {"kind": "launch", "target": 1, "value": 1}, "target"),
        (bytes, "not base64!", r"\$: "),
        (tuple[int, int], [1], "expected 2 items, found 1"),
    ],
)
def test_data_that_does_not_fit_is_named(kind: Any, data: Any, message: str) -> None:
    with pytest.raises(CodecError, match=message):
        decode(kind, data)


def test_text_that_is_not_json_is_a_codec_error() -> None:
    with pytest.raises(CodecError, match="not JSON"):
        loads(task.Range, "{")


@pytest.mark.parametrize("value", [object(), {1: 2}, {"x": {1, 2}}, 1j])
def test_a_value_without_a_json_form_is_refused(value: Any) -> None:
    with pytest.raises(CodecError):
        encode(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.text(max_size=5), items, max_size=3),
)


@given(st.sampled_from(WORDS), json_values)
def test_malformed_data_is_always_a_codec_error(kind: type, data: Any) -> None:
    with contextlib.suppress(CodecError):
        decode(kind, data)
