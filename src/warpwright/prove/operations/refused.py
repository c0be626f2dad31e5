"""Operations that no lifted number stands for: what draws random numbers."""

from __future__ import annotations

from typing import Any

from warpwright.prove.tensor import unsupported

_RANDOM = (
    "rand",
    "randn",
    "randint",
    "randperm",
    "rand_like",
    "randn_like",
    "randint_like",
    "bernoulli",
    "bernoulli_",
    "multinomial",
    "normal",
    "normal_",
    "normal_functional",
    "uniform_",
    "uniform",
    "exponential_",
    "exponential",
    "native_dropout",
    "rrelu_with_noise",
    "rrelu_with_noise_functional",
    "_fused_dropout",
)


def refuse_if_random(name: str, args: Any, given: Any) -> None:
    if name in _RANDOM:
        raise unsupported(f"random numbers ({name})")
