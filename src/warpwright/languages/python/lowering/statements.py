"""Steps of a record as statements of C++ host code."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.dtypes import DTYPES
from warpwright.core.launch.operations import OPERATIONS
from warpwright.core.launch.plan import Constant, Fill, Library, View
from warpwright.core.task import Plain
from warpwright.languages.cuda.element_types import IN_TORCH
from warpwright.languages.python.lowering.extensions import prefix
from warpwright.languages.python.record import (
    Allocate,
    ElementType,
    ExtensionCall,
    KernelLaunch,
    Listed,
    Record,
    Scalar,
    Step,
    Value,
)
from warpwright.seal.refusal import refuted, undecided

Form = tuple[tuple[int, ...], tuple[int, ...], str]
"""Shape, strides and element type of the tensor that a variable holds."""


@dataclass(slots=True)
class Writer:
    """Writes the body of one function. Memory `n` is the variable `t<n>`; arguments come with their names."""

    names: list[str]
    forms: list[Form]
    constants: dict[bytes, str]
    """The names of the arrays that hold data, shared by all functions of a file."""
    _variables: dict[int, tuple[str, Form | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, (name, form) in enumerate(zip(self.names, self.forms, strict=True)):
            self._variables[number] = (name, form)

    def body(self, record: Record) -> list[str]:
        last = _last_uses(record)
        lines: list[str] = []
        for position, step in enumerate(record.steps):
            lines += self._step(step)
            lines += [f"{self._variables[number][0]}.reset();" for number in last.get(position, ())]
        return [*lines, f"return {self._returned(record.returns)};"]

    def _step(self, step: Step) -> Iterator[str]:
        match step:
            case Allocate():
                yield self._allocated(step)
            case Fill():
                yield f"{self._tensor(step.target)}.fill_({_number(step.value)});"
            case Library():
                yield self._operation(step)
            case ExtensionCall():
                yield from self._call(step)
            case KernelLaunch():
                raise undecided("unsupported: kernels that Python code compiled, beside C++ extensions")

    def _allocated(self, step: Allocate) -> str:
        name, kind = self._new(step.buffer, (step.shape, step.stride, step.dtype)), _torch_type(step.dtype)
        options = f"torch::dtype({kind}).device(torch::kCUDA)"
        return f"torch::Tensor {name} = torch::empty_strided({_list(step.shape)}, {_list(step.stride)}, {options});"

    def _operation(self, step: Library) -> str:
        if step.operation not in OPERATIONS:
            raise undecided(f"unsupported: at::{step.operation:.60}")
        inputs = ", ".join("torch::Tensor()" if item is None else self._operand(item) for item in step.inputs)
        outputs = ", ".join(map(self._operand, step.outputs))
        return (
            f"warpwright::operation({_quoted(step.operation)}, {{{inputs}}}, {{{outputs}}}, {_options(step.options)});"
        )

    def _call(self, step: ExtensionCall) -> Iterator[str]:
        entry = _quoted(prefix(step.extension) + step.function)
        arguments = ", ".join(map(self._value, step.arguments))
        named = ", ".join(f"{{{_quoted(key)}, {self._value(item)}}}" for key, item in step.keywords.items())
        call = f"warpwright::called({entry}, {{{arguments}}}, {{{named}}})"
        fresh = [(i, view) for i, view in enumerate(step.results) if view.buffer not in self._variables]
        if not fresh:
            yield f"{call};"
            return
        results = f"results{fresh[0][1].buffer}"
        yield f"std::vector<torch::Tensor> {results} = {call};"
        for position, view in {view.buffer: (position, view) for position, view in reversed(fresh)}.values():
            # The variable holds a window on the memory, which strides and offsets of other windows do not refer to.
            form = (view.shape, view.stride, view.dtype) if view.offset == 0 else None
            yield f"torch::Tensor {self._new(view.buffer, form)} = {results}.at({position});"
        yield f"{results}.clear();"

    def _new(self, number: int, form: Form | None) -> str:
        if number in self._variables:
            raise refuted("trace", "the record makes the same memory twice")
        self._variables[number] = (f"t{number}", form)
        return f"t{number}"

    # Values

    def _value(self, value: Value) -> str:
        match value:
            case View() | Constant():
                return f"warpwright::Value({self._operand(value)})"
            case ElementType():
                return f"warpwright::Value({_torch_type(value.name)})"
            case Listed():
                return f"warpwright::listed({{{', '.join(map(self._value, value.items))}}})"
            case Scalar():
                return _scalar(value.value)

    def _operand(self, item: View | Constant) -> str:
        return self._tensor(item) if isinstance(item, View) else self._constant(item)

    def _tensor(self, view: View) -> str:
        if view.buffer not in self._variables:
            raise refuted("trace", "the record uses memory that it never made")
        name, form = self._variables[view.buffer]
        if form == (view.shape, view.stride, view.dtype) and not view.offset:
            return name
        of_type = f".view({_torch_type(view.dtype)})" if form is None or form[2] != view.dtype else ""
        offset = view.offset // _size(view.dtype)
        return (
            f"warpwright::memory({name}){of_type}.as_strided({_list(view.shape)}, {_list(view.stride)}, {offset})"
            if (of_type)
            else f"{name}.as_strided({_list(view.shape)}, {_list(view.stride)}, {offset})"
        )

    def _constant(self, item: Constant) -> str:
        name = self.constants.setdefault(item.data, f"data{len(self.constants)}")
        shape = f"{_list(item.shape)}, {_torch_type(item.dtype)}"
        return f"torch::from_blob(const_cast<unsigned char*>({name}), {shape})"

    def _returned(self, returns: Sequence[View | Constant | None]) -> str:
        items = ["torch::Tensor()" if item is None else self._operand(item) for item in returns]
        return items[0] if len(items) == 1 else f"std::vector<torch::Tensor>{{{', '.join(items)}}}"


def _last_uses(record: Record) -> dict[int, list[int]]:
    """The memory that is used for the last time in each step, apart from what is returned."""
    kept = {view.buffer for view in record.returns if isinstance(view, View)}
    last: dict[int, int] = {}
    made: set[int] = set()
    for position, step in enumerate(record.steps):
        if isinstance(step, Allocate):
            made.add(step.buffer)
        for number in _used(step):
            last[number] = position
            if isinstance(step, ExtensionCall) and number in {view.buffer for view in step.results}:
                made.add(number)
    found: dict[int, list[int]] = {}
    for number, position in last.items():
        if number in made and number not in kept:
            found.setdefault(position, []).append(number)
    return found


def _used(value: Any) -> set[int]:
    match value:
        case View():
            return {value.buffer}
        case Allocate():
            return {value.buffer}
        case Fill():
            return {value.target.buffer}
        case Library():
            return set().union(*map(_used, (*value.inputs, *value.outputs)))
        case ExtensionCall():
            return set().union(*map(_used, (*value.arguments, *value.keywords.values(), *value.results)))
        case Listed():
            return set().union(*map(_used, value.items))
    return set()


def _list(items: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, items))}}}"


def _scalar(value: Plain) -> str:
    match value:
        case None:
            return "warpwright::Value()"
        case bool():
            return f"warpwright::Value({_number(value)})"
        case int():
            return f"warpwright::Value(int64_t({value}))"
        case float():
            return f"warpwright::Value({_number(value)})"
    return f"warpwright::Value({_quoted(value)})"


def _number(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"int64_t({value})"
    if math.isfinite(value):
        return repr(float(value))
    return 'std::nan("")' if math.isnan(value) else f"{'-' if value < 0 else ''}HUGE_VAL"


def _options(options: Mapping[str, Any]) -> str:
    return _quoted(json.dumps(dict(options)))


def _quoted(text: str) -> str:
    """A string literal: only plain letters, everything else as octal numbers."""
    data = text.encode()
    return (
        '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in data) + '"'
    )


def _torch_type(name: str) -> str:
    if name in IN_TORCH:
        return IN_TORCH[name]
    kinds = {
        "int64": "kInt64",
        "int32": "kInt32",
        "int16": "kInt16",
        "int8": "kInt8",
        "uint8": "kUInt8",
        "bool": "kBool",
    }
    if name not in kinds:
        raise undecided(f"unsupported: tensors of {name:.40}")
    return f"torch::{kinds[name]}"


def _size(name: str) -> int:
    return DTYPES[name].bytes if name in DTYPES else 1
