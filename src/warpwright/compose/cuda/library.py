"""Library calls: how the host writes them, and tensors as views of other tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.operations import LibraryCall, Op, Option, Permuted, Routine
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Value, is_host

Written = Callable[[Size], str]


def call(value: Value, held: Mapping[int, Tensor], size: Written, types: Mapping[str, str]) -> str:
    """The call that computes a library value."""
    found = value.attr(LibraryCall)
    if found.routine is Routine.CONVOLUTION_BACKWARD:
        return _gradient(value, held, size, types)
    operands = [operand(arg, dtype, held, size, types) for arg, dtype in zip(value.args, found.dtypes, strict=True)]
    written = [_option(option, size) for option in found.options]
    if found.routine is Routine.CONVOLUTION and len(value.args) == 2:
        operands.append("{}")
    return f"at::{found.routine}({', '.join([*operands, *written])})"


def _gradient(value: Value, held: Mapping[int, Tensor], size: Written, types: Mapping[str, str]) -> str:
    """One gradient of a convolution. Only the sizes of the differentiated operand matter, so it need not be in
    memory."""
    found = value.attr(LibraryCall)
    wanted = _mask(found).index(True)
    operands: list[str] = []
    for number, (arg, dtype) in enumerate(zip(value.args, found.dtypes, strict=True)):
        if number == 1 + wanted and is_host(arg):
            sizes = ", ".join(size(extent) for extent in value.shape)
            operands.append(f"torch::empty({{{sizes}}}, {held[_base(value.first, held).number].name}.options())")
        else:
            operands.append(operand(arg, dtype, held, size, types))
    written = [_option(option, size) for option in found.options]
    return f"std::get<{wanted}>(at::{found.routine}({', '.join([*operands, *written])}))"


def _mask(call: LibraryCall) -> tuple[Option, ...]:
    """The mask of requested gradients."""
    mask = call.options[-1]
    assert isinstance(mask, tuple)
    return mask


def operand(value: Value, dtype: str, held: Mapping[int, Tensor], size: Written, types: Mapping[str, str]) -> str:
    tensor = held.get(_base(value, held).number)
    text = viewed(value, held, size)
    if tensor is not None and tensor.dtype != dtype:
        return f"{text}.to({types[dtype]})"
    return text


def rounded(text: str, found: str, wanted: str, cases: Cases, types: Mapping[str, str]) -> str:
    """Converts the result of a call to the required type."""
    single = {found, wanted} == {"T", "fp32"} and set(cases.widths) == {4}
    return text if found == wanted or single else f"{text}.to({types[wanted]})"


def _base(value: Value, held: Mapping[int, Tensor]) -> Value:
    while value.number not in held and value.op in (Op.PERMUTE, Op.RESHAPE):
        value = value.first
    return value


def viewed(value: Value, held: Mapping[int, Tensor], size: Written) -> str:
    """A tensor by name, with its views applied."""
    if value.number in held:
        tensor = held[value.number]
        if tensor.shape == value.shape:
            return tensor.name
        return f"{tensor.name}.view({{{', '.join(size(extent) for extent in value.shape)}}})"
    if is_host(value) or value.op not in (Op.PERMUTE, Op.RESHAPE):
        raise CannotCompose(f"a library call on the result of {value.op}")
    inner = viewed(value.first, held, size)
    if value.op is Op.RESHAPE:
        return f"{inner}.reshape({{{', '.join(size(extent) for extent in value.shape)}}})"
    order = value.attr(Permuted).order
    if order == (1, 0):
        return f"{inner}.t()"
    if order == (0, 2, 1):
        return f"{inner}.transpose(1, 2)"
    return f"{inner}.permute({{{', '.join(map(str, order))}}})"


def _option(option: Option, size: Written) -> str:
    match option:
        case None:
            return "std::nullopt"
        case bool():
            return "true" if option else "false"
        case Size():
            return size(option)
        case tuple():
            return "{" + ", ".join(_option(item, size) for item in option) + "}"
    return str(option)
