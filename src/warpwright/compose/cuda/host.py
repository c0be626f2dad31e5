"""The host side of an entry point: sizes, allocations, calls in order, results."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter, verbatim
from warpwright.compose.code.printer import laid_out
from warpwright.compose.code.statements import Assign, Dispatch, Do, Form, Let, Loop, Statement
from warpwright.compose.code.text import Code, as_code, code, joined
from warpwright.compose.code.traversal import names as names_in
from warpwright.compose.cuda import library
from warpwright.compose.cuda.arithmetic import Term, literal, written
from warpwright.compose.cuda.kernel import Written, leave
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.naming import safe_name
from warpwright.compose.ir.operations import Constant, Extent, Scalar
from warpwright.compose.ir.sizes import Size, in_cpp
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Value
from warpwright.compose.schedule.entry import Entry
from warpwright.compose.schedule.groups import base_of
from warpwright.core.task import Task

SCALAR_TYPES = {
    "fp32": "kFloat32",
    "fp16": "kFloat16",
    "bf16": "kBFloat16",
    "fp64": "kFloat64",
    "e4m3": "kFloat8_e4m3fn",
    "int64": "kInt64",
    "int32": "kInt32",
    "int16": "kInt16",
    "int8": "kInt8",
    "uint8": "kUInt8",
    "bool": "kBool",
}
TORCH_TYPES = {dtype: f"torch::{name}" for dtype, name in SCALAR_TYPES.items()}

CHECK = verbatim(
    """\
// Checks that an argument is contiguous and has the sizes it shares with other arguments.
void check(const torch::Tensor& given, at::IntArrayRef sizes) {
    TORCH_CHECK(given.is_cuda() && given.is_contiguous() && given.sizes() == sizes,
            "an argument is not on the GPU, not contiguous, or not of the size that the others have");
}""",
    headers=("torch/extension.h",),
)


@dataclass(frozen=True, slots=True)
class Step:
    """Host code that does something on the device."""

    statement: Statement
    launches: bool
    """Whether it launches a kernel, and so depends on the type."""


class HostWriter:
    """Collects the calls of one entry, and writes the function around them."""

    def __init__(self, task: Task, entry: Entry, config: Mapping[str, Any]) -> None:
        self.task, self.graph, self.entry, self.config = task, entry.graph, entry, config
        self.kernels: list[Written] = []
        self.calls: list[Step] = []
        self.declared: set[str] = set()
        """Tensors that a library call makes."""
        self.used_sizes: dict[str, None] = {}
        self.steps = 0
        """Launches and library calls, one after the other."""

    def size(self, size: Size) -> Code:
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

    @property
    def scalar(self) -> str:
        """The type that launchers are called for: the case's own, where an argument has it."""
        return "scalar_t" if any(tensor.dtype == "T" for tensor in self.entry.inputs.values()) else "float"

    def host(self) -> Definition:
        """The exported function."""
        entry, count = self.entry, len(self.entry.returned)
        kind = "void" if not count else "torch::Tensor" if count == 1 else "std::vector<torch::Tensor>"
        has_list = count > 1 or any(tensor.listed for tensor in entry.inputs.values())
        return Definition(
            head=f"{kind} {entry.name}",
            parameters=tuple(Parameter(type_, name) for type_, name in entry.parameters),
            body=tuple(self._body()),
            headers=("vector",) if has_list else (),
            is_kernel=False,
        )

    def _body(self) -> list[Statement]:
        entry = self.entry
        names = joined(", ", [self._returned(tensor) for tensor in entry.returned])
        allocated = [self.allocation(tensor) for tensor in self._made()]
        checked = [*map(self._checked, self._arguments())] if entry.is_exported else []
        contiguous = [Assign(name, f"{name}.contiguous()") for name in entry.contiguous]
        sizes = [
            Let("const int64_t", name, place)
            for name, place in entry.places.items()
            if name in self.used_sizes and place != name
        ]
        value = code("return {{{names}}}" if len(entry.returned) > 1 else "return {names}", names=names)
        last = [Do(value)] if entry.returned else []
        return [*contiguous, *sizes, *checked, *self._handed_over(), *allocated, *self._dispatched(), *last]

    def _arguments(self) -> list[Tensor]:
        """The used arguments, in the order of the parameters."""
        words = names_in(step.statement for step in self.calls)
        used = {tensor.name: tensor for tensor in self.entry.inputs.values() if tensor.name in words}
        return [used[name] for _, name in self.entry.parameters if name in used]

    def _checked(self, tensor: Tensor) -> Statement:
        """The check of an argument; a size that no other argument shows is compared with itself."""
        name = tensor.name
        if tensor.listed:
            return Loop(f"const auto& each : {name}", (Do("check(each, each.sizes())"),), form=Form.BESIDE)
        is_shown = all(size.names <= self.entry.places.keys() for size in tensor.shape)
        sizes = joined(", ", map(self.size, tensor.shape)) if is_shown else as_code("")
        return Do(
            code("check({name}, {{{sizes}}})" if is_shown else "check({name}, {name}.sizes())", name=name, sizes=sizes)
        )

    def _handed_over(self) -> list[Statement]:
        """The call of the variant for a size of one, which takes the same arguments."""
        single = self.entry.single
        if single is None:
            return []
        names = ", ".join(name for _, name in self.entry.parameters)
        return [leave(f"{self.entry.places[single.size]} == 1", f"{single.name}({names})")]

    def _returned(self, tensor: Tensor) -> Code:
        """The returned expression: a tensor's name, or a view of a tensor in memory."""
        value = self.entry.views.get(tensor.name)
        if value is None:
            return as_code(tensor.name)
        text = library.viewed(value, self.entry.schedule.held, self.size)
        found = self.entry.schedule.held[base_of(value).number].dtype
        return library.rounded(text, found, tensor.dtype, self.graph.cases, self.types())

    def _made(self) -> list[Tensor]:
        """Every tensor that the host allocates: outputs, then scratch."""
        given = {name for _, name in self.entry.parameters}
        outputs = [store.tensor for store in self.entry.outputs if store.tensor.name not in self.entry.views]
        found = [*outputs, *self.entry.schedule.tensors]
        made = given | self.declared
        return [tensor for tensor in dict.fromkeys(found) if tensor.name not in made]

    def allocation(self, tensor: Tensor) -> Statement:
        return Let("auto", tensor.name, self.made_like(tensor))

    def made_like(self, tensor: Tensor) -> Code:
        """An expression that makes such a tensor."""
        model = self._model(tensor.dtype)
        alike = next(
            (t for t in self.entry.inputs.values() if t.shape == tensor.shape and t.dtype == tensor.dtype), None
        )
        if alike and tensor.shape and alike.name not in self.entry.contiguous:
            return code("torch::empty_like({alike})", alike=alike.name)
        extents = joined(", ", map(self.size, tensor.shape))
        type_ = "" if model.dtype == tensor.dtype else f".dtype({TORCH_TYPES[tensor.dtype]})"
        return code("torch::empty({{{extents}}}, {like}.options(){type})", extents=extents, like=model.name, type=type_)

    def _model(self, dtype: str) -> Tensor:
        """An argument on the right device, of the right type if there is one."""
        found = list(self.entry.inputs.values())
        if not found:
            raise CannotCompose("a function without tensor arguments")
        same = [tensor for tensor in found if tensor.dtype == dtype]
        if dtype == "T" and not same:
            raise CannotCompose("a result in a type that no argument has")
        return (same or found)[0]

    def types(self) -> dict[str, str]:
        """Types as the host writes them; the case's own is that of an argument, if one has it."""
        if all(tensor.dtype != "T" for tensor in self.entry.inputs.values()):
            return TORCH_TYPES
        return {**TORCH_TYPES, "T": f"{self._model('T').name}.scalar_type()"}

    def _dispatched(self) -> list[Statement]:
        """The calls in order; adjacent launches share one type dispatch."""
        typed = next((tensor for tensor in self.entry.inputs.values() if tensor.dtype == "T"), None)
        found: list[Statement] = []
        for launches, steps in itertools.groupby(self.calls, key=lambda step: step.launches):
            statements = [step.statement for step in steps]
            if launches and typed:
                each = "[0]" if typed.listed else ""
                statements = [Dispatch(f"{typed.name}{each}.scalar_type()", tuple(statements))]
            found += statements
        return found

    def call_of(self, kernel: Written) -> Code:
        """The call of the launcher of a kernel."""
        needs = kernel.needs
        tensors = [as_code(name) for name in {**needs.reads, **needs.writes}]
        scalars = [self.host_scalar(value).code for value in needs.scalars.values()]
        sizes = [self.size(size) for size in needs.sizes.values()]
        function = code("{launch}<{scalar}>", launch=f"launch_{kernel.name}", scalar=self.scalar)
        return laid_out(function, [*tensors, *scalars, *sizes], 100)
