"""Records what Python code does on the device, step by step. All parts of the sandboxed code write to one recorder.

The log holds the steps of the constructor and of every call. The record of a call is the part of the log on which its
results depend: a weight that the constructor or an earlier call transformed is transformed in the record, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from warpwright.core.dtypes import BY_TORCH_NAME
from warpwright.core.launch.plan import Constant, Fill, Library, Triple, View
from warpwright.languages.python.inside.outcomes import Refusal
from warpwright.languages.python.record import Allocate, CompiledKernel, KernelLaunch, Step, Word

SETUP = -1
"""The number of the constructor's call."""


@dataclass(slots=True)
class Memory:
    """One storage, with the allocation that makes one like it."""

    storage: Any
    number: int
    allocate: Allocate
    call: int
    """The call that made it."""
    argument: int | None = None
    """Its position among the tensors that the current call is given."""
    is_input: bool = False
    """Whether some call was given it, and not the module."""
    private: bool = False
    """Whether it is a buffer of the module, which a call may change for itself."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A step and the call that made it."""

    call: int
    step: Step


class Recorder:
    def __init__(self, space: int, arguments: int = 0) -> None:
        """`arguments` is the number of tensors that a call is given, those of the module included."""
        self.arguments = arguments
        self.log: list[Logged] = []
        self.memory: list[Memory] = []
        self.kernels: dict[str, CompiledKernel] = {}
        self.notes: list[str] = []
        """What the candidate tried in vain, such as an extension that does not compile."""
        self.call = SETUP
        self.refusal: Refusal | None = None
        self._numbers: dict[int, int] = {}
        self._space = space

    def refuse(self, refusal: Refusal) -> None:
        """Ends the call. Python code may catch the exception and take another path, so the refusal is kept."""
        self.refusal = self.refusal or refusal
        raise refusal

    # Memory

    def begin(self, call: int) -> None:
        """Begins a call. The inputs of earlier ones are no arguments any more."""
        self.call, self.refusal = call, None
        for memory in self.memory:
            if memory.is_input:
                memory.argument = None

    def given(self, tensor: torch.Tensor, position: int) -> None:
        """Registers an input of the current call."""
        memory = self.memory[self.number(tensor)]
        memory.argument, memory.is_input = position, True

    def held(self, tensor: torch.Tensor, position: int, *, private: bool) -> None:
        """Registers a tensor of the module that every call is given."""
        memory = self.memory[self.number(tensor)]
        memory.argument, memory.private = position, private

    def knows(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage()._cdata in self._numbers

    def number(self, tensor: torch.Tensor) -> int:
        """The number of a tensor's memory, which is new if it was not seen before."""
        storage = tensor.untyped_storage()
        number = self._numbers.setdefault(storage._cdata, len(self.memory))
        if number == len(self.memory):
            # The reference keeps the storage, so that no other gets its address.
            made = Memory(storage=storage, number=number, allocate=_allocation(tensor, number), call=self.call)
            self.memory.append(made)
        return number

    def view(self, tensor: torch.Tensor) -> View:
        return View(
            buffer=self.number(tensor),
            offset=int(tensor.storage_offset()) * tensor.element_size(),
            shape=tuple(tensor.shape),
            stride=tuple(tensor.stride()),
            dtype=dtype_name(tensor.dtype),
        )

    def address(self, tensor: torch.Tensor) -> int:
        """A fake address of a tensor's first element, aligned as torch aligns memory and different in every process."""
        return self.base(self.number(tensor)) + int(tensor.storage_offset()) * tensor.element_size()

    def base(self, number: int) -> int:
        return ((16 + 19 * self._space) << 40) + ((number + 1) << 36)

    # Steps

    def add(self, step: Step) -> None:
        self.log.append(Logged(self.call, step))

    def operation(
        self,
        name: str,
        inputs: Sequence[View | Constant | None],
        outputs: Sequence[View],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Records an operation of torch."""
        self.add(Library(operation=name, inputs=tuple(inputs), outputs=tuple(outputs), options=options or {}))

    def fill(self, target: View, value: bool | int | float) -> None:
        self.add(Fill(target=target, value=value))

    def launch(
        self,
        kernel: CompiledKernel,
        grid: Triple,
        block: Triple,
        arguments: Iterable[torch.Tensor | bytes],
        *,
        cluster: Triple = (1, 1, 1),
        shared: int = 0,
        cooperative: bool = False,
        attributes: Mapping[str, int] | None = None,
    ) -> None:
        """Records a launch of a kernel that Python code compiled. A tensor stands for the address of its first
        element.
        """
        key = f"{kernel.name}_{_digest(kernel)}"
        self.kernels.setdefault(key, kernel)
        given = tuple(Word(data=item) if isinstance(item, bytes) else self.view(item) for item in arguments)
        self.add(
            KernelLaunch(
                kernel=key,
                grid=grid,
                block=block,
                cluster=cluster,
                shared=shared,
                cooperative=cooperative,
                attributes=attributes or {},
                arguments=given,
            )
        )


def _digest(kernel: CompiledKernel) -> str:
    """Equal in every process: folders of the sandbox, which debugging information names, do not count."""
    parts = (kernel.text or kernel.cubin, kernel.parameters, sorted(kernel.facts.items()))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def _allocation(tensor: torch.Tensor, number: int) -> Allocate:
    """The allocation of a tensor's whole memory."""
    if tensor.storage_offset() == 0 and tensor.untyped_storage().nbytes() == _reach(tensor):
        shape, stride, dtype = tuple(tensor.shape), tuple(tensor.stride()), dtype_name(tensor.dtype)
    else:
        shape, stride, dtype = (tensor.untyped_storage().nbytes(),), (1,), "uint8"
    return Allocate(buffer=number, shape=shape, stride=stride, dtype=dtype)


def _reach(tensor: torch.Tensor) -> int:
    """The bytes up to the end of the last element."""
    if not tensor.numel():
        return 0
    return (1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))) * (
        tensor.element_size()
    )


def dtype_name(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    known = BY_TORCH_NAME.get(name)
    return known.name if known else name
