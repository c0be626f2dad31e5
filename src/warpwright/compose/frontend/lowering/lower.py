"""Lowers ATen operations to values. Each handler takes the arguments of one operation and returns its values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from warpwright.compose.errors import AsksSizes, CannotCompose
from warpwright.compose.frontend.trace import Slot, Traced
from warpwright.compose.ir.operations import Argument, Constant, Extent, Op, Scalar
from warpwright.compose.ir.sizes import Size, plain_formula
from warpwright.compose.ir.values import BOOL, FLOAT, INT, Graph, Value
from warpwright.core.dtypes import BY_TORCH_NAME
from warpwright.core.task import Case

Handler = Callable[..., Any]
HANDLERS: dict[str, Handler] = {}
"""Handlers by the name of the operation, with or without its overload."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


Lowered = tuple[list[Value], Mapping[str, Value]]
"""The results of a traced function, and the final values of overwritten arguments."""


class Lowering:
    """Lowers one graph of ATen operations to values."""

    def __init__(self, traced: Traced, graph: Graph) -> None:
        self.traced, self.graph = traced, graph
        self.now: dict[str, Any] = {}
        """The value of each node of the traced graph."""
        self.changed: dict[str, Value] = {}
        """The current values of overwritten arguments, by name."""
        self.settled: set[str] = set()
        """Names that a handler has restored in place of numbers in the graph."""
        self.node: Any = None

    def run(self) -> list[Value]:
        slots = iter(self.traced.slots)
        results: list[Value] = []
        for node in self.traced.graph.nodes:
            self.node = node
            if node.op == "placeholder":
                self.now[node.name] = self._input(next(slots), node)
            elif node.op == "output":
                results = [self.value(item) for item in node.args[0]]
            elif node.op == "call_function":
                self.now[node.name] = self._call(node)
                self._name(node)
            else:
                self.now[node.name] = self._constant(node)
        return results

    def _constant(self, node: Any) -> Value:
        """The value of a tensor that the function makes of a number."""
        held = getattr(self.traced.graph.owning_module, node.target, None)
        held = getattr(held, "constant", held)
        if held is None or held.dim() or not self.kind_of(held.dtype):
            raise CannotCompose(f"a constant tensor inside the function ({node.target})")
        return self.graph.constant(held.item())

    def _input(self, slot: Slot, node: Any) -> Any:
        if slot.kind == "count":
            return self.graph.make(Op.COUNT, attrs=Scalar(slot.name), kind=INT, dtype="int64")
        if slot.kind == "number":
            return self.graph.make(Op.NUMBER, attrs=Scalar(slot.name), dtype="fp64")
        kind = self.kind_of(node.meta["val"].dtype)
        named = Argument(slot.name, slot.kind == "list")
        return self.graph.make(Op.INPUT, (), self.shape_of(node.meta["val"]), named, kind, slot.dtype)

    def _call(self, node: Any) -> Any:
        name = _operation(node.target)
        found = node.meta.get("val")
        if type(found).__name__ == "SymInt":
            return self.graph.size(self.size(found))
        handler = _handler(name)
        in_place = handler is None and (handler := _handler(_not_in_place(name))) is not None
        if handler is None:
            raise CannotCompose(f"aten.{name.removesuffix('.default')}" if "." in name else name)
        args = [self._argument(arg) for arg in node.args]
        named = {key: self._argument(arg) for key, arg in node.kwargs.items()}
        self._check_arguments(handler, args, named)
        made = handler(self, *args, **named)
        return self._replaced(node, made) if in_place else made

    def _check_arguments(self, handler: Handler, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Checks that the handler supports the arguments of this overload."""
        try:
            signature(handler).bind(self, *args, **named)
        except TypeError:
            raise CannotCompose(f"{self.operation} with such arguments") from None

    def _replaced(self, node: Any, made: Value) -> Value:
        """The result of an in-place operation, which replaces its operand except in views made earlier."""
        target = node.args[0]
        if _is_view(target) or any(_is_view(user) for user in target.users if user < node):
            raise CannotCompose(f"{self.operation} in place, of what others see too")
        if self.now[target.name].op is Op.INPUT:
            self.overwrite(self.now[target.name], made)
        return made

    def overwrite(self, target: Value, made: Value) -> None:
        """Overwrites a whole argument with a value of its type."""
        if target.op is not Op.INPUT or (made.shape and made.shape != target.shape):
            raise CannotCompose(f"{self.operation} into a part of an argument")
        self.changed[target.attr(Argument).name] = made

    def _argument(self, arg: Any) -> Any:
        if hasattr(arg, "meta") and hasattr(arg, "name"):
            return self.now[arg.name]
        if isinstance(arg, list | tuple):
            return [self._argument(item) for item in arg]
        return arg

    def _name(self, node: Any) -> None:
        """Gives a value the name that it has in the reference."""
        made = self.now[node.name]
        if isinstance(made, Value) and (name := self.traced.names.get(node.name)):
            self.graph.names[(made.first if made.op is Op.RESHAPE else made).number] = name

    def value(self, item: Any) -> Value:
        """The value of an operand: a tensor, a number or a size."""
        if hasattr(item, "meta") and hasattr(item, "name"):
            item = self.now[item.name]
        if isinstance(item, Value):
            return item
        if isinstance(item, bool | int | float):
            return self.graph.constant(item)
        if _is_symbol(item):
            return self.graph.size(self.size(item))
        raise CannotCompose(f"an operand of type {type(item).__name__}")

    def size(self, item: Any) -> Size:
        """The size of an int, a symbol, or a value that represents one."""
        if isinstance(item, Value):
            match item.attrs:
                case Extent(size=size):
                    return size
                case Constant(value=item) | Scalar(name=item):
                    pass
        if isinstance(item, str | int):
            return self.graph.cases.size(item)
        return self.graph.cases.size(self._formula(item.node.expr))

    def whole(self, item: Any) -> int:
        """A plain number, such as a dimension, that must not be a size."""
        if isinstance(item, int):
            return item
        raise CannotCompose(f"{self.operation}, with a size where a number is needed")

    def put_back(self, item: Any, slot: str) -> Size:
        """The size behind a number that the tracer substituted for a name, as it does for windows."""
        if not isinstance(item, int):
            return self.size(item)
        fitting = [name for name, value in self._numbers().items() if value == item]
        alike = [name for name in fitting if name in slot or slot in name]
        if not (chosen := alike or fitting):
            return self.size(item)
        if len(chosen) > 1:
            raise CannotCompose(f"{self.operation}, where {' or '.join(chosen)} may be the {slot}")
        self.settled.add(chosen[0])
        return self.size(chosen[0])

    def _numbers(self) -> dict[str, int]:
        """The values with which the tracer replaced integer arguments."""
        given = {slot.name for slot in self.traced.slots if slot.kind == "count"}
        pairs = [guard.args for guard in self.traced.guards if type(guard).__name__ == "Equality"]
        return {self._formula(left): int(right) for left, right in pairs if self._formula(left) in given}

    def check_guards(self) -> None:
        """Checks that sizes which the function assumed equal are equal in every case. Guards of torch itself on strides
        of empty tensors are ignored."""
        for guard in self.traced.guards:
            if type(guard).__name__ == "Equality":
                left, right = (self._formula(side) for side in guard.args)
                known = left in self.settled or left == f"max(1, {right})"
                if not known and self.graph.cases.size(left) != self.graph.cases.size(right):
                    raise AsksSizes(f"a function that asks whether {left} is {right}")

    def _formula(self, expression: Any) -> str:
        text = str(expression)
        for symbol, name in sorted(self.traced.symbols.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(symbol, name)
        return plain_formula(text)

    @property
    def operation(self) -> str:
        name = _operation(self.node.target)
        return f"aten.{(name if _handler(name) else _not_in_place(name)).removesuffix('.default')}"

    @property
    def stem(self) -> str:
        """The name of the operation without namespace and overload."""
        return self.operation.removeprefix("aten.").partition(".")[0]

    def shape_of(self, tensor: Any) -> tuple[Size, ...]:
        return tuple(self.size(extent) for extent in tensor.shape)

    @property
    def result_shape(self) -> tuple[Size, ...]:
        return self.shape_of(self.node.meta["val"])

    @property
    def result_kind(self) -> str:
        return self.kind_of(self.node.meta["val"].dtype)

    @property
    def result_dtype(self) -> str:
        return self.dtype_of(self.node.meta["val"].dtype)

    def kind_of(self, dtype: Any) -> str:
        named = BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))
        if named is None:
            raise CannotCompose(f"{self.operation} in {dtype}" if self.node.op == "call_function" else str(dtype))
        return FLOAT if named.floating else BOOL if named.name == "bool" else INT

    def dtype_of(self, dtype: Any) -> str:
        named = BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))
        if named is None:
            raise CannotCompose(f"{self.operation} in {dtype}")
        return "T" if named.name == self.traced.narrow else named.name


def _operation(target: Any) -> str:
    text = str(target)
    return text.removeprefix("aten.") if text.startswith("aten.") else getattr(target, "__name__", text)


def _handler(name: str) -> Handler | None:
    return HANDLERS.get(name) or HANDLERS.get(name.partition(".")[0])


def _not_in_place(name: str) -> str:
    """The out-of-place variant of the operation."""
    operation, dot, overload = name.partition(".")
    return f"{operation.removesuffix('_')}{dot}{overload}"


def _is_view(node: Any) -> bool:
    """Whether the node is a view, by itself or as one of several parts."""
    source = node.args[0] if node.target is operator.getitem else node
    return bool(getattr(source.target, "is_view", False))


def _is_symbol(item: Any) -> bool:
    return type(item).__name__ in ("SymInt", "SymFloat")


def dimension(value: Value, dim: int) -> int:
    return dim + len(value.shape) if dim < 0 else dim


def dimensions(value: Value, dims: Sequence[int] | int | None) -> list[int]:
    if dims is None or dims == []:
        return list(range(len(value.shape)))
    listed = [dims] if isinstance(dims, int) else dims
    return sorted(dimension(value, dim) for dim in listed)


def lowered(trace: Callable[[Case], Traced], graph: Graph, hints: Sequence[Case]) -> Lowered:
    """Traces a function and lowers it; the first hint counts with which it asks nothing that differs between cases."""
    *others, last = hints
    for hint in others:
        try:
            return _lowered(trace(hint), graph)
        except AsksSizes:
            continue
    return _lowered(trace(last), graph)


def _lowered(traced: Traced, graph: Graph) -> Lowered:
    import warpwright.compose.frontend.lowering.library
    import warpwright.compose.frontend.lowering.norm
    import warpwright.compose.frontend.lowering.pointwise
    import warpwright.compose.frontend.lowering.selection
    import warpwright.compose.frontend.lowering.shape  # noqa: F401

    lowering = Lowering(traced, graph)
    results = lowering.run()
    lowering.check_guards()
    return results, lowering.changed
