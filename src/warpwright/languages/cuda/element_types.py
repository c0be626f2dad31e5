"""Names element types in CUDA and in torch's C++."""

from __future__ import annotations

IN_TORCH = {
    "fp64": "torch::kFloat64",
    "fp32": "torch::kFloat32",
    "fp16": "torch::kFloat16",
    "bf16": "torch::kBFloat16",
    "e4m3": "torch::kFloat8_e4m3fn",
    "e5m2": "torch::kFloat8_e5m2",
}
_IN_CUDA = {
    "fp64": "double",
    "fp32": "float",
    "fp16": "__half",
    "bf16": "__nv_bfloat16",
    "e4m3": "__nv_fp8_e4m3",
    "e5m2": "__nv_fp8_e5m2",
}


def spelled(name: str) -> str:
    """A type with its C++ names, such as "bf16 (`__nv_bfloat16`, `torch::kBFloat16`)"; integers keep one name."""
    return f"{name} (`{_IN_CUDA[name]}`, `{IN_TORCH[name]}`)" if name in _IN_CUDA else name
