"""The part of the log on which a call depends, as a record of its own.

Steps that depend on no input, such as a transposed weight, come first, whichever call made them. Memory of an earlier
call that depends on its inputs holds nothing: candidates keep buffers that they write before they read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count
from typing import Any

from warpwright.core.launch.plan import Constant, Fill, Library, View
from warpwright.languages.python.inside.outcomes import keeps_state, unsupported
from warpwright.languages.python.inside.recorder import SETUP, Logged, Memory, Recorder
from warpwright.languages.python.record import Allocate, ExtensionCall, KernelLaunch, Listed, Record, Step

COPIED = "copy_"


def record_of(recorder: Recorder, returns: Sequence[View | Constant | None]) -> Record:
    """The record of the current call."""
    return _Dependence(recorder).record(returns)


@dataclass(slots=True)
class _Dependence:
    recorder: Recorder

    def record(self, returns: Sequence[View | Constant | None]) -> Record:
        roots = {view.buffer for view in returns if isinstance(view, View)}
        log = self.recorder.log
        varying = self._varying(log)
        kept = self._needed(log, varying, roots)
        self._check(kept, roots)
        ordered = [item.step for item in kept if id(item) not in varying]
        ordered += [item.step for item in kept if id(item) in varying]
        memory = self.recorder.memory
        return _numbered(_with_private_copies(ordered, memory), returns, memory, self.recorder.arguments)

    def _varying(self, log: Sequence[Logged]) -> set[int]:
        """The steps that depend on the inputs of a call, or that must stay behind one that does."""
        tainted = {item.number for item in self.recorder.memory if item.is_input}
        touched: set[int] = set()
        found: set[int] = set()
        for item in log:
            read, written = reads(item.step), writes(item.step)
            if (read | written) & tainted or written & touched:
                found.add(id(item))
                tainted |= written
                touched |= read
        return found

    def _needed(self, log: Sequence[Logged], varying: set[int], roots: set[int]) -> list[Logged]:
        """The steps that the results depend on, and all kernels of this call."""
        needed, kept = set(roots), []
        given = {item.number for item in self.recorder.memory if item.argument is not None}
        for item in reversed(log):
            now = item.call == self.recorder.call
            own = now and isinstance(item.step, ExtensionCall | KernelLaunch)
            usable = now or not (id(item) in varying or writes(item.step) & given)
            if usable and (own or writes(item.step) & needed):
                needed |= reads(item.step) | writes(item.step)
                kept.append(item)
        return kept[::-1]

    def _check(self, kept: Sequence[Logged], roots: set[int]) -> None:
        """Refuses a call that reads or returns what neither it nor a step without inputs computed."""
        written = {item.number for item in self.recorder.memory if item.argument is not None}
        for item in kept:
            if isinstance(item.step, Library | Fill):
                self._check_read(reads(item.step) - written - self._fresh())
            written |= writes(item.step)
        if roots - written - self._fresh():
            self.recorder.refuse(keeps_state("a call returns what an earlier call computed"))

    def _check_read(self, unknown: set[int]) -> None:
        if any(self.recorder.memory[number].call == SETUP for number in unknown):
            self.recorder.refuse(unsupported("values that the constructor drew, and that the reference does not have"))
        if unknown:
            self.recorder.refuse(keeps_state("a call reads what an earlier call computed from its inputs"))

    def _fresh(self) -> set[int]:
        """Memory that this call allocated: what it holds is for the later checks to say."""
        return {item.number for item in self.recorder.memory if item.call == self.recorder.call}


def reads(step: Step) -> set[int]:
    match step:
        case Library():
            return {item.buffer for item in step.inputs if isinstance(item, View)}
        case Fill():
            return set()
        case ExtensionCall() | KernelLaunch():
            return _buffers(step)
    return set()


def writes(step: Step) -> set[int]:
    match step:
        case Library():
            return {item.buffer for item in step.outputs}
        case Fill():
            return {step.target.buffer}
        case ExtensionCall() | KernelLaunch():
            return _buffers(step)
    return set()


def _buffers(step: ExtensionCall | KernelLaunch) -> set[int]:
    values: list[Any] = [*step.arguments]
    if isinstance(step, ExtensionCall):
        values += [*step.keywords.values(), *step.results]
    values += [item for value in values if isinstance(value, Listed) for item in value.items]
    return {item.buffer for item in values if isinstance(item, View)}


def _with_private_copies(steps: Sequence[Step], memory: Sequence[Memory]) -> list[Step]:
    """The steps, with a copy of every private argument before the first step that changes it."""
    found: list[Step] = []
    copies: dict[int, int] = {}
    for step in steps:
        changed = writes(step) if isinstance(step, Library | Fill) else set()
        for number in sorted(changed - copies.keys()):
            if memory[number].private:
                copies[number] = len(memory) + len(copies)
                found += _copy(memory[number], copies[number])
        found.append(_renumbered(step, copies))
    return found


def _copy(memory: Memory, number: int) -> list[Step]:
    made = replace(memory.allocate, buffer=number)
    whole = View(buffer=memory.number, offset=0, shape=made.shape, stride=made.stride, dtype=made.dtype)
    return [made, Library(operation=COPIED, inputs=(whole,), outputs=(replace(whole, buffer=number),))]


def _numbered(
    steps: Sequence[Step], returns: Sequence[View | Constant | None], memory: Sequence[Memory], arguments: int
) -> Record:
    """Numbers memory anew: arguments by position, all else in the order of its first use, with its allocation."""
    numbers = {item.number: item.argument for item in memory if item.argument is not None}
    fresh = count(arguments)
    made = {step.buffer for step in steps if isinstance(step, Allocate)}
    found: list[Step] = []
    for step in steps:
        results = {view.buffer for view in step.results} if isinstance(step, ExtensionCall) else set()
        for number in sorted(_mentioned(step) - numbers.keys()):
            numbers[number] = next(fresh)
            if number not in made and number not in results:
                found.append(replace(memory[number].allocate, buffer=numbers[number]))
        found.append(_renumbered(step, numbers))
    for view in returns:
        if isinstance(view, View) and view.buffer not in numbers:
            numbers[view.buffer] = next(fresh)
            found.append(replace(memory[view.buffer].allocate, buffer=numbers[view.buffer]))
    return Record(steps=tuple(found), returns=_renumbered(tuple(returns), numbers))


def _mentioned(step: Step) -> set[int]:
    return {step.buffer} if isinstance(step, Allocate) else reads(step) | writes(step)


def _renumbered(value: Any, numbers: Mapping[int, int]) -> Any:
    """The value with the numbers of memory replaced."""
    if isinstance(value, tuple):
        return tuple(_renumbered(item, numbers) for item in value)
    if isinstance(value, Mapping):
        return {key: _renumbered(item, numbers) for key, item in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    inner = {item.name: _renumbered(getattr(value, item.name), numbers) for item in fields(value)}
    if isinstance(value, View | Allocate):
        inner["buffer"] = numbers.get(value.buffer, value.buffer)
    return replace(value, **inner)
