"""A ready-to-fill `.cu` file for a task: its entry points with the right C++ signatures, outputs allocated."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpwright.core.calls import FORWARD, argument_specs, entries, entry_call
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.formula import names_in
from warpwright.core.signature import (
    ListSpec,
    ScalarSpec,
    Spec,
    TensorSpec,
    forward_arguments,
)
from warpwright.core.task import Output, Plain, ScalarArg, Size, Task, TensorArg

TENSOR, TENSORS = "torch::Tensor", "std::vector<torch::Tensor>"
_SCALARS: dict[type, str] = {bool: "bool", int: "int64_t", float: "double", str: "std::string"}
_DTYPES = {
    "fp64": "kFloat64",
    "fp32": "kFloat32",
    "fp16": "kFloat16",
    "bf16": "kBFloat16",
    "e4m3": "kFloat8_e4m3fn",
    "e5m2": "kFloat8_e5m2",
    "int64": "kInt64",
    "int32": "kInt32",
    "int16": "kInt16",
    "int8": "kInt8",
    "uint8": "kUInt8",
    "bool": "kBool",
}
_ARITHMETIC = (ast.Expression, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Name, ast.Load, ast.Constant)
_RESERVED = {"default", "delete", "double", "float", "int", "long", "new", "operator", "register", "short", "template"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    type: str
    name: str
    note: str


def skeleton(task: Task, *, prepare: bool = True) -> str:
    """The whole file. `prepare` says whether the optional entry is mentioned."""
    names = entries(task)
    module = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *(f'    m.def("{name}", &{name});' for name in names), "}"]
    lines = [*_head(task, prepare=prepare), *(line for name in names for line in _entry(task, name)), *module]
    return "\n".join(lines) + "\n"


def parameters(task: Task, entry: str) -> list[Parameter]:
    """The parameters of the entry, in order."""
    case = task.cases[0]
    # What forward saves is the author's choice; the tensor arguments are the usual one.
    saved = [spec for spec in forward_arguments(task, case) if isinstance(spec, TensorSpec)]
    specs = argument_specs(task, case, entry_call(task, case, entry), {FORWARD: saved})
    return [_parameter(task, spec) for spec in specs]


def scalar_type(values: Iterable[Plain | tuple[Plain, ...]]) -> str:
    """The C++ type that holds every one of these Python values."""
    values = tuple(values)
    present = [value for value in values if value is not None]
    if not present:
        return f"std::optional<{TENSOR}>"
    items = [item for value in present if isinstance(value, tuple) for item in value]
    kind = f"std::vector<{_plain_type(items)}>" if isinstance(present[0], tuple) else _plain_type(present)
    return kind if len(present) == len(values) else f"std::optional<{kind}>"


def _plain_type(values: Iterable[object]) -> str:
    kinds = {type(value) for value in values}
    return "double" if kinds == {int, float} else _SCALARS.get(next(iter(kinds), int), "int64_t")


def _head(task: Task, *, prepare: bool) -> list[str]:
    prepared = ", ".join(task.prepares) if prepare else ""
    return [
        f"// {task.name}, {task.direction}" + (f": {task.summary}" if task.summary else ""),
        f"// T is one of {', '.join(task.dtypes)}.",
        *([f"// Changed in place: {', '.join(task.mutates)}."] if task.mutates else []),
        *([f"// Optional entry: prepare({prepared}); its results take their place in forward."] if prepared else []),
        "#include <ATen/cuda/CUDAContext.h>",
        "#include <torch/extension.h>",
        "",
        "#include <optional>",
        "#include <string>",
        "#include <vector>",
        "",
    ]


def _entry(task: Task, entry: str) -> list[str]:
    taken, results = parameters(task, entry), _results(task, entry)
    saving = entry_call(task, task.cases[0], entry).hands_over is not None
    returned = ", ".join(name for name, _ in results)
    several = saving or len(results) != 1
    kind = "void" if not results else TENSORS if several else TENSOR
    value = f"{{{returned}}}" if several else returned
    return [
        f"__global__ void {entry}_kernel() {{",
        "    // Fill in.",
        "}",
        "",
        f"{kind} {entry}(",
        *_listed(taken),
        ") {",
        *(f"    {line}" for line in _sizes(task, entry)),
        *(f"    {TENSOR} {name}{allocation}" for name, allocation in results),
        f"    // {entry}_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(...);",
        *(["    // What is appended here comes back to backward after the gradients."] if saving else []),
        *([f"    return {value};"] if results else []),
        "}",
        "",
    ]


def _listed(taken: Sequence[Parameter]) -> list[str]:
    last = len(taken) - 1
    return [f"    {p.type} {p.name}{',' if i < last else ''}  // {p.note}" for i, p in enumerate(taken)]


def _parameter(task: Task, spec: Spec) -> Parameter:
    name = _identifier(spec.name)
    if isinstance(spec, ScalarSpec):
        values = next(arg.values for arg in task.arguments if isinstance(arg, ScalarArg) and arg.name == spec.name)
        return Parameter(type=scalar_type(values), name=name, note=_taken(task, spec.name, values))
    if isinstance(spec, ListSpec) and spec.name not in {argument.name for argument in task.arguments}:
        return Parameter(type=TENSORS, name=name, note=", ".join(item.name for item in spec.items))
    return Parameter(type=TENSORS if isinstance(spec, ListSpec) else TENSOR, name=name, note=_declared(task, spec.name))


def _taken(task: Task, name: str, declared: Sequence[Plain | tuple[Plain, ...]]) -> str:
    """Which values a number takes. A case may name one that is not declared for all."""
    different = ", ".join(str(value) for value in dict.fromkeys(declared))
    if any(case.scalars[name] not in declared for case in task.cases):
        return f"such as {different}"
    return f"{'one of' if len(set(declared)) > 1 else 'always'} {different}"


def _declared(task: Task, name: str) -> str:
    """Shape and dtype as the task writes them; a gradient has those of what it belongs to."""
    declared: dict[str, Output | TensorArg] = {item.name: item for item in (*task.outputs, *task.saves)}
    declared |= {arg.name: arg for arg in _tensors(task)}
    if name in declared:
        return _shown(declared[name])
    of = declared[name.removeprefix("grad_")]
    return f"{_shown(of)}, may be strided or expanded" if of.shape else _shown(of)


def _shown(item: Output | TensorArg) -> str:
    return f"[{', '.join(str(size) for size in item.shape)}] {item.dtype}"


def _results(task: Task, entry: str) -> list[tuple[str, str]]:
    """Each tensor that the entry returns: its name, and the rest of the line that makes it."""
    taken = {parameter.name for parameter in parameters(task, entry)}
    if entry == "forward":
        return [(_fresh(output.name, taken), _allocation(task, output)) for output in task.outputs]
    gradients = [spec.name.removeprefix("grad_") for spec in entry_call(task, task.cases[0], entry).results]
    return [(_fresh(f"grad_{name}", taken), _alike(name, taken)) for name in gradients]


def _fresh(name: str, taken: set[str]) -> str:
    plain = _identifier(name.replace("[", "_").replace("]", ""))
    return f"new_{plain}" if plain in taken else plain


def _alike(name: str, taken: set[str]) -> str:
    known = _identifier(name.partition("[")[0]) in taken
    return f" = torch::empty_like({_identifier(name)});" if known else f";  // shaped like {name}"


def _allocation(task: Task, output: Output) -> str:
    """The declared shape and dtype, or a note of them where one line of C++ cannot say it."""
    model = next((arg for arg in _tensors(task) if arg.dtype == output.dtype and arg.count is None), None)
    model = model or next((arg for arg in _tensors(task) if output.dtype != "T" and arg.count is None), None)
    if model is None or not all(_expressible(task, size) for size in output.shape):
        return f";  // {_shown(output)}"
    cast = "" if model.dtype == output.dtype else f".dtype(torch::{_DTYPES[dtype_named(output.dtype).name]})"
    extents = ", ".join(str(size).replace("//", "/") for size in output.shape)
    return f" = torch::empty({{{extents}}}, {_identifier(model.name)}.options(){cast});"


def _expressible(task: Task, size: Size) -> bool:
    """Whether C++ can compute the formula from the sizes and whole numbers that the entry is given."""
    numbers = {name for name, kind in _scalar_types(task).items() if kind == "int64_t"}
    try:
        plain = all(isinstance(node, _ARITHMETIC) for node in ast.walk(ast.parse(str(size), mode="eval")))
        return plain and names_in(size) <= _measurable(task).keys() | numbers
    except (SyntaxError, UsageError):
        return False


def _sizes(task: Task, entry: str) -> list[str]:
    """Declarations of the sizes that the outputs are allocated with."""
    if entry != "forward":
        return []
    wanted = {name for output in task.outputs for size in output.shape for name in names_in(size)}
    return [f"const int64_t {name} = {where};" for name, where in _measurable(task).items() if name in wanted]


def _measurable(task: Task) -> dict[str, str]:
    """Sizes that can be read off a tensor argument, and where."""
    taken = {argument.name for argument in task.arguments}
    found: dict[str, str] = {}
    for arg in _tensors(task):
        for position, size in enumerate(arg.shape):
            if arg.count is None and isinstance(size, str) and size.isidentifier() and size not in taken:
                found.setdefault(size, f"{_identifier(arg.name)}.size({position})")
    return found


def _scalar_types(task: Task) -> dict[str, str]:
    return {arg.name: scalar_type(arg.values) for arg in task.arguments if isinstance(arg, ScalarArg)}


def _tensors(task: Task) -> list[TensorArg]:
    return [arg for arg in task.arguments if isinstance(arg, TensorArg)]


def _identifier(name: str) -> str:
    """Python names are C++ names, but for the words that C++ keeps for itself."""
    return f"{name}_" if name in _RESERVED else name
