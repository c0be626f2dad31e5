"""The parameters of kernels: tensors, scalars, sizes."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwright.compose.code.definitions import Item
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Value


@dataclass(slots=True)
class Needs:
    """The inputs and outputs of a kernel."""

    reads: dict[str, Tensor] = field(default_factory=dict)
    writes: dict[str, Tensor] = field(default_factory=dict)
    scalars: dict[str, Value] = field(default_factory=dict)
    sizes: dict[str, Size] = field(default_factory=dict)
    multiples: dict[Size, None] = field(default_factory=dict)
    """Sizes that must be multiples of the pack on the vector path."""
    vectors: dict[str, Tensor] = field(default_factory=dict)
    """Tensors that the vector path reads or writes by packs."""
    functions: dict[str, Item] = field(default_factory=dict)
    small: set[Size] = field(default_factory=set)
    """Sizes that divide positions in a row, and are therefore small."""
    strides: set[Size] = field(default_factory=set)
    """Sizes by which positions in a row are multiplied; the products may be large."""
    divides: bool = False
    """Whether indices are divided, so that their width affects speed."""
