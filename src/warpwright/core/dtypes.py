"""Element types by name, with size and precision."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class DType:
    name: str
    torch: str
    bytes: int
    mantissa: int | None = None
    """Explicit mantissa bits of a floating type; None for integers and bool."""

    @property
    def floating(self) -> bool:
        return self.mantissa is not None

    @property
    def quantised(self) -> bool:
        """Whether the type is so coarse that rounding to it is the purpose of the operation."""
        return self.mantissa is not None and self.mantissa < 7

    @property
    def epsilon(self) -> float:
        """The distance from 1.0 to the next value."""
        if self.mantissa is None:
            raise ValueError(f"{self.name} is not a floating type")
        return 2.0**-self.mantissa


DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        DType(name="fp64", torch="float64", bytes=8, mantissa=52),
        DType(name="fp32", torch="float32", bytes=4, mantissa=23),
        DType(name="fp16", torch="float16", bytes=2, mantissa=10),
        DType(name="bf16", torch="bfloat16", bytes=2, mantissa=7),
        DType(name="e4m3", torch="float8_e4m3fn", bytes=1, mantissa=3),
        DType(name="e5m2", torch="float8_e5m2", bytes=1, mantissa=2),
        DType(name="int64", torch="int64", bytes=8),
        DType(name="int32", torch="int32", bytes=4),
        DType(name="int16", torch="int16", bytes=2),
        DType(name="int8", torch="int8", bytes=1),
        DType(name="uint8", torch="uint8", bytes=1),
        DType(name="bool", torch="bool", bytes=1),
    )
}
BY_TORCH_NAME: dict[str, DType] = {dtype.torch: dtype for dtype in DTYPES.values()}
_SPELLINGS = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "half": "fp16", "float": "fp32", "double": "fp64"}


def dtype_named(name: str) -> DType:
    """Finds a dtype by our name, torch's name or a common short spelling."""
    bare = name.removeprefix("torch.")
    found = DTYPES.get(_SPELLINGS.get(bare, bare)) or BY_TORCH_NAME.get(bare)
    if found is None:
        raise UsageError(f"unknown dtype '{name}'; one of {', '.join(DTYPES)}")
    return found
