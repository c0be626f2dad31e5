"""The whole file: extensions, one function for each recorded case, and the entry point that picks one by its sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwright.core.calls import EntryCall, argument_specs
from warpwright.core.signature import ListSpec, ScalarSpec, Spec, TensorSpec, flatten
from warpwright.core.task import Case, Plain, Task
from warpwright.languages.cuda.skeleton import Parameter, parameters
from warpwright.languages.python.lowering.extensions import HEAD, combined
from warpwright.languages.python.lowering.statements import Writer
from warpwright.languages.python.record import Extension, Record

_PER_LINE = 24
_OTHERWISE = 'TORCH_CHECK(false, "the Python code was not recorded for these sizes");'


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The record of one case."""

    case: Case
    record: Record


def lowered(
    task: Task,
    step: EntryCall,
    cases: Sequence[Recorded],
    extensions: Mapping[int, Extension],
    python: str,
    notes: Sequence[str] = (),
) -> str:
    """CUDA C++ that does in every case what the Python code did. Notes become comments."""
    formal = parameters(task, step.entry)
    constants: dict[bytes, str] = {}
    bodies = ["\n    ".join(_body(task, step, item, formal, constants)) for item in cases]
    names = {body: f"case_{number}" for number, body in enumerate(dict.fromkeys(bodies))}
    signature = f"({', '.join(f'{parameter.type} {parameter.name}' for parameter in formal)})"
    functions = [f"static {_result(step)} {name}{signature} {{\n    {body}\n}}\n" for body, name in names.items()]
    choices = [_choice(task, step, item.case, formal, names[body]) for item, body in zip(cases, bodies, strict=True)]
    entry = "\n    ".join([*dict.fromkeys(choices), _OTHERWISE])
    functions.append(f"static {_result(step)} {step.entry}{signature} {{\n    {entry}\n}}\n")
    host = "".join([*(_data(name, data) for data, name in constants.items()), *functions])
    binding = f'WARPWRIGHT_EXTENSION(recorded, "", m) {{ m.def("{step.entry}", &recorded::{step.entry}); }}'
    head = combined(extensions, python) if extensions else HEAD
    told = "".join(f"// {json.dumps(note)}\n" for note in notes)
    return f"{head}\n{told}#ifdef WARPWRIGHT_CAPTURE\nnamespace recorded {{\n{host}}}\n{binding}\n#endif\n"


def _body(
    task: Task, step: EntryCall, item: Recorded, formal: Sequence[Parameter], constants: dict[bytes, str]
) -> list[str]:
    specs = argument_specs(task, item.case, step)
    tensors = [tensor for spec in specs for tensor in flatten(spec)]
    names = [name for spec, parameter in zip(specs, formal, strict=True) for name in _variables(spec, parameter)]
    forms = [(tensor.shape, tensor.stride, tensor.dtype) for tensor in tensors]
    return Writer(names=names, forms=forms, constants=constants).body(item.record)


def _variables(spec: Spec, parameter: Parameter) -> list[str]:
    match spec:
        case TensorSpec():
            return [parameter.name]
        case ListSpec():
            return [f"{parameter.name}.at({number})" for number in range(len(spec.items))]
    return []


def _choice(task: Task, step: EntryCall, case: Case, formal: Sequence[Parameter], name: str) -> str:
    """The line that calls the function of a case for arguments of its sizes and values."""
    specs = argument_specs(task, case, step)
    pairs = list(zip(specs, formal, strict=True))
    tensors = [variable for spec, parameter in pairs for variable in _variables(spec, parameter)]
    sizes = " ".join(_sizes(tensor) for spec in specs for tensor in flatten(spec))
    conditions = [f'warpwright::are({{{", ".join(tensors)}}}, "{sizes}")']
    conditions += [_equals(parameter, spec.value) for spec, parameter in pairs if isinstance(spec, ScalarSpec)]
    given = ", ".join(parameter.name for parameter in formal)
    return f"if ({' && '.join(conditions)}) return {name}({given});"


def _sizes(tensor: TensorSpec) -> str:
    shape = ",".join(map(str, tensor.shape))
    stride = ",".join(map(str, tensor.stride))
    return f"{tensor.dtype}[{shape}|{stride}]"


def _equals(parameter: Parameter, value: Plain | tuple[Plain, ...]) -> str:
    if value is None:
        return f"!{parameter.name}.has_value()"
    held = f"*{parameter.name}" if parameter.type.startswith("std::optional") else parameter.name
    there = f"{parameter.name}.has_value() && " if held.startswith("*") else ""
    kind = parameter.type.removeprefix("std::optional<").removesuffix(">") if there else parameter.type
    return f"{there}{held} == {_literal(kind, value)}"


def _literal(kind: str, value: Plain | tuple[Plain, ...]) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"'
        case tuple():
            return f"{kind}{{{', '.join(map(repr, value))}}}"
    return repr(value)


def _result(step: EntryCall) -> str:
    return "torch::Tensor" if len(step.results) == 1 and step.hands_over is None else "std::vector<torch::Tensor>"


def _data(name: str, data: bytes) -> str:
    lines = [", ".join(map(str, data[at : at + _PER_LINE])) for at in range(0, len(data), _PER_LINE)] or ["0"]
    joined = ",\n    ".join(lines)
    return f"alignas(16) static const unsigned char {name}[] = {{\n    {joined}}};\n"
