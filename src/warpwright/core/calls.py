"""The calling convention: which entries of a candidate are called in a case, in order, and what each argument is.

forward    the arguments of the reference function, positionally
backward   the gradients of the outputs, then the saved tensors, then the forward's arguments; or the task's own order
training   both entries; `backward` takes the gradients, then whatever `forward` returned beyond the outputs
prepare    optional, before `forward`: takes arguments that stay constant; its results replace them in `forward`

Sealing, emulation, judging and counting bind these arguments to specs, bytes, addresses or tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, TypeVar

from warpwright.core.signature import (
    ListSpec,
    Spec,
    TensorSpec,
    argument_gradients,
    flatten,
    forward_arguments,
    output_gradients,
    tensors,
)
from warpwright.core.task import Case, Direction, Task

FORWARD, BACKWARD = "forward", "backward"
PREPARE = "prepare"
"""The optional entry that transforms constant arguments once, before any call of `forward`."""
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Source(StrEnum):
    """The source of an argument's value in the task."""

    ARGUMENT = "argument"
    """An argument of the reference function."""
    GRADIENT = "gradient"
    """The gradient of an output."""
    SAVE = "save"
    """A tensor that the reference saves for its backward pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An argument that the task defines: its source, and its position among the values of that source."""

    source: Source
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenList:
    """Several values of the task that arrive as one list of tensors."""

    items: tuple[Given, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """All tensors that an earlier entry returned for this one, each as a separate argument."""

    entry: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCall:
    """One call of one entry point."""

    entry: str
    arguments: tuple[Given | GivenList | HandedOver, ...]
    results: tuple[TensorSpec, ...]
    """The tensors that the task requires it to return."""
    hands_over: str | None = None
    """The name of further tensors that it may return, for a later entry to take; None where it may return no others."""
    mutates: tuple[int, ...] = ()
    """Positions, among the tensors it is given, of those it may change, in the order in which they are compared."""

    @property
    def is_timed(self) -> bool:
        """Whether the call is part of the timed work; preparation is not."""
        return self.entry != PREPARE

    def required(self, returned: Sequence[T]) -> Sequence[T]:
        """The results that the task compares: all of them, even surplus ones, unless some are passed to a later
        entry.
        """
        return returned[: len(self.results)] if self.hands_over else returned

    def handed_over(self, returned: Sequence[T]) -> Sequence[T]:
        """The part of its results that a later entry takes."""
        return returned[len(self.results) :] if self.hands_over else ()


class Inputs(Protocol[T_co]):
    """The values that a task defines in a case: specs, bytes, addresses or tensors."""

    @property
    def arguments(self) -> Sequence[T_co]: ...

    @property
    def gradients(self) -> Sequence[T_co]: ...

    @property
    def saves(self) -> Sequence[T_co]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSpecs:
    """The values of a task in a case as specs."""

    arguments: tuple[Spec, ...]
    gradients: tuple[TensorSpec, ...]
    saves: tuple[TensorSpec, ...]


def entry_calls(task: Task, case: Case, *, prepared: bool = False) -> tuple[EntryCall, ...]:
    """The calls that make one evaluation of the task, in order; `prepared` if the candidate has that entry."""
    if prepared and may_prepare(task):
        return _prepare(task), _forward_of_prepared(task, case)
    if task.direction is Direction.BACKWARD:
        return (_backward(task, case),)
    forward = EntryCall(
        entry=FORWARD,
        arguments=_all(Source.ARGUMENT, len(task.arguments)),
        results=tensors(case, task.outputs),
        mutates=_mutated(task, case),
    )
    if task.direction is Direction.TRAINING:
        return replace(forward, hands_over="saved"), _backward_of_pair(task, case)
    return (forward,)


def entries(task: Task) -> tuple[str, ...]:
    """The functions that a candidate for this task must export."""
    return tuple(call.entry for call in entry_calls(task, task.cases[0]))


def entry_call(task: Task, case: Case, entry: str) -> EntryCall:
    """The call of an entry that the task requires."""
    return next(call for call in entry_calls(task, case) if call.entry == entry)


def may_prepare(task: Task) -> bool:
    """Whether `prepare` counts: weights are constant for `forward` alone, and change where there are gradients."""
    return bool(task.prepares) and task.direction is Direction.FORWARD


def arguments(task: Task, case: Case) -> tuple[Spec, ...]:
    """The arguments of the first entry that the task requires."""
    return argument_specs(task, case, entry_calls(task, case)[0])


def results(task: Task, case: Case) -> tuple[TensorSpec, ...]:
    """The tensors that this entry returns, without mutated arguments."""
    return entry_calls(task, case)[0].results


def elements(task: Task, case: Case) -> int:
    """The number of elements of all tensors that go in or come back."""
    given = [tensor for spec in arguments(task, case) for tensor in flatten(spec)]
    return sum(tensor.numel for tensor in (*given, *results(task, case)))


def argument_specs(
    task: Task, case: Case, call: EntryCall, returned: Mapping[str, Sequence[TensorSpec]] | None = None
) -> tuple[Spec, ...]:
    """The arguments of a call as specs, given the tensors that each earlier entry passed on."""
    values = bound(call, input_specs(task, case), returned)
    return tuple(_grouped(value) if isinstance(value, list) else value for value in values)


def bound(call: EntryCall, inputs: Inputs[T], returned: Mapping[str, Sequence[T]] | None = None) -> list[T | list[T]]:
    """The values of a call's arguments, given those of the task and those that each earlier entry passed on."""
    values = {Source.ARGUMENT: inputs.arguments, Source.GRADIENT: inputs.gradients, Source.SAVE: inputs.saves}
    found: list[T | list[T]] = []
    for argument in call.arguments:
        match argument:
            case Given():
                found.append(values[argument.source][argument.position])
            case GivenList():
                found.append([values[item.source][item.position] for item in argument.items])
            case HandedOver():
                found += (returned or {})[argument.entry]
    return found


def input_specs(task: Task, case: Case) -> InputSpecs:
    """The specs of all values that a task defines in a case."""
    return InputSpecs(
        arguments=forward_arguments(task, case),
        gradients=output_gradients(task, case),
        saves=tensors(case, task.saves),
    )


def _prepare(task: Task) -> EntryCall:
    positions = {argument.name: number for number, argument in enumerate(task.arguments)}
    constant = tuple(Given(source=Source.ARGUMENT, position=positions[name]) for name in task.prepares)
    return EntryCall(entry=PREPARE, arguments=constant, results=(), hands_over="prepared")


def _forward_of_prepared(task: Task, case: Case) -> EntryCall:
    """Builds the call of `forward` after `prepare`: prepared tensors take the place of the first argument that they
    replace.
    """
    replaced = [argument.name in task.prepares for argument in task.arguments]
    first = replaced.index(True)
    kept = [given for given in _all(Source.ARGUMENT, len(replaced)) if not replaced[given.position]]
    taken: list[Given | GivenList | HandedOver] = [*kept[:first], HandedOver(entry=PREPARE), *kept[first:]]
    return EntryCall(entry=FORWARD, arguments=tuple(taken), results=tensors(case, task.outputs))


def _backward(task: Task, case: Case) -> EntryCall:
    names = {
        Source.GRADIENT: [spec.name for spec in output_gradients(task, case)],
        Source.SAVE: [output.name for output in task.saves],
        Source.ARGUMENT: [argument.name for argument in task.arguments],
    }
    usual = [pair for source, listed in names.items() for pair in zip(listed, _all(source, len(listed)), strict=True)]
    named = dict(usual)
    taken = [_named(named, key) for key in task.backward_takes] or [given for _, given in usual]
    return EntryCall(entry=BACKWARD, arguments=tuple(taken), results=argument_gradients(task, case))


def _named(named: Mapping[str, Given], key: str | tuple[str, ...]) -> Given | GivenList:
    return named[key] if isinstance(key, str) else GivenList(items=tuple(named[name] for name in key))


def _backward_of_pair(task: Task, case: Case) -> EntryCall:
    gradients = _all(Source.GRADIENT, len(output_gradients(task, case)))
    saved = HandedOver(entry=FORWARD)
    return EntryCall(entry=BACKWARD, arguments=(*gradients, saved), results=argument_gradients(task, case))


def _all(source: Source, count: int) -> tuple[Given, ...]:
    return tuple(Given(source=source, position=number) for number in range(count))


def _mutated(task: Task, case: Case) -> tuple[int, ...]:
    owners = [spec.name for spec in forward_arguments(task, case) for _ in flatten(spec)]
    return tuple(number for name in task.mutates for number, owner in enumerate(owners) if owner == name)


def _grouped(specs: Sequence[Spec]) -> ListSpec:
    items = tuple(item for spec in specs for item in flatten(spec))
    return ListSpec(name="_".join([*(spec.name for spec in specs), "list"]), items=items)
