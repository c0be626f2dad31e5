"""The host side of an entry point: sizes, allocations, calls in order, results."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.printer import indented, signature
from warpwright.compose.code.text import as_code, code
from warpwright.compose.cuda import library
from warpwright.compose.cuda.arithmetic import Term, literal, written
from warpwright.compose.cuda.kernel import Written, words_of
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.naming import safe_name
from warpwright.compose.ir.operations import Constant, Extent, Scalar
from warpwright.compose.ir.sizes import Size, in_cpp
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Value
from warpwright.compose.schedule.entry import Entry
from warpwright.compose.schedule.groups import base_of
from warpwright.core.task import Task

TORCH_TYPES = {
    "fp32": "torch::kFloat32",
    "fp16": "torch::kFloat16",
    "bf16": "torch::kBFloat16",
    "fp64": "torch::kFloat64",
    "e4m3": "torch::kFloat8_e4m3fn",
    "int64": "torch::kInt64",
    "int32": "torch::kInt32",
    "int16": "torch::kInt16",
    "int8": "torch::kInt8",
    "uint8": "torch::kUInt8",
    "bool": "torch::kBool",
}

CHECK = verbatim(
    """\
// Kernels take an argument as it should lie in memory: whole, and of the sizes that it has in common with others.
void check(const torch::Tensor& given, at::IntArrayRef sizes) {
    TORCH_CHECK(given.is_cuda() && given.is_contiguous() && given.sizes() == sizes,
            "an argument is not on the GPU, not contiguous, or not of the size that the others have");
}""",
    headers=("torch/extension.h",),
)


@dataclass(frozen=True, slots=True)
class Call:
    """A line of host code with a device operation."""

    text: str
    launches: bool
    """Whether it launches a kernel, and so depends on the type."""


class HostWriter:
    """Collects the calls of one entry, and writes the function around them."""

    def __init__(self, task: Task, entry: Entry, genome: Mapping[str, Any]) -> None:
        self.task, self.graph, self.entry, self.genome = task, entry.graph, entry, genome
        self.kernels: list[Written] = []
        self.calls: list[Call] = []
        self.declared: set[str] = set()
        """Tensors that a library call makes."""
        self.used_sizes: dict[str, None] = {}
        self.steps = 0
        """Launches and library calls, one after the other."""

    def size(self, size: Size) -> str:
        for node in ast.walk(ast.parse(size.text, mode="eval")):
            if isinstance(node, ast.Name) and node.id not in ("min", "max"):
                if node.id not in self.entry.places:
                    raise CannotCompose(f"the size {node.id}, which no argument shows")
                self.used_sizes[node.id] = None
        return in_cpp(size.text, {name: name for name in self.used_sizes})

    def host_scalar(self, value: Value) -> Term:
        match value.attrs:
            case Scalar(name=given):
                name = safe_name(given)
                if name not in {known for _, known in self.entry.parameters}:
                    raise CannotCompose(f"{name}, which {self.entry.name} is not given")
                return Term(as_code(name))
            case Constant(value=number):
                return Term(as_code(literal(number, on_host=True)))
            case Extent(size=size):
                return Term(code("({size})", size=self.size(size)))
        return written(value.op, [self.host_scalar(arg) for arg in value.args], "float", on_host=True)

    def host(self) -> list[str]:
        """The exported function."""
        entry = self.entry
        returned = entry.returned
        kind = "void" if not returned else "torch::Tensor" if len(returned) == 1 else "std::vector<torch::Tensor>"
        head = signature(f"{kind} {entry.name}", [f"{type_} {name}" for type_, name in entry.parameters])
        head[-1] += " {"
        names = ", ".join(self._returned(tensor) for tensor in returned)
        allocated = [self._allocation(tensor) for tensor in self._made()]
        checked = [*map(self._checked, self._arguments())] if entry.is_exported else []
        contiguous = [f"{name} = {name}.contiguous();" for name in entry.contiguous]
        sizes = [
            f"const int64_t {name} = {place};"
            for name, place in entry.places.items()
            if name in self.used_sizes and place != name
        ]
        value = [] if not returned else [f"return {names};" if len(returned) == 1 else f"return {{{names}}};"]
        first = [*contiguous, *sizes, *checked, *self._handed_over()]
        return [*head, *indented([*first, *allocated, *self._dispatched(), *value]), "}"]

    def _arguments(self) -> list[Tensor]:
        """The used arguments, in the order of the parameters."""
        words = words_of(call.text for call in self.calls)
        used = {tensor.name: tensor for tensor in self.entry.inputs.values() if tensor.name in words}
        return [used[name] for _, name in self.entry.parameters if name in used]

    def _checked(self, tensor: Tensor) -> str:
        """The check of an argument; a size that no other argument shows is compared with itself."""
        if tensor.listed:
            return f"for (const auto& each : {tensor.name}) check(each, each.sizes());"
        is_shown = all(size.names <= self.entry.places.keys() for size in tensor.shape)
        sizes = f"{{{', '.join(map(self.size, tensor.shape))}}}" if is_shown else f"{tensor.name}.sizes()"
        return f"check({tensor.name}, {sizes});"

    def _handed_over(self) -> list[str]:
        """The call of the variant for a size of one, which takes the same arguments."""
        single = self.entry.single
        if single is None:
            return []
        names = ", ".join(name for _, name in self.entry.parameters)
        return [f"if ({self.entry.places[single.size]} == 1) return {single.name}({names});"]

    def _returned(self, tensor: Tensor) -> str:
        """The returned expression: a tensor's name, or a view of a tensor in memory."""
        value = self.entry.views.get(tensor.name)
        if value is None:
            return tensor.name
        text = library.viewed(value, self.entry.schedule.held, self.size)
        found = self.entry.schedule.held[base_of(value).number].dtype
        return library.rounded(text, found, tensor.dtype, self.graph.cases, self._types())

    def _made(self) -> list[Tensor]:
        """Every tensor that the host allocates: outputs, then scratch."""
        given = {name for _, name in self.entry.parameters}
        outputs = [store.tensor for store in self.entry.outputs if store.tensor.name not in self.entry.views]
        found = [*outputs, *self.entry.schedule.tensors]
        made = given | self.declared
        return [tensor for tensor in dict.fromkeys(found) if tensor.name not in made]

    def _allocation(self, tensor: Tensor) -> str:
        return f"auto {tensor.name} = {self.made_like(tensor)};"

    def made_like(self, tensor: Tensor) -> str:
        """An expression that makes such a tensor."""
        model = self._model(tensor.dtype)
        alike = next(
            (t for t in self.entry.inputs.values() if t.shape == tensor.shape and t.dtype == tensor.dtype), None
        )
        if alike and tensor.shape and alike.name not in self.entry.contiguous:
            return f"torch::empty_like({alike.name})"
        extents = ", ".join(self.size(size) for size in tensor.shape)
        options = f"{model.name}.options()" + (
            "" if model.dtype == tensor.dtype else f".dtype({TORCH_TYPES[tensor.dtype]})"
        )
        return f"torch::empty({{{extents}}}, {options})"

    def _model(self, dtype: str) -> Tensor:
        """An argument on the right device, of the right type if there is one."""
        found = list(self.entry.inputs.values())
        if not found:
            raise CannotCompose("a function without tensor arguments")
        same = [tensor for tensor in found if tensor.dtype == dtype]
        if dtype == "T" and not same:
            raise CannotCompose("a result in a type that no argument has")
        return (same or found)[0]

    def _types(self) -> dict[str, str]:
        """Types as the host writes them; the case's own is that of an argument, if one has it."""
        if all(tensor.dtype != "T" for tensor in self.entry.inputs.values()):
            return TORCH_TYPES
        return {**TORCH_TYPES, "T": f"{self._model('T').name}.scalar_type()"}

    def _dispatched(self) -> list[str]:
        """The calls in order; adjacent launches share one type dispatch."""
        typed = next((tensor for tensor in self.entry.inputs.values() if tensor.dtype == "T"), None)
        lines: list[str] = []
        for launches, calls in itertools.groupby(self.calls, key=lambda call: call.launches):
            texts = [call.text for call in calls]
            if launches and typed is None:
                texts = [text.replace("<scalar_t>", "<float>") for text in texts]
            elif launches and typed:
                texts = [
                    f"DISPATCH({typed.name}{'[0]' if typed.listed else ''}.scalar_type(), [&] {{",
                    *indented(texts),
                    "});",
                ]
            lines += texts
        return lines

    def _call_text(self, kernel: Written) -> list[str]:
        needs = kernel.needs
        tensors = list({**needs.reads, **needs.writes})
        scalars = [self.host_scalar(value).text for value in needs.scalars.values()]
        sizes = [self.size(size) for size in needs.sizes.values()]
        return signature(f"launch_{kernel.name}<scalar_t>", [*tensors, *scalars, *sizes], 100)
