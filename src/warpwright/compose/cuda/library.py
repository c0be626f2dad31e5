"""Library calls: how the host writes them, and tensors as views of other tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpwright.compose.code.text import Code, as_code, code, joined
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.operations import LibraryCall, Op, Option, Permuted, Routine
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Value, is_host

Written = Callable[[Size], Code]


def call(value: Value, held: Mapping[int, Tensor], size: Written, types: Mapping[str, str]) -> Code:
    """The call that computes a library value."""
    found = value.attr(LibraryCall)
    if found.routine is Routine.CONVOLUTION_BACKWARD:
        return _gradient(value, held, size, types)
    operands = [operand(arg, dtype, held, size, types) for arg, dtype in zip(value.args, found.dtypes, strict=True)]
    written = [_option(option, size) for option in found.options]
    if found.routine is Routine.CONVOLUTION and len(value.args) == 2:
        operands.append(as_code("{}"))
    return code(f"at::{found.routine}({{given}})", given=joined(", ", [*operands, *written]))


def _gradient(value: Value, held: Mapping[int, Tensor], size: Written, types: Mapping[str, str]) -> Code:
    """One gradient of a convolution. Only the sizes of the differentiated operand matter, so it need not be in
    memory."""
    found = value.attr(LibraryCall)
    wanted = _mask(found).index(True)
    operands: list[Code] = []
    for number, (arg, dtype) in enumerate(zip(value.args, found.dtypes, strict=True)):
        if number == 1 + wanted and is_host(arg):
            sizes, like = joined(", ", map(size, value.shape)), held[_base(value.first, held).number].name
            operands.append(code("torch::empty({{{sizes}}}, {like}.options())", sizes=sizes, like=like))
        else:
            operands.append(operand(arg, dtype, held, size, types))
    written = [_option(option, size) for option in found.options]
    given = joined(", ", [*operands, *written])
    return code(f"{{std::get}}<{wanted}>(at::{found.routine}({{given}}))", given=given)


def _mask(call: LibraryCall) -> tuple[Option, ...]:
    """The mask of requested gradients."""
    mask = call.options[-1]
    assert isinstance(mask, tuple)
    return mask


def operand(value: Value, dtype: str, held: Mapping[int, Tensor], size: Written, types: Mapping[str, str]) -> Code:
    tensor = held.get(_base(value, held).number)
    text = viewed(value, held, size)
    if tensor is not None and tensor.dtype != dtype:
        return code("{text}.to({type})", text=text, type=types[dtype])
    return text


def rounded(text: Code, found: str, wanted: str, cases: Cases, types: Mapping[str, str]) -> Code:
    """Converts the result of a call to the required type."""
    single = {found, wanted} == {"T", "fp32"} and set(cases.widths) == {4}
    return text if found == wanted or single else code("{text}.to({type})", text=text, type=types[wanted])


def _base(value: Value, held: Mapping[int, Tensor]) -> Value:
    while value.number not in held and value.op in (Op.PERMUTE, Op.RESHAPE):
        value = value.first
    return value


def viewed(value: Value, held: Mapping[int, Tensor], size: Written) -> Code:
    """A tensor by name, with its views applied."""
    if value.number in held:
        tensor = held[value.number]
        if tensor.shape == value.shape:
            return as_code(tensor.name)
        return code("{tensor}.view({{{sizes}}})", tensor=tensor.name, sizes=joined(", ", map(size, value.shape)))
    if is_host(value) or value.op not in (Op.PERMUTE, Op.RESHAPE):
        raise CannotCompose(f"a library call on the result of {value.op}")
    inner = viewed(value.first, held, size)
    if value.op is Op.RESHAPE:
        return code("{inner}.reshape({{{sizes}}})", inner=inner, sizes=joined(", ", map(size, value.shape)))
    order = value.attr(Permuted).order
    if order == (1, 0):
        return code("{inner}.t()", inner=inner)
    if order == (0, 2, 1):
        return code("{inner}.transpose(1, 2)", inner=inner)
    return code("{inner}.permute({{{order}}})", inner=inner, order=", ".join(map(str, order)))


def _option(option: Option, size: Written) -> Code:
    match option:
        case None:
            return code("{std::nullopt}")
        case bool():
            return as_code("true" if option else "false")
        case Size():
            return size(option)
        case tuple():
            return code("{{{items}}}", items=joined(", ", [_option(item, size) for item in option]))
    return as_code(str(option))
