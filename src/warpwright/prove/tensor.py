"""LiftedTensor: a tensor for torch whose elements are lifted numbers. Running a reference on it lifts the reference.

Torch's dispatcher calls us for every operation below autograd, so that backward passes are lifted too. Views, copies
and mutations work on the places of the numbers, which are an ordinary tensor with the same strides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from warpwright.core.errors import Undecided
from warpwright.prove import numbers

Operation = Callable[..., Any]
_operations: dict[str, Operation] = {}


class LiftedTensor(torch.Tensor):
    places: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

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
        from warpwright.prove.lifting import Lifting

        with Lifting():  # type: ignore[no-untyped-call]
            return func(*args, **(kwargs or {}))


def implements(*names: str) -> Callable[[Operation], Operation]:
    """Registers a function for operations of torch, by name; it is given the overload and its arguments."""

    def register(operation: Operation) -> Operation:
        _operations.update(dict.fromkeys(names, operation))
        return operation

    return register


def operation_named(name: str) -> Operation | None:
    return _operations.get(name)


def unsupported(what: str) -> Undecided:
    return Undecided(f"unsupported in lifted numbers: {what}")


def lifted(value: Any) -> torch.Tensor:
    """The places of a tensor or a plain number. Plain tensors hold constants."""
    if isinstance(value, LiftedTensor):
        return value.places
    if isinstance(value, float):
        return numbers.number_of(value)
    constants = value if isinstance(value, torch.Tensor) else torch.tensor(value)
    return numbers.read(constants) if constants.is_floating_point() else numbers.whole(constants)


def made(places: torch.Tensor, *like: Any) -> LiftedTensor:
    """A lifted tensor of the dtype that torch gives to a result of these operands."""
    return LiftedTensor(places, promoted(like))


def promoted(operands: Iterable[Any]) -> torch.dtype:
    first, *others = (item for item in operands if item is not None)
    dtype = first.dtype if isinstance(first, torch.Tensor) else torch.get_default_dtype()
    for other in others:
        dtype = torch.result_type(first, other)
        first = other if isinstance(other, torch.Tensor) and other.dtype is dtype else first
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def values_of(value: Any) -> Any:
    """A tensor's doubles, also those of constants; anything else as it is."""
    if isinstance(value, LiftedTensor):
        return numbers.values(value.places)
    is_constant = isinstance(value, torch.Tensor) and value.is_floating_point()
    return numbers.values(numbers.read(value)) if is_constant else value


def with_places(arguments: Any) -> Any:
    """Arguments with places in place of numbers, for operations that only move elements."""
    return tree_map(lambda item: lifted(item) if is_floating(item) else item, arguments)


def is_floating(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and item.is_floating_point()


def first_lifted(arguments: Any) -> LiftedTensor | None:
    return next((item for item in tree_leaves(arguments) if isinstance(item, LiftedTensor)), None)
