"""Finds the arguments that an AutogradFunction passes to its backward_fn, and the gradients that it returns.

Its `forward` and `backward` are called as plain functions with a context of ours, so that values keep their identity: a
tensor passed on is an argument, a gradient, or something saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.errors import UsageError
from warpwright.tasks.probing.child.observing import tensors_in
from warpwright.tasks.probing.child.recording import Origin
from warpwright.tasks.probing.child.values import seen_argument, seen_tensor
from warpwright.tasks.probing.seen import ScalarSeen, TensorSeen

Takes = tuple[str | tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedArguments:
    takes: Takes
    results: tuple[str, ...]
    """The arguments whose gradients backward_fn returns, in its order."""
    saves: tuple[TensorSeen, ...]
    extras: tuple[ScalarSeen, ...]


class Context:
    """A substitute for autograd's context: stores what it is given and ignores everything else."""

    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("mark_", "set_")):
            return lambda *arguments: None
        raise AttributeError(name)


class MarkedInt(int):
    """An int that can be distinguished from an equal one by identity."""


class MarkedFloat(float):
    """A float that can be distinguished from an equal one by identity."""


def passed_arguments(function: Any, values: Mapping[str, Any], outputs: Sequence[str]) -> PassedArguments:
    import torch

    marked = {name: _marked(value) for name, value in values.items()}
    context = Context()
    context.__dict__["needs_input_grad"] = tuple(_differentiable(value) for value in marked.values())
    with torch.no_grad():
        returned = tensors_in(function.forward(context, *marked.values()))
        gradients = [torch.empty_like(tensor) for tensor in returned]
        arguments, results = _observed_call(function, context, gradients, list(marked.values()))
    known = _Known(named=marked, gradients=dict(zip(outputs, gradients, strict=True)), context=context)
    takes = tuple(known.entry(argument) for argument in arguments)
    names = list(values)
    return PassedArguments(
        takes=takes,
        results=tuple(names[position] for position in results),
        saves=tuple(known.saves),
        extras=tuple(known.extras),
    )


def _observed_call(
    function: Any, context: Context, gradients: Sequence[Any], values: Sequence[Any]
) -> tuple[tuple[Any, ...], list[int]]:
    """Returns the arguments of backward_fn, and the positions of the arguments that receive its results.

    Only the code that unpacks the results knows how many there are, so every number is tried.
    """
    calls: list[tuple[Any, ...]] = []
    failure: Exception | None = None
    for answer in _answers(gradients[0], len(values)):
        calls.clear()
        function.backward_fn = staticmethod(_listener(calls, answer))
        try:
            returned = function.backward(context, *gradients)
        except Exception as error:
            failure = failure or error
            continue
        places = _places(returned, answer, values)
        if places is not None and calls:
            return calls[0], places
    if not calls:
        why = f": {type(failure).__name__}: {failure}" if failure else ""
        raise UsageError(f"AutogradFunction.backward does not call AutogradFunction.backward_fn{why}")
    raise UsageError("AutogradFunction.backward must return what backward_fn gives, and None for the other arguments")


def _listener(calls: list[tuple[Any, ...]], answer: Any) -> Callable[..., Any]:
    def listen(*arguments: Any) -> Any:
        calls.append(arguments)
        return answer

    return listen


def _answers(like: Any, most: int) -> Iterator[Any]:
    import torch

    for count in range(1, most + 1):
        yield tuple(torch.empty_like(like) for _ in range(count))
    yield torch.empty_like(like)


def _places(returned: Any, answer: Any, values: Sequence[Any]) -> list[int] | None:
    """Returns the positions of the gradients; None if this number of results cannot be the expected one."""
    items = list(returned) if isinstance(returned, tuple | list) else [returned]
    answers = list(answer) if isinstance(answer, tuple) else [answer]
    places = [position for one in answers for position, item in enumerate(items) if item is one]
    used = sum(item is not None for item in items)
    fits = len(places) == len(answers) == used and len(items) >= len(values)
    return places if fits and all(_differentiable(values[position]) for position in places) else None


@dataclass(slots=True, kw_only=True)
class _Known:
    """Finds the name of each value that is passed on, and gives unknown values a new one."""

    named: Mapping[str, Any]
    gradients: Mapping[str, Any]
    context: Context
    saves: list[TensorSeen] = field(default_factory=list)
    extras: list[ScalarSeen] = field(default_factory=list)
    met: dict[int, str] = field(default_factory=dict)

    def entry(self, value: Any) -> str | tuple[str, ...]:
        if isinstance(value, list | tuple) and tensors_in(value) and self._name(value) is None:
            return tuple(self._single(item) for item in value)
        return self._single(value)

    def _single(self, value: Any) -> str:
        name = self._name(value)
        return name if name is not None else self._new(value)

    def _name(self, value: Any) -> str | None:
        for name, other in self.named.items():
            if value is other and value is not None:
                return name
        for output, gradient in self.gradients.items():
            if value is gradient:
                return f"grad_{output}"
        return self.met.get(id(value)) or self._same_plain(value)

    def _same_plain(self, value: Any) -> str | None:
        """Finds None, bools and strings by equality, since they have no identity of their own."""
        if not isinstance(value, bool | str | None):
            return None
        return next((name for name, other in self.named.items() if type(other) is type(value) and other == value), None)

    def _new(self, value: Any) -> str:
        found = tensors_in(value)
        name = self._attribute(value) or f"{'saved' if found else 'extra'}{len(self.saves) + len(self.extras)}"
        if found:
            self.saves.append(seen_tensor(name, found[0], Origin()))
            self.met[id(value)] = name
        else:
            seen = seen_argument(name, _unmarked(value), lambda _: Origin())
            assert isinstance(seen, ScalarSeen)
            self.extras.append(seen)
        return name

    def _attribute(self, value: Any) -> str | None:
        """The attribute of the context under which `forward` stored a value."""
        taken = {*self.named, *(save.name for save in self.saves), *(extra.name for extra in self.extras)}
        return next((name for name, held in vars(self.context).items() if held is value and name not in taken), None)


def _differentiable(value: Any) -> bool:
    return any(tensor.is_floating_point() for tensor in tensors_in(value))


def _marked(value: Any) -> Any:
    return {int: MarkedInt, float: MarkedFloat}.get(type(value), lambda same: same)(value)


def _unmarked(value: Any) -> Any:
    if isinstance(value, MarkedInt | MarkedFloat):
        return int(value) if isinstance(value, MarkedInt) else float(value)
    return tuple(map(_unmarked, value)) if isinstance(value, list | tuple) else value
