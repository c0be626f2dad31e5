"""Types of values: `f32`, `tensor<64x32x!tt.ptr<f32>>`, `!tt.tensordesc<16x32xf32>`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod

_SHAPED = re.compile(r"(?:tensor|!tt\.tensordesc|)<((?:\d+x)*)(.+)>$", re.DOTALL)
_MOST_ELEMENTS = 1 << 20  # Triton's own limit
_ELEMENT = re.compile(r"[a-zA-Z]\w*$")


@dataclass(frozen=True, slots=True)
class Type:
    """`element` is the name of a number type, `ptr` or `desc`; what those two lead to is in `pointee`."""

    element: str
    shape: tuple[int, ...] = ()
    pointee: str = ""

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def scalar(self) -> Type:
        return replace(self, shape=())


def parse_type(text: str) -> Type:
    """Read one type. ValueError if it is none that is known."""
    text = text.strip()
    if text.startswith("!tt.ptr<"):
        return Type("ptr", (), _pointee(text))
    shaped = _SHAPED.match(text)
    if shaped is None:
        return Type(_checked(text))
    shape = tuple(int(extent) for extent in shaped[1].split("x")[:-1])
    if prod(shape) > _MOST_ELEMENTS:
        raise ValueError(f"a tensor of {prod(shape)} elements")
    inner = shaped[2].split(",")[0] if not shaped[2].startswith("!") else shaped[2]
    if text.startswith("!tt.tensordesc"):
        return Type("desc", shape, _checked(inner.strip()))
    if text.startswith("tensor"):
        return replace(parse_type(inner), shape=shape)
    return Type("ptr", (), inner) if not shape else Type("desc", shape, inner)


def _pointee(text: str) -> str:
    inner = text[len("!tt.ptr<") : text.rindex(">")]
    if inner.startswith("!tt.ptr"):
        return "ptr"
    return _checked(inner.split(",")[0].strip())


def _checked(name: str) -> str:
    if not _ELEMENT.match(name):
        raise ValueError(f"unknown type {name}")
    return name
