"""What an AutogradFunction hands to its backward_fn, and which gradients it makes of what comes back.

Its `forward` and `backward` are called as plain functions with a context of ours, so every value keeps its identity:
a tensor that is handed over is an argument, a gradient, or something that was saved.
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
class Handed:
    takes: Takes
    results: tuple[str, ...]
    """The arguments whose gradients backward_fn returns, in its order."""
    saves: tuple[TensorSeen, ...]
    extras: tuple[ScalarSeen, ...]


class Context:
    """Stands in for autograd's: keeps what it is given, and agrees to everything else."""

    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("mark_", "set_")):
            return lambda *arguments: None
        raise AttributeError(name)


class Whole(int):
    """Numbers that can be told apart from equal ones."""


class Real(float):
    """Likewise."""


def handed(function: Any, values: Mapping[str, Any], outputs: Sequence[str]) -> Handed:
    import torch

    marked = {name: _marked(value) for name, value in values.items()}
    context = Context()
    context.__dict__["needs_input_grad"] = tuple(_differentiable(value) for value in marked.values())
    with torch.no_grad():
        returned = tensors_in(function.forward(context, *marked.values()))
        gradients = [torch.empty_like(tensor) for tensor in returned]
        arguments, results = _overheard(function, context, gradients, list(marked.values()))
    known = _Known(named=marked, gradients=dict(zip(outputs, gradients, strict=True)), context=context)
    takes = tuple(known.entry(argument) for argument in arguments)
    names = list(values)
    return Handed(
        takes=takes,
        results=tuple(names[position] for position in results),
        saves=tuple(known.saves),
        extras=tuple(known.extras),
    )


def _overheard(
    function: Any, context: Context, gradients: Sequence[Any], values: Sequence[Any]
) -> tuple[tuple[Any, ...], list[int]]:
    """What backward_fn was called with, and the places among the arguments that its results end up in.

    How many results it gives is known only to the code that unpacks them, so every number is tried.
    """
    heard: list[tuple[Any, ...]] = []
    trouble: Exception | None = None
    for answer in _answers(gradients[0], len(values)):
        heard.clear()
        function.backward_fn = staticmethod(_listener(heard, answer))
        try:
            returned = function.backward(context, *gradients)
        except Exception as error:
            trouble = trouble or error
            continue
        places = _places(returned, answer, values)
        if places is not None and heard:
            return heard[0], places
    if not heard:
        why = f": {type(trouble).__name__}: {trouble}" if trouble else ""
        raise UsageError(f"AutogradFunction.backward does not call AutogradFunction.backward_fn{why}")
    raise UsageError("AutogradFunction.backward must return what backward_fn gives, and None for the other arguments")


def _listener(heard: list[tuple[Any, ...]], answer: Any) -> Callable[..., Any]:
    def listen(*arguments: Any) -> Any:
        heard.append(arguments)
        return answer

    return listen


def _answers(like: Any, most: int) -> Iterator[Any]:
    import torch

    for count in range(1, most + 1):
        yield tuple(torch.empty_like(like) for _ in range(count))
    yield torch.empty_like(like)


def _places(returned: Any, answer: Any, values: Sequence[Any]) -> list[int] | None:
    """None where this answer cannot have been what was expected."""
    items = list(returned) if isinstance(returned, tuple | list) else [returned]
    answers = list(answer) if isinstance(answer, tuple) else [answer]
    places = [position for one in answers for position, item in enumerate(items) if item is one]
    used = sum(item is not None for item in items)
    fits = len(places) == len(answers) == used and len(items) >= len(values)
    return places if fits and all(_differentiable(values[position]) for position in places) else None


@dataclass(slots=True, kw_only=True)
class _Known:
    """Finds the name of each value that is handed over; what has none yet gets one."""

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
        """None and truth values have no identity of their own; they are known by being equal."""
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
        """The name under which `forward` left it in the context."""
        taken = {*self.named, *(save.name for save in self.saves), *(extra.name for extra in self.extras)}
        return next((name for name, held in vars(self.context).items() if held is value and name not in taken), None)


def _differentiable(value: Any) -> bool:
    return any(tensor.is_floating_point() for tensor in tensors_in(value))


def _marked(value: Any) -> Any:
    return {int: Whole, float: Real}.get(type(value), lambda same: same)(value)


def _unmarked(value: Any) -> Any:
    if isinstance(value, Whole | Real):
        return int(value) if isinstance(value, Whole) else float(value)
    return tuple(map(_unmarked, value)) if isinstance(value, list | tuple) else value
