"""The graph of values that a function computes: tensors by shape and by the expression of each element.

Values are unique (hash-consing): the same operation on the same operands is the same value, so that a value saved by a
forward pass is recognised in its backward pass. Conversions between floating-point types are not values: everything is
computed in float32 and rounded when stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from warpwright.compose.ir.operations import HOST, Attributes, Constant, Extent, Op, Permuted
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.core.gpus.table import Gpu

Shape = tuple[Size, ...]
FLOAT, INT, BOOL = "float", "int", "bool"

Attributed = TypeVar("Attributed", bound=Attributes)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    number: int
    op: Op
    args: tuple[Value, ...]
    shape: Shape
    attrs: Attributes | None = None
    kind: str = FLOAT
    dtype: str = "fp32"
    """The type in which it would be stored: "T" for the case's own type."""

    @property
    def first(self) -> Value:
        return self.args[0]

    def attr(self, kind: type[Attributed]) -> Attributed:
        """Its attributes, which must be of this kind."""
        if not isinstance(self.attrs, kind):
            raise TypeError(f"{self.op} has the attributes {self.attrs}, not {kind.__name__}")
        return self.attrs

    def is_constant(self, number: float) -> bool:
        return isinstance(self.attrs, Constant) and self.attrs.value == number


class Graph:
    """Creates values, each once (hash-consing), with simple simplifications. A graph has a target GPU."""

    def __init__(self, cases: Cases, gpu: Gpu) -> None:
        self.cases, self.gpu = cases, gpu
        self._values: dict[tuple[Any, ...], Value] = {}
        self.names: dict[int, str] = {}
        """The names of values in the source."""
        self.rounded: set[int] = set()
        """Values that are rounded to the case's own type wherever they are computed."""

    def make(
        self,
        op: Op,
        args: Sequence[Value] = (),
        shape: Shape = (),
        attrs: Attributes | None = None,
        kind: str = FLOAT,
        dtype: str = "fp32",
    ) -> Value:
        key = (op, tuple(arg.number for arg in args), shape, attrs, kind)
        if key not in self._values:
            self._values[key] = Value(len(self._values), op, tuple(args), shape, attrs, kind, dtype)
        return self._values[key]

    def made(self, op: Op) -> list[Value]:
        return [value for value in self._values.values() if value.op == op]

    def constant(self, value: bool | int | float) -> Value:
        kind = {bool: BOOL, int: INT}.get(type(value), FLOAT)
        dtype = {BOOL: "bool", INT: "int64"}.get(kind, "fp32")
        return self.make(Op.CONSTANT, attrs=Constant(value), kind=kind, dtype=dtype)

    def size(self, size: Size) -> Value:
        if size.constant is not None:
            return self.constant(size.constant)
        return self.make(Op.SIZE, attrs=Extent(size), kind=INT, dtype="int64")

    def numel(self, value: Value) -> Size:
        return self.cases.product(value.shape)

    def reshape(self, value: Value, shape: Shape) -> Value:
        if value.op is Op.RESHAPE:
            value = value.first
        if value.shape == shape:
            return value
        return self.make(Op.RESHAPE, [value], shape, kind=value.kind, dtype=value.dtype)

    def broadcast(self, value: Value, shape: Shape) -> Value:
        """Broadcasts dimensions of size 1, after adding leading ones."""
        if not value.shape and value.op in HOST:
            return value
        padded = (*[self.cases.one()] * (len(shape) - len(value.shape)), *value.shape)
        value = self.reshape(value, padded)
        if value.shape == shape:
            return value
        return self.make(Op.BROADCAST, [value], shape, kind=value.kind, dtype=value.dtype)

    def permute(self, value: Value, order: Sequence[int]) -> Value:
        if value.op is Op.PERMUTE:
            order, value = [value.attr(Permuted).order[position] for position in order], value.first
        if list(order) == list(range(len(value.shape))):
            return value
        shape = tuple(value.shape[position] for position in order)
        return self.make(Op.PERMUTE, [value], shape, Permuted(tuple(order)), value.kind, value.dtype)

    def pointwise(self, op: Op, *args: Value, kind: str | None = None, dtype: str = "fp32") -> Value:
        if inner := self._under_reshapes(args):
            shape = next(arg.shape for arg in args if arg.shape)
            return self.reshape(self.pointwise(op, *inner, kind=kind, dtype=dtype), shape)
        shape = self.common_shape(args)
        wide = [self.broadcast(arg, shape) for arg in args]
        folded = self._folded(op, wide)
        return folded or self.make(op, wide, shape, kind=kind or _joined(args), dtype=dtype)

    @staticmethod
    def _under_reshapes(args: Sequence[Value]) -> list[Value] | None:
        """The operands in the shape they had before one and the same reshape of all of them, scalars aside."""
        reshaped = [arg for arg in args if arg.shape]
        shapes = {(arg.shape, arg.first.shape if arg.op is Op.RESHAPE else None) for arg in reshaped}
        if len(shapes) != 1 or any(arg.op is not Op.RESHAPE or not arg.first.shape for arg in reshaped):
            return None
        return [arg.first if arg.shape else arg for arg in args]

    def common_shape(self, args: Sequence[Value]) -> Shape:
        rank = max(len(arg.shape) for arg in args)
        columns = []
        for position in range(-rank, 0):
            found = [arg.shape[position] for arg in args if len(arg.shape) >= -position]
            columns.append(next((size for size in found if not size.is_one), found[0]))
        return tuple(columns)

    def _folded(self, op: Op, args: list[Value]) -> Value | None:
        """Neutral elements, and squares written as products."""
        ones, zeros = ([arg.is_constant(number) for arg in args] for number in (1, 0))
        if op in (Op.MUL, Op.DIV) and ones[1]:
            return args[0]
        if op is Op.MUL and ones[0]:
            return args[1]
        if op in (Op.ADD, Op.SUB) and zeros[1]:
            return args[0]
        if op is Op.ADD and zeros[0]:
            return args[1]
        return None


def _joined(args: Sequence[Value]) -> str:
    kinds = {arg.kind for arg in args}
    return FLOAT if FLOAT in kinds else INT if INT in kinds else BOOL


def under_views(value: Value) -> Value:
    """The operand below broadcasts and reshapes."""
    while value.op in (Op.BROADCAST, Op.RESHAPE):
        value = value.first
    return value


def is_host(value: Value) -> bool:
    """Whether the host can compute the value: a number that does not depend on tensors."""
    return value.op in HOST or (not value.shape and bool(value.args) and all(map(is_host, value.args)))


def is_zero(value: Value) -> bool:
    """Whether the value is zero, in any shape."""
    return under_views(value).is_constant(0)


def walk(roots: Sequence[Value]) -> Iterator[Value]:
    """Yields every value that the roots need, each once, operands first."""
    seen: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        value, done = stack.pop()
        if done:
            yield value
        elif value.number not in seen:
            seen.add(value.number)
            stack.append((value, True))
            stack.extend((arg, False) for arg in reversed(value.args))
