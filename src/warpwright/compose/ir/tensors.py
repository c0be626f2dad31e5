"""Tensors that kernels read and write, and the stores of values."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.compose.ir.indices import Place, Shift
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.values import Value

CPP = {
    "T": "T",
    "fp64": "double",
    "fp32": "float",
    "fp16": "c10::Half",
    "bf16": "c10::BFloat16",
    "e4m3": "__nv_fp8_e4m3",
    "e5m2": "__nv_fp8_e5m2",
    "int64": "int64_t",
    "int32": "int",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "bool": "bool",
}
"""The C++ types of elements; T is the template parameter that stands for the case's own type."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """Memory that kernels read or write: an argument, an output or scratch."""

    name: str
    dtype: str
    shape: tuple[Size, ...]
    listed: bool = False
    """Whether it stands for every tensor of a list."""

    @property
    def cpp(self) -> str:
        return CPP[self.dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A value that a kernel stores, as a whole tensor or as a part of a larger one."""

    value: Value
    tensor: Tensor
    dim: int | None = None
    start: Size | None = None
    """The start of the part along `dim`."""
    at: tuple[Value, ...] = ()
    """The destination indices of each element, for the leading dimensions of the tensor."""

    def place(self, place: Place) -> Place:
        if self.dim is None or self.start is None or self.start.text == "0":
            return place
        moved = list(place)
        base = moved[self.dim]
        assert base is not None
        moved[self.dim] = Shift(base, self.start)
        return tuple(moved)
