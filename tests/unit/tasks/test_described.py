"""Descriptions of inputs on the command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.dtypes import DTYPES
from warpwright.core.errors import UsageError
from warpwright.tasks.given.described import described
from warpwright.tasks.probing.seen import ScalarSeen, TensorSeen


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "below"),
    [
        ("8,512,768:bf16", (8, 512, 768), "bf16", None),
        ("16:int64<100", (16,), "int64", 100),
        ("16,", (16,), "fp32", None),
        ("2,3", (2, 3), "fp32", None),
        (":fp16", (), "fp16", None),
        ("2, 3 : torch.float16", (2, 3), "fp16", None),
    ],
)
def test_tensors(text: str, shape: tuple[int, ...], dtype: str, below: int | None) -> None:
    (seen,) = described([text])
    assert isinstance(seen, TensorSeen)
    assert (seen.name, seen.shape, seen.dtype, seen.below) == ("", shape, dtype, below)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("1e-5", "", 1e-5),
        ("eps=1e-5", "eps", 1e-5),
        ("3", "", 3),
        ("-1", "", -1),
        ("none", "", None),
        ("causal=True", "causal", True),
        ("stride=[2, 3]", "stride", (2, 3)),
        ("reduction=mean", "reduction", "mean"),
    ],
)
def test_scalars(text: str, name: str, value: object) -> None:
    assert described([text]) == (ScalarSeen(name=name, value=value),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "a,b", "4x4", "4,-4:fp32", ",4:fp32", "4:fp32<3", "4:int8<0", "4::fp32", "9" * 40 + ","]
)
def test_anything_else_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(UsageError):
        described([text])


@given(st.text(max_size=40))
def test_any_other_text_is_a_usage_error(text: str) -> None:
    try:
        (seen,) = described([text])
    except UsageError:
        return
    assert isinstance(seen, TensorSeen | ScalarSeen)


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=5),
    st.sampled_from(sorted(DTYPES)),
    st.none() | st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True),
)
def test_a_description_is_parsed_as_written(sizes: list[int], dtype: str, name: str | None) -> None:
    text = ",".join(map(str, sizes)) + f":{dtype}"
    (seen,) = described([f"{name}={text}" if name else text])
    assert isinstance(seen, TensorSeen)
    assert (seen.name, seen.shape, seen.dtype) == (name or "", tuple(sizes), dtype)
