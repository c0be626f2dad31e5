"""LiftedTensor: a tensor for torch whose elements are lifted numbers. Running a reference on it lifts the reference.

Torch's dispatcher calls us for every operation below autograd, so that backward passes are lifted too. An operation
without a function of ours is decomposed by torch into others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_map

from warpwright.core.errors import Undecided
from warpwright.prove import numbers

Operation = Callable[..., Any]
_operations: dict[str, Operation] = {}


class LiftedTensor(torch.Tensor):
    places: torch.Tensor

    @staticmethod
    def __new__(cls, places: torch.Tensor, dtype: torch.dtype = torch.float32) -> LiftedTensor:
        made: LiftedTensor = torch.Tensor._make_wrapper_subclass(
            cls, places.shape, strides=places.stride(), storage_offset=places.storage_offset(), dtype=dtype
        )
        made.places = places
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return f"LiftedTensor({numbers.values(self.places)})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = func.overloadpacket.__name__
        given = kwargs or {}
        if name in _operations:
            return _operations[name](func, *args, **given)
        decomposed = _decompositions().get(func)
        if decomposed is not None:
            return decomposed(*args, **given)
        found = func.decompose(*args, **given)
        if found is NotImplemented:
            raise Undecided(f"unsupported: aten.{name} in lifted numbers")
        return found


def implements(*names: str) -> Callable[[Operation], Operation]:
    """Registers a function for operations of torch, by name; it is given the overload and its arguments."""

    def register(operation: Operation) -> Operation:
        _operations.update(dict.fromkeys(names, operation))
        return operation

    return register


def lifted(value: Any, like: torch.Tensor | None = None) -> torch.Tensor:
    """The places of a tensor or a plain number. Plain tensors hold constants."""
    if isinstance(value, LiftedTensor):
        return value.places
    constants = value if isinstance(value, torch.Tensor) else torch.tensor(float(value))
    return numbers.read(constants)


def values_of(value: Any) -> Any:
    """A lifted tensor's doubles; anything else as it is."""
    return numbers.values(value.places) if isinstance(value, LiftedTensor) else value


def with_places(arguments: Any) -> Any:
    """Arguments with places instead of lifted tensors, for operations that only move elements."""
    return tree_map(lambda item: item.places if isinstance(item, LiftedTensor) else item, arguments)


@cache
def _decompositions() -> Mapping[Any, Operation]:
    from torch._decomp import decomposition_table

    return decomposition_table
