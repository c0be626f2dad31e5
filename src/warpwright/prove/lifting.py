"""Lifting: the dispatch mode under which a reference computes in lifted numbers.

An operation is done by our function for it, else by torch's decomposition into others, else it is unsupported. Integers
and flags stay ordinary tensors; what becomes floating is lifted as a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from warpwright.oracle.truth.modes import Mode
from warpwright.prove import operations  # noqa: F401  (registers them)
from warpwright.prove.operations.refused import refuse_if_random
from warpwright.prove.tensor import (
    LiftedTensor,
    Operation,
    first_lifted,
    is_floating,
    lifted,
    operation_named,
    unsupported,
)


class Lifting(Mode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        name = func.overloadpacket.__name__
        if first_lifted((args, given)) is None:
            return _on_plain(func, name, args, given)
        operation = operation_named(name)
        if operation is not None:
            return operation(func, *args, **given)
        functional = operation_named(name[:-1]) if name.endswith("_") else None
        if functional is not None:
            return _in_place(functional, func, args, given)
        return self._decomposed(func, name, args, given)

    def _decomposed(self, func: Any, name: str, args: Any, given: Any) -> Any:
        refuse_if_random(name, args, given)
        with self:
            decomposed = _decompositions().get(func)
            if decomposed is not None:
                return decomposed(*args, **given)
            found = func.decompose(*args, **given)
        if found is NotImplemented:
            raise unsupported(str(func))
        return found


def _on_plain(func: Any, name: str, args: Any, given: Any) -> Any:
    """Operations without lifted arguments: constants come to be, or integers become constants."""
    refuse_if_random(name, args, given)
    given_tensors = [item for item in tree_leaves((args, given)) if isinstance(item, torch.Tensor)]
    found = func(*args, **given)
    if any(map(is_floating, given_tensors)) or not any(map(is_floating, tree_leaves(found))):
        return found
    operation = operation_named(name) if given_tensors else None
    return operation(func, *args, **given) if operation else tree_map(_as_constant, found)


def _as_constant(item: Any) -> Any:
    return LiftedTensor(lifted(item), item.dtype) if is_floating(item) else item


def _in_place(functional: Operation, func: Any, args: Any, given: Any) -> Any:
    target = args[0]
    if not isinstance(target, LiftedTensor):
        raise unsupported(f"{func} into a tensor of constants or integers")
    target.places.copy_(lifted(functional(func, *args, **given)))
    return target


@cache
def _decompositions() -> Mapping[Any, Operation]:
    from torch._decomp import decomposition_table

    return decomposition_table
