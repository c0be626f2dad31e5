"""Executes torch operations within an emulated call on the CPU, with the judge's own code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from warpwright.core.errors import Undecided, UsageError
from warpwright.core.launch.plan import Library, View
from warpwright.core.signature import contiguous
from warpwright.seal.refusal import undecided

if TYPE_CHECKING:
    from warpwright.judge.gpu.memory import Memory


_REFUSALS = (Undecided, UsageError, RuntimeError, TypeError, ValueError, LookupError, MemoryError, OverflowError)
_ADDED_IN_16_BITS = ("convolution_backward",)
"""Operations that torch on a CPU accumulates over the batch in 16 bits. GPUs accumulate in fp32 and round at the
end.
"""


def execute_on_cpu(node: Library, operands: Sequence[bytes | None]) -> bytes:
    """Returns the output elements, concatenated. Undecided if torch rejects the operation."""
    from warpwright.judge.gpu.torch_operations import execute
    from warpwright.oracle.inputs.storage import to_bytes

    try:
        held = _Held(node, operands)
        execute(node, cast("Memory", held))
    except _REFUSALS as problem:
        said = (str(problem).splitlines() or ["too large"])[0]
        raise undecided(f"unsupported: library at::{node.operation} on the CPU ({said:.120})") from None
    return b"".join(to_bytes(held.tensor(view).contiguous()) for view in node.outputs)


class _Held:
    """The operands and results of one operation, by the views of the trace."""

    def __init__(self, node: Library, operands: Sequence[bytes | None]) -> None:
        given = zip(node.inputs, operands, strict=False)
        contents = {_key(view): data for view, data in given if isinstance(view, View) and data is not None}
        self._tensors = {_key(view): _tensor(view, contents.get(_key(view))) for view in _views(node)}
        if node.operation in _ADDED_IN_16_BITS:
            self._tensors |= {key: self._tensors[key].float() for key in contents}

    def tensor(self, view: View) -> Any:
        return self._tensors[_key(view)]

    def fixed(self, buffer: int) -> bool:
        return False

    def adopt(self, view: View, result: Any) -> bool:
        return False


def _views(node: Library) -> list[View]:
    return [view for view in (*node.inputs, *node.outputs) if isinstance(view, View)]


def _key(view: View) -> tuple[object, ...]:
    return view.buffer, view.offset, view.shape, view.stride, view.dtype


def _tensor(view: View, data: bytes | None) -> Any:
    from warpwright.core.dtypes import dtype_named
    from warpwright.oracle.inputs.storage import from_bytes

    size = dtype_named(view.dtype).bytes
    for extent in view.shape:
        size *= extent
    return from_bytes(bytes(size) if data is None else data, view.dtype, view.shape, contiguous(view.shape))
