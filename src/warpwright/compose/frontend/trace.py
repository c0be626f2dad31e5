"""Traces the task's function to a graph of ATen operations over named sizes.

Nothing is computed: tensors are fake, sizes are symbols with the names of the task. Floating-point scalars are
zero-dimensional tensors, so that operations on them appear in the graph; integers are symbols like sizes.
"""

from __future__ import annotations

import contextlib
import io
import logging
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwright.compose.errors import CannotCompose
from warpwright.compose.frontend.given_names import GIVEN, given_names
from warpwright.compose.frontend.size_functions import written_out
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import OurFault, WarpwrightError
from warpwright.core.formula import evaluate
from warpwright.core.signature import differentiable_outputs
from warpwright.core.task import Case, Direction, ScalarArg, Task, TensorArg, sizes

WIDE = ("fp32", "fp64")
MOST_HINTS = 3
"""The number of cases that are tried where a function depends on the sizes of a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One input of the graph: an argument of the task, a gradient that arrives, or something saved."""

    name: str
    kind: str
    """"tensor", "list", "number" for a float, "count" for a whole number."""
    dtype: str
    """The dtype as declared by the task; "T" for the case's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    graph: Any
    slots: tuple[Slot, ...]
    """The inputs in the order of the graph's placeholders."""
    symbols: dict[str, str]
    """The task's names by the tracer's names."""
    narrow: str | None
    """The dtype used for "T" while tracing, if it differs from float32."""
    names: dict[str, str]
    """The names that the reference gives to results of nodes."""
    guards: tuple[Any, ...]


Body = Callable[[dict[str, Any]], list[Any]]
"""The traced function: maps named inputs to result tensors."""


def trace_forward(task: Task, hint: Case) -> Traced:
    """Traces arguments to outputs; mutations appear as in-place operations."""
    return _trace(task, hint, task.arguments, (), (), lambda given: _forward(task, given))


def trace_saved(task: Task, hint: Case) -> Traced:
    return _trace(task, hint, task.arguments, (), (), lambda given: _saved(task, given))


def trace_backward(task: Task, hint: Case) -> Traced:
    """Traces gradients, saved tensors and arguments to gradients, by the task's own function or by autograd."""
    if task.reference.backward and task.direction is Direction.BACKWARD:
        return _trace(
            task, hint, task.arguments, _gradients(task), task.saves, lambda given: _own_backward(task, given)
        )
    return _trace(task, hint, task.arguments, _gradients(task), (), lambda given: _differentiated(task, given))


def told_apart(task: Task) -> str | None:
    """A dtype of the task other than float32, so that the graph distinguishes values of type "T"."""
    return next((name for name in task.dtypes if name not in WIDE), None)


def hint_cases(task: Task) -> list[Case]:
    """The cases with the most distinct and largest sizes, best first: equal or unit sizes would be ambiguous."""

    def telling(case: Case) -> tuple[int, int, int]:
        values = list(case.dims.values())
        return sum(value > 1 for value in values), len(set(values)), min(values, default=0)

    return sorted(task.cases, key=telling, reverse=True)[:MOST_HINTS]


def _gradients(task: Task) -> tuple[Any, ...]:
    return differentiable_outputs(task, task.cases[0])


def _forward(task: Task, given: dict[str, Any]) -> list[Any]:
    from warpwright.oracle.truth.reference import function, outputs

    called = function(task.reference, drawn=False)
    arguments = [given[argument.name] for argument in task.arguments]
    return list(outputs(task, called, arguments))


def _saved(task: Task, given: dict[str, Any]) -> list[Any]:
    from warpwright.oracle.truth.reference import function, tensors_in

    return list(tensors_in(function(task.reference, "save")(*[given[argument.name] for argument in task.arguments])))


def _own_backward(task: Task, given: dict[str, Any]) -> list[Any]:
    from warpwright.oracle.truth.reference import function, tensors_in

    gradients = [given[f"grad_{output.name}"] for output in _gradients(task)]
    saves = [given[save.name] for save in task.saves]
    arguments = [given[argument.name] for argument in task.arguments]
    return list(tensors_in(function(task.reference, task.reference.backward)(*gradients, *saves, *arguments)))


def _differentiated(task: Task, given: dict[str, Any]) -> list[Any]:
    """The gradients of every differentiable argument."""
    import torch

    from warpwright.oracle.truth.reference import tensors_in

    leaves: list[Any] = []
    prepared = {name: _leaf(task, name, value, leaves) for name, value in given.items()}
    with torch.enable_grad():
        found = _forward(task, prepared)
    names = {output.name for output in _gradients(task)}
    wanted = [tensor for tensor, output in zip(found, task.outputs, strict=True) if output.name in names]
    arriving = [given[f"grad_{output.name}"] for output in _gradients(task)]
    flowing = [(tensor, grad) for tensor, grad in zip(wanted, arriving, strict=True) if tensor.requires_grad]
    tensors, grads = zip(*flowing, strict=True)
    computed = torch.autograd.grad(tensors, leaves, grads, allow_unused=True)
    if any(grad is None for grad in computed):
        raise CannotCompose("an argument without a gradient")
    return list(tensors_in(computed))


def _leaf(task: Task, name: str, value: Any, leaves: list[Any]) -> Any:
    argument = next((item for item in task.arguments if item.name == name), None)
    if not isinstance(argument, TensorArg) or not argument.grad or isinstance(value, list):
        return value
    if not value.is_floating_point():
        return value
    leaves.append(value.detach().requires_grad_())
    return leaves[-1]


def _trace(
    task: Task, hint: Case, arguments: Sequence[Any], gradients: Sequence[Any], saves: Sequence[Any], body: Body
) -> Traced:
    inputs = _Inputs(task, hint)
    try:
        with _quiet():
            for output in gradients:
                inputs.tensor(f"grad_{output.name}", output.shape, output.dtype)
            for save in saves:
                inputs.tensor(save.name, save.shape, save.dtype)
            for argument in arguments:
                inputs.argument(argument)
            return inputs.traced(body)
    except (CannotCompose, OurFault):
        raise
    except Exception as error:
        if _is_ours(error):
            raise
        raise CannotCompose(_first_sentence(error)) from None


def _is_ours(error: Exception) -> bool:
    """Whether the composer itself raised it by mistake, not the function that is traced nor torch on its behalf.

    An exception from torch's C++ code has the caller's frame: a mode that forwards a call, or any RuntimeError.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    code = frame.f_code
    is_here = Path(code.co_filename).is_relative_to(Path(__file__).parents[1]) and code.co_name != "__torch_function__"
    return is_here and not isinstance(error, RuntimeError | WarpwrightError)


def _first_sentence(error: Exception) -> str:
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    kind = "" if isinstance(error, WarpwrightError) else f"{type(error).__name__}: "
    return f"the function cannot be traced ({kind}{line[:160]})"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences torch's messages about operations that cannot be traced, which are an expected answer here."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


class _Inputs:
    """Fake tensors and symbols for the inputs of the traced function."""

    def __init__(self, task: Task, hint: Case) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self._task, self._case = task, hint
        self._env: Any = ShapeEnv(specialize_zero_one=False, duck_shape=False)
        self._mode: Any = FakeTensorMode(shape_env=self._env, allow_non_fake_inputs=True)
        self._narrow = told_apart(task)
        self._symbols: dict[str, str] = {}
        self._names: dict[str, Any] = {name: self._symbol(name, int(hint)) for name, hint in self._case.dims.items()}
        for argument in task.arguments:
            if isinstance(argument, ScalarArg) and self._is_count(argument):
                self._names[argument.name] = self._symbol(argument.name, int(self._case.scalars[argument.name]))  # type: ignore[arg-type]
        self._slots: list[Slot] = []
        self._values: list[Any] = []
        self._fixed: dict[str, Any] = {}

    def _symbol(self, name: str, hint: int) -> Any:
        from torch._dynamo.source import ConstantSource
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        source = ConstantSource(name)
        dynamic = DimDynamic.DYNAMIC
        symbol = self._env.create_symbol(hint, source, dynamic, None, do_not_specialize_zero_one=True)
        self._symbols[str(symbol)] = name
        return self._env.create_symintnode(symbol, hint=hint, source=source)

    def tensor(self, name: str, shape: Sequence[Any], dtype: str, kind: str = "tensor", **more: Any) -> None:
        import torch

        extents: list[Any] = [evaluate(size, {**sizes(self._case), **self._names, **more}) for size in shape]
        named = dtype_named((self._narrow or "fp32") if dtype == "T" else dtype)
        with self._mode:
            made = torch.empty(extents, dtype=getattr(torch, named.torch))
        self._slots.append(Slot(name=name, kind=kind, dtype=dtype))
        self._values.append(made)

    def argument(self, argument: Any) -> None:
        if isinstance(argument, TensorArg):
            listed = argument.count is not None
            self.tensor(argument.name, argument.shape, argument.dtype, "list" if listed else "tensor", i=0)
        else:
            self._scalar(argument)

    def _is_count(self, argument: ScalarArg) -> bool:
        """Whether the argument is an integer that differs between cases."""
        values = {case.scalars[argument.name] for case in self._task.cases}
        return all(type(value) is int for value in values) and len(values) > 1

    def _scalar(self, argument: ScalarArg) -> None:
        import torch

        values = {case.scalars[argument.name] for case in self._task.cases}
        first = self._case.scalars[argument.name]
        if all(type(value) in (int, float) for value in values) and any(type(value) is float for value in values):
            with self._mode:
                self._values.append(torch.empty((), dtype=torch.float64))
            self._slots.append(Slot(name=argument.name, kind="number", dtype="fp64"))
        elif self._is_count(argument):
            self._values.append(self._names[argument.name])
            self._slots.append(Slot(name=argument.name, kind="count", dtype="int64"))
        elif len(values) == 1:
            self._fixed[argument.name] = list(first) if isinstance(first, tuple) else first
        else:
            raise CannotCompose(f"{argument.name}, which changes what the function does")

    def traced(self, body: Body) -> Traced:
        from torch.fx.experimental.proxy_tensor import make_fx

        def called(*values: Any) -> list[Any]:
            given = dict(self._fixed)
            for slot, value in zip(self._slots, values, strict=True):
                given[slot.name] = [value] if slot.kind == "list" else value
            with given_names(self._task.reference.source, self._task.reference.filename):
                return body(given)

        with self._mode, written_out():
            traced = make_fx(called, _decompositions(), tracing_mode="real")
            module = traced(*self._values)
        guards = tuple(guard.expr for guard in self._env.guards)
        return Traced(
            graph=module.graph,
            slots=tuple(self._slots),
            symbols=dict(self._symbols),
            narrow=self._narrow,
            names={node.name: node.meta[GIVEN] for node in module.graph.nodes if GIVEN in node.meta},
            guards=guards,
        )


def _decompositions() -> dict[Any, Any]:
    import torch
    from torch._decomp import core_aten_decompositions, get_decompositions

    aten = torch.ops.aten
    more = (aten.native_group_norm_backward, aten.native_layer_norm_backward, aten.addcmul, aten.addcdiv, aten.lerp)
    table = {**core_aten_decompositions(), **get_decompositions(more)}
    return {op: rule for op, rule in table.items() if op is not aten.logsumexp.default}
