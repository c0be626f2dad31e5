"""Counts the least work of one call from the operations that torch runs, by shapes alone.

Every count is at most what the function needs: rows that indices select, products with a structured operand (a diagonal
or triangular one) and operations inside one of torch's own count nothing or little, because a kernel may save them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from warpwright.core.dtypes import BY_TORCH_NAME, dtype_named
from warpwright.core.task import Work

if TYPE_CHECKING:
    import torch

_SELECTING = {"embedding", "_embedding_bag", "index", "_unsafe_index", "gather", "index_select", "take", "index_put"}
"""Operations that read rows of their first tensor as their indices say."""
_MOVING = {"clone", "_to_copy", "copy_", "cat", "stack", "constant_pad_nd", "flip", "roll", "repeat", "lift_fresh"}
_STRUCTURED = {"diag", "diag_embed", "diagonal_scatter", "eye", "triu", "tril"}
_MAKING = ("_like", "empty", "zeros", "ones", "full", "arange", "eye", "scalar_tensor")


class Tally:
    """The work of one call, by the storages of its arguments."""

    def __init__(self, arguments: Sequence[torch.Tensor], structured: Sequence[torch.Tensor]) -> None:
        self._sizes = {_place(tensor): _bytes(tensor) for tensor in arguments}
        self._read: dict[int, dict[object, int]] = {}
        self._structured = {_place(tensor) for tensor in structured}
        self._products: Counter[str] = Counter()
        self._scalar = 0
        self.multiplications = 0
        """Those of matrix products, convolutions and attention, however structured."""
        self._alive: list[Any] = list(arguments)

    def note(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> None:
        """Adds one operation."""
        name, given, made = func.overloadpacket.__name__, list(_tensors([args, kwargs])), list(_tensors(out))
        self._alive += made  # no storage is freed, so that no address is used twice
        if name in _STRUCTURED:
            self._structured |= {_place(tensor) for tensor in made}
        if func.is_view or name.startswith(_MAKING) or name.endswith(_MAKING) or name == "detach":
            return
        for tensor in given[1:] if name in _SELECTING else given:
            self._read.setdefault(_place(tensor), {})[_piece(tensor)] = _bytes(tensor)
        products = _products(func, args, kwargs, out)
        if products is not None:
            self._multiplied(name, given, products)
        elif name not in _MOVING and name not in _SELECTING:
            self._scalar += max((tensor.numel() for tensor in (*given, *made)), default=0)

    def _multiplied(self, name: str, given: Sequence[torch.Tensor], operations: int) -> None:
        self.multiplications += operations // 2
        dtype = BY_TORCH_NAME.get(str(given[0].dtype).removeprefix("torch."))
        if dtype is not None and not any(_place(tensor) in self._structured for tensor in given):
            # A causal mask saves half of attention.
            self._products[dtype.name] += operations // 2 if "attention" in name else operations

    def work(self, results: Sequence[torch.Tensor], ignored: Sequence[torch.Tensor] = ()) -> Work:
        """Returns the work of the call, given its results and the arguments on which they do not depend."""
        left = self._sizes.keys() - {_place(tensor) for tensor in ignored}
        reads = sum(min(sum(self._read.get(place, {}).values()), self._sizes[place]) for place in left)
        made = {_place(tensor): _bytes(tensor) for tensor in results if _place(tensor) not in self._sizes}
        precision = min(self._products, key=lambda name: dtype_named(name).bytes, default="T")
        return Work(
            reads=reads,
            writes=sum(made.values()),
            matrix=sum(self._products.values()),
            scalar=self._scalar,
            precision=precision,
        )


@contextmanager
def tallied(arguments: Sequence[torch.Tensor], structured: Sequence[torch.Tensor] = ()) -> Iterator[Tally]:
    """Counts the operations inside."""
    from torch.utils._python_dispatch import TorchDispatchMode

    tally = Tally(arguments, structured)

    class Counting(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # otherwise torch imports all of its compiler

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            tally.note(func, args, kwargs or {}, out)
            return out

    with Counting():  # type: ignore[no-untyped-call]
        yield tally


def _products(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int | None:
    """Returns the operations of a product, convolution or attention by torch's table."""
    from torch.utils.flop_counter import flop_registry

    count = flop_registry.get(func.overloadpacket)
    return None if count is None else int(count(*args, **kwargs, out_val=out))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _tensors(item)


def _place(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _piece(tensor: torch.Tensor) -> object:
    return tensor.storage_offset(), tuple(tensor.shape), tensor.stride()


def _bytes(tensor: torch.Tensor) -> int:
    """The bytes of the elements that lie apart: an expanded dimension is one element."""
    held = (size if stride else min(size, 1) for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return math.prod(held) * tensor.element_size()
