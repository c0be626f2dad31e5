"""The memory of one call: buffers at fake addresses, and operations of torch on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warpwright.core.dtypes import DTYPES
from warpwright.core.launch.plan import Constant, Fill, Library, View
from warpwright.core.signature import TensorSpec
from warpwright.languages.python.record import Allocate
from warpwright.seal.capture.calls import storage_bytes
from warpwright.seal.refusal import refuted, undecided

if TYPE_CHECKING:
    from warpwright.ttir.memory.allocations import Buffer

_BASE, _APART = 0x7F00_0000_0000, 1 << 36
_COPY = "copy_"
Librarian = Callable[[Library, Sequence[bytes | None]], bytes]


def bytes_of(dtype: str) -> int:
    if dtype not in DTYPES:
        raise undecided(f"unsupported: tensors of {dtype:.40}")
    return DTYPES[dtype].bytes


@dataclass(slots=True)
class Memory:
    library: Librarian | None
    buffers: dict[int, Buffer] = field(default_factory=dict)

    def give(self, number: int, spec: TensorSpec, content: bytes) -> None:
        """An argument with its content."""
        from warpwright.ttir.plain import given

        self.buffers[number] = given(spec.name, self._base(number), content, bytes_of(spec.dtype))

    def allocate(self, step: Allocate, name: str) -> None:
        from warpwright.ttir.plain import fresh

        if step.buffer in self.buffers:
            raise refuted("trace", "the record makes the same memory twice")
        spec = TensorSpec(name=name, shape=step.shape, stride=step.stride, dtype=step.dtype)
        width = bytes_of(step.dtype)
        self.buffers[step.buffer] = fresh(name, self._base(step.buffer), storage_bytes(spec), width)

    def _base(self, number: int) -> int:
        return _BASE + number * _APART

    def of(self, view: View) -> Buffer:
        if view.buffer not in self.buffers:
            raise refuted("trace", "the record uses memory that it never made")
        return self.buffers[view.buffer]

    def address(self, view: View) -> int:
        return self.of(view).base + view.offset

    def content(self, number: int) -> bytes:
        return bytes(self.buffers[number].bytes())

    # Tensors

    def tensor(self, view: View) -> Any:
        from warpwright.oracle.inputs.storage import from_bytes

        held = from_bytes(bytes(self.of(view).bytes()), view.dtype, view.shape, view.stride, view.offset)
        if held is None:
            raise refuted("trace", "the record uses a tensor that does not lie within its memory")
        return held

    def store(self, view: View, value: Any) -> None:
        """Writes a tensor into a window of the memory; elements between those of the window stay."""
        from warpwright.oracle.inputs.storage import to_bytes
        from warpwright.ttir.plain import put

        held = self.tensor(view)
        held.copy_(value)
        put(self.of(view), view.offset, to_bytes(held))

    def fill(self, step: Fill) -> None:
        self.store(step.target, self.tensor(step.target).fill_(step.value))

    def operate(self, step: Library) -> None:
        if step.operation == _COPY:
            self.store(step.outputs[0], self._operand(step.inputs[0]))
            return
        if self.library is None:
            raise undecided(f"unsupported: at::{step.operation}")
        operands = [self._elements(item) if isinstance(item, View) else None for item in step.inputs]
        results = self.library(step, operands)
        for view, piece in _pieces(step.outputs, results):
            self.store(view, piece)

    def _operand(self, item: View | Constant | None) -> Any:
        from warpwright.oracle.inputs.storage import from_bytes

        if isinstance(item, View):
            return self.tensor(item)
        held = from_bytes(item.data, item.dtype, item.shape, _contiguous(item.shape)) if item else None
        if held is None:
            raise refuted("trace", "the record copies a table that is not there")
        return held

    def _elements(self, view: View) -> bytes:
        from warpwright.oracle.inputs.storage import to_bytes

        return to_bytes(self.tensor(view).contiguous())


def _pieces(views: Sequence[View], data: bytes) -> Iterator[tuple[View, Any]]:
    """The results of an operation, which lie one after another."""
    from warpwright.oracle.inputs.storage import from_bytes

    at = 0
    for view in views:
        held = from_bytes(data, view.dtype, view.shape, _contiguous(view.shape), at)
        if held is None:
            raise undecided("unsupported: an operation with results of another size")
        yield view, held
        at += held.numel() * held.element_size()


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    stride: list[int] = []
    step = 1
    for extent in reversed(shape):
        stride.insert(0, step)
        step *= max(extent, 1)
    return tuple(stride)
