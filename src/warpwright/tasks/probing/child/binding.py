"""A user's function or module, and its arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import TaskError
from warpwright.tasks.probing.child.exploring import explored
from warpwright.tasks.probing.child.observing import Subject
from warpwright.tasks.probing.child.recording import Origin, recording
from warpwright.tasks.probing.child.state import state_of
from warpwright.tasks.probing.child.user_file import load
from warpwright.tasks.probing.child.values import elements, made, seen_argument
from warpwright.tasks.probing.seen import Findings, Job, Seen, TensorSeen

_MANY = 1 << 20
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def function_findings(job: Job) -> Findings:
    """Explores `ref.py:fn` or `model.py:Net` with the inputs that the user described."""
    import torch

    module = load(job)
    found = getattr(module, job.entry, None)
    if isinstance(found, torch.nn.Module):
        raise TaskError(job.filename, job.entry, "is an instance", "name its class, which must need no arguments")
    if not callable(found):
        raise TaskError(job.filename, job.entry, "is not a function or module there", f"there are {_listed(module)}")
    if isinstance(found, type):
        return _module_findings(job, found)
    arguments = _bound(job, found)
    return explored(job, job.entry, lambda device: (Subject(call=found, real=lambda: found, device=device), arguments))


def _module_findings(job: Job, kind: Any) -> Findings:
    """Explores a class whose constructor needs no arguments."""
    import torch

    if not issubclass(kind, torch.nn.Module):
        raise TaskError(job.filename, job.entry, "is a class but not an nn.Module", "name a function or a module")
    empty = inspect.Parameter.empty
    needed = [item.name for item in _parameters(kind) if item.default is empty and item.kind in _POSITIONAL]
    if needed:
        problem = f"its constructor needs {', '.join(needed)}"
        raise TaskError(job.filename, job.entry, problem, "give defaults, or name a subclass that needs nothing")
    arguments = _bound(job, kind.forward, skipped=1)
    dtype = _common_dtype(arguments)
    if dtype is not None and not _takes(kind, arguments):
        kept = getattr(torch, dtype_named(dtype).torch)
        return replace(_explored_module(job, lambda: kind().to(kept), arguments), dtype=dtype)
    return _explored_module(job, kind, arguments)


def _explored_module(job: Job, make: Callable[[], Any], arguments: tuple[Seen, ...]) -> Findings:
    return explored(job, job.entry, lambda device: (module_subject(make, device, arguments), arguments))


def _takes(kind: Any, arguments: tuple[Seen, ...]) -> bool:
    """Whether a module as it is made takes inputs of these dtypes: tried with data, without which torch does not ask.

    Large inputs are tried with a single element in the first dimension.
    """
    import torch

    with torch.no_grad():
        try:
            kind()(*(made(_first_row(seen), "cpu") for seen in arguments))
        except RuntimeError as error:
            return "dtype" not in str(error) and "same type" not in str(error)
    return True


def _first_row(seen: Seen) -> Seen:
    is_large = isinstance(seen, TensorSeen) and elements([seen]) > _MANY and len(seen.shape) > 1
    return replace(seen, shape=(1, *seen.shape[1:])) if is_large and isinstance(seen, TensorSeen) else seen


def _common_dtype(arguments: tuple[Seen, ...]) -> str | None:
    """The dtype of all floating inputs, if it is not the one that modules are made in."""
    tensors = [seen for seen in arguments if isinstance(seen, TensorSeen) and dtype_named(seen.dtype).floating]
    names = {seen.dtype for seen in tensors}
    return names.pop() if len(names) == 1 and names <= {"fp16", "bf16", "fp64"} else None


def module_subject(make: Callable[[], Any], device: str, arguments: tuple[Seen, ...]) -> Subject:
    with recording(device):
        made = make()
    state = state_of(made, arguments)
    return Subject(call=made, real=cache(make), device=device, module=True, state=state)


def parameter_names(function: Any, count: int, skipped: int = 0, others: Sequence[str] = ()) -> list[str]:
    """Names `count` positional arguments: by the signature, then by `others`, then by number."""
    names = [parameter.name for parameter in _parameters(function)[skipped:] if parameter.kind in _POSITIONAL]
    names += others[len(names) :]
    return [*names[:count], *(f"input{number}" for number in range(len(names), count))]


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
        return [inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL)]


def _bound(job: Job, function: Any, skipped: int = 0) -> tuple[Seen, ...]:
    """Assigns the described inputs to parameters; defaults fill the rest."""
    parameters = _parameters(function)[skipped:]
    places = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    named = {seen.name: seen for seen in job.arguments if seen.name}
    nameless = iter([seen for seen in job.arguments if not seen.name])
    if unknown := sorted(named.keys() - {place.name for place in places}):
        raise _misfit(job, places, f"takes no positional argument '{unknown[0]}'")
    arguments = [_filled(job, places, place, named, nameless) for place in places]
    rest = [replace(seen, name=f"input{len(places) + number}") for number, seen in enumerate(nameless)]
    if rest and not any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        raise _misfit(job, places, f"is given {len(rest)} too many")
    if not arguments + rest:
        raise _misfit(job, places, "takes nothing that a kernel could work on")
    return tuple(arguments + rest)


def _filled(
    job: Job,
    places: list[inspect.Parameter],
    place: inspect.Parameter,
    named: dict[str, Seen],
    nameless: Iterator[Seen],
) -> Seen:
    if place.name in named:
        return named[place.name]
    if seen := next(nameless, None):
        return replace(seen, name=place.name)
    if place.default is place.empty:
        raise _misfit(job, places, f"needs '{place.name}', which no --input describes")
    return seen_argument(place.name, place.default, lambda _: Origin())


def _misfit(job: Job, places: list[inspect.Parameter], problem: str) -> TaskError:
    listed = ", ".join(str(place).partition(":")[0] for place in places)
    remedy = "give one --input for each, such as --input 8,512,768:bf16 or --input eps=1e-5"
    return TaskError(job.filename, f"{job.entry}({listed})", problem, remedy)


def _listed(module: Any) -> str:
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return ", ".join(sorted(name for name in own if not name.startswith("_"))) or "none"
