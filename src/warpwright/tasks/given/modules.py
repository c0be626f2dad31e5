"""Traces an nn.Module with example inputs by torch.export into a function of its inputs and parameters."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warpwright.core.errors import UsageError
from warpwright.tasks.given.callables import Written
from warpwright.tasks.given.examples import tensor_description

if TYPE_CHECKING:
    import torch

_HEADER = "import torch\nfrom torch import device, inf, nan\n"


def traced(module: torch.nn.Module, inputs: Sequence[object]) -> Written:
    """Traces the operations of the module for inputs of these sizes; parameters follow the inputs."""
    program = _exported(module, inputs)
    held = _held(program)
    tensors, constants = _user_inputs(program, inputs)
    if program.graph_signature.buffers and _mutates(program):
        raise UsageError(f"{type(module).__name__} changes its buffers when it is called; call its .eval() first")
    results = [spec.arg.name for spec in program.graph_signature.output_specs]
    name = _snake_case(type(module).__name__)
    lines = [f"    {constant} = {value!r}" for constant, value in constants.items()]
    body = _body(program.graph_module.code)
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    source = "\n".join(
        [_HEADER, f"\ndef {name}({', '.join([*tensors, *held])}):", *lines, *body, f"    return {returned}", ""]
    )
    described = {name: tensor_description(value) for name, value in (tensors | held).items()}
    return Written(source=source, entry=name, inputs=tuple(f"{name}={words}" for name, words in described.items()))


def _exported(module: torch.nn.Module, inputs: Sequence[object]) -> torch.export.ExportedProgram:
    import torch

    try:
        return torch.export.export(module, tuple(inputs))
    except Exception as error:  # errors of the user's own code, and all those of torch.export
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        kind = type(module).__name__
        raise UsageError(f"{kind} cannot be traced ({said[:160]}); write it as ref.py:fn or model.py:Net") from None


def _mutates(program: torch.export.ExportedProgram) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch.export itself calls deprecated functions
        return bool(program.run_decompositions({}).graph_signature.buffers_to_mutate)


def _held(program: torch.export.ExportedProgram) -> dict[str, Any]:
    """Parameters, buffers and constant tensors, by their names in the traced function."""
    values = {**program.state_dict, **program.constants}
    specs = program.graph_signature.input_specs
    return {spec.arg.name: values[spec.target] for spec in specs if spec.target is not None}


def _user_inputs(
    program: torch.export.ExportedProgram, inputs: Sequence[object]
) -> tuple[dict[str, Any], dict[str, object]]:
    """Splits inputs into tensors, which become arguments, and others, which become constants."""
    from torch.utils._pytree import tree_leaves

    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.target is None]
    named = dict(zip(names, tree_leaves(tuple(inputs)), strict=True))
    tensors = {name: value for name, value in named.items() if hasattr(value, "shape")}
    return tensors, {name: value for name, value in named.items() if name not in tensors}


def _body(code: str) -> list[str]:
    """The statements of a graph's only function, without those that free variables."""
    lines = code.split("def forward", 1)[1].splitlines()[1:]
    kept = [re.sub(r";\s+(\w+ = )+None$", "", line) for line in lines]
    return [line for line in kept if line.strip() and not line.strip().startswith(("return", "#"))]


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
