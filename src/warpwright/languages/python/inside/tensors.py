"""Tensors without data on a device that is not there, and what operations on them do.

torch's own fake tensors carry shapes, types and strides through every operation. This mode sees each operation after
torch has reduced it to its kernels, and records it. Small tensors on the CPU keep their data, so that tables, sizes and
scalars that Python computes have values; what depends on random numbers or on the device has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from warpwright.core.launch.plan import Constant, View
from warpwright.languages.python.inside.canonical import Canonical, canonical
from warpwright.languages.python.inside.outcomes import reads_device_data, unsupported
from warpwright.languages.python.inside.recorder import SETUP, Recorder, dtype_name

MOST_KNOWN = 1 << 20
"""The largest tensor on the CPU, in bytes, that keeps its data."""
_RANDOM = torch.Tag.nondeterministic_seeded
_aten = torch.ops.aten
_COPIES = (_aten._to_copy.default, _aten.clone.default)
_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}
_FULL = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}
_FULL_OF = {"full": 1, "full_like": 1, "new_full": 2, "scalar_tensor": 0}


class Recording(TorchDispatchMode):
    """Records operations; the mode of fake tensors must be active below it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder = recorder
        self.known: dict[int, torch.UntypedStorage] = {}
        self.origins: dict[int, str] = {}
        """What the contents of memory are made of, by its number: equal for equal contents."""
        self._drawn = {"cpu": "seed", "cuda": "seed of the device"}

    def restart_random_numbers(self) -> None:
        self._drawn = {"cpu": "seed", "cuda": "seed of the device"}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func.namespace != "aten":
            return func(*args, **kwargs)
        if func is _aten._local_scalar_dense.default:
            return self._scalar(args[0])
        given = [item for item in tree_leaves((args, kwargs)) if isinstance(item, torch.Tensor)]
        before = {self.recorder.number(item) for item in given if self._is_fake(item)}
        outputs = self._faked(func, args, kwargs)
        produced = [item for item in tree_leaves(outputs) if isinstance(item, torch.Tensor)]
        for item in produced:
            # torch computes on the data of constants itself, on a device that is not there.
            item.constant = None  # type: ignore[attr-defined]
        if self._evaluated(func, args, kwargs, given, produced):
            return outputs
        self._record(func, args, kwargs, given, produced, before)
        return outputs

    def _faked(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        try:
            return func(*args, **kwargs)
        except DataDependentOutputException:
            self.recorder.refuse(reads_device_data(f"{func._schema.name.removeprefix('aten::')}"))
        except DynamicOutputShapeException:
            self.recorder.refuse(reads_device_data(f"the size of {func._schema.name.removeprefix('aten::')}"))

    # Data on the CPU

    @staticmethod
    def _is_fake(tensor: torch.Tensor) -> bool:
        return isinstance(tensor, torch._subclasses.fake_tensor.FakeTensor)

    def data_of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The data of a tensor, if it has any."""
        if not self._is_fake(tensor):
            return tensor
        if not self.recorder.knows(tensor):
            return None
        storage = self.known.get(self.recorder.number(tensor))
        if storage is None:
            return None
        with _disable_current_modes():
            empty = torch.empty(0, dtype=tensor.dtype)
            return empty.set_(storage, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))

    def _scalar(self, tensor: torch.Tensor) -> Any:
        data = self.data_of(tensor)
        if data is None:
            self.recorder.refuse(reads_device_data(f"one value of a {list(tensor.shape)} tensor"))
        assert data is not None
        with _disable_current_modes():
            return data.item()

    def _evaluated(
        self, func: Any, args: Any, kwargs: Any, given: Sequence[torch.Tensor], produced: Sequence[torch.Tensor]
    ) -> bool:
        """Computes an operation on data, if all its operands have some; tells whether it did."""
        name = func._schema.name.removeprefix("aten::")
        device = kwargs.get("device")
        of_device = any(item.device.type != "cpu" for item in (*given, *produced)) or str(device).startswith("cuda")
        if _RANDOM in func.tags or name in _EMPTY or (of_device and (given or name in _FULL or name in _FULL_OF)):
            return False
        if sum(item.numel() * item.element_size() for item in produced) > MOST_KNOWN:
            return False
        data = {id(item): self.data_of(item) for item in given}
        if any(value is None for value in data.values()):
            return False
        with _disable_current_modes():
            real_args, real_kwargs = tree_map(
                lambda item: data[id(item)] if isinstance(item, torch.Tensor) else item, (tuple(args), kwargs)
            )
            if "device" in real_kwargs:
                real_kwargs["device"] = torch.device("cpu")
            results = [item for item in tree_leaves(func(*real_args, **real_kwargs)) if isinstance(item, torch.Tensor)]
        for fake, real in zip(produced, results, strict=True):
            if not self.recorder.knows(fake):
                self._know(fake, real)
        for item in given:
            if self._is_fake(item):
                self._name_data(self.recorder.number(item))
        return True

    def _know(self, fake: torch.Tensor, real: torch.Tensor) -> None:
        number = self.recorder.number(fake)
        with _disable_current_modes():
            held = torch.empty(0, dtype=real.dtype).set_(
                real.untyped_storage().clone(), real.storage_offset(), tuple(real.shape), tuple(real.stride())
            )
        self.known[number] = held.untyped_storage()
        self._name_data(number)

    def _name_data(self, number: int) -> None:
        if number in self.known:
            with _disable_current_modes():
                data = bytes(torch.empty(0, dtype=torch.uint8).set_(self.known[number]).numpy())
            self.origins[number] = f"data {hashlib.sha1(data).hexdigest()}"

    # Operations

    def operand(self, tensor: torch.Tensor) -> View | Constant:
        """A tensor as an operand of a step."""
        data = self.data_of(tensor)
        return self.recorder.view(tensor) if data is None else constant(data)

    def _record(
        self,
        func: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        given: Sequence[torch.Tensor],
        produced: Sequence[torch.Tensor],
        before: set[int],
    ) -> None:
        name = func._schema.name.removeprefix("aten::")
        fresh = [item for item in produced if not self.recorder.knows(item)]
        written = _written(func, args, kwargs)
        if not fresh and not written:
            return
        if _RANDOM in func.tags and _draws(name, kwargs, args):
            self._draw(func, args, kwargs, fresh or written)
            return
        self._name(func, args, kwargs, given, [*fresh, *written])
        for item in written:
            self.known.pop(self.recorder.number(item), None)
        if name in _EMPTY:
            return
        if name == "lift_fresh":
            return
        if (value := _filled(name, args)) is not None:
            for item in (*fresh, *written):
                self.recorder.fill(self.recorder.view(item), value)
        elif func in _COPIES:
            self.recorder.operation("copy_", [self.operand(args[0])], [self.recorder.view(fresh[0])])
        elif name == "copy_":
            self.recorder.operation("copy_", [self.operand(args[1])], [self.recorder.view(args[0])])
        else:
            self._operation(canonical(func, args, kwargs), produced, written)

    def _operation(self, form: Canonical, produced: Sequence[torch.Tensor], written: Sequence[torch.Tensor]) -> None:
        inputs = [None if item is None else self.operand(item) for item in form.inputs]
        targets = written if form.in_place else produced
        self.recorder.operation(form.name, inputs, [self.recorder.view(item) for item in targets], form.options)

    def _draw(self, func: Any, args: Any, kwargs: Any, targets: Sequence[torch.Tensor]) -> None:
        """Random numbers: the constructor's are parameters, and those of a call would differ every time."""
        if self.recorder.call != SETUP:
            self.recorder.refuse(unsupported(f"random numbers ({func._schema.name.removeprefix('aten::')})"))
        kind = targets[0].device.type
        plain = [item for item in (*args, *kwargs.values()) if isinstance(item, int | float | torch.dtype)]
        shapes = [tuple(item.shape) for item in targets]
        self._drawn[kind] = _digest(self._drawn[kind], func, plain, shapes)
        for item in targets:
            number = self.recorder.number(item)
            self.known.pop(number, None)
            self.origins[number] = self._drawn[kind]

    def _name(self, func: Any, args: Any, kwargs: Any, given: Any, targets: Sequence[torch.Tensor]) -> None:
        """Names the new contents of memory by the operation that made them. Moving data leaves its name."""
        if func in _COPIES and dtype_name(args[0].dtype) == dtype_name(targets[0].dtype) and args[0].is_contiguous():
            made_of = self.made_of(args[0])
        else:
            plain = [item for item in tree_leaves((args, kwargs)) if not isinstance(item, torch.Tensor)]
            plain = [item for item in plain if not isinstance(item, torch.device)]
            made_of = _digest(func, plain, [(self.made_of(item), _window(item)) for item in given])
        for number, item in enumerate(targets):
            self.origins[self.recorder.number(item)] = made_of if not number else _digest(made_of, number)

    def made_of(self, tensor: torch.Tensor) -> str:
        """What the contents of a tensor are made of."""
        if not self._is_fake(tensor):
            return f"data {hashlib.sha1(bytes(tensor.contiguous().view(-1).view(torch.uint8).numpy())).hexdigest()}"
        number = self.recorder.number(tensor)
        return self.origins.setdefault(number, f"memory {number}")


def constant(data: torch.Tensor) -> Constant:
    with _disable_current_modes():
        plain = data.detach().contiguous()
        content = bytes(plain.reshape(-1).view(torch.uint8).numpy()) if plain.numel() else b""
        stride = tuple(plain.stride())
    return Constant(shape=tuple(data.shape), stride=stride, dtype=dtype_name(data.dtype), data=content)


def _written(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that an operation writes in place."""
    arguments = func._schema.arguments
    pairs = [
        (argument, args[i] if i < len(args) else kwargs.get(argument.name)) for i, argument in enumerate(arguments)
    ]
    marked = [value for argument, value in pairs if argument.alias_info is not None and argument.alias_info.is_write]
    return [item for item in tree_leaves(marked) if isinstance(item, torch.Tensor)]


def _filled(name: str, args: Sequence[Any]) -> Any:
    """The value that an operation fills its result with; None for other operations."""
    if name in _FULL or name == "zero_":
        return _FULL.get(name, 0)
    position = 1 if name == "fill_" else _FULL_OF.get(name)
    value = args[position] if position is not None and position < len(args) else None
    return value if isinstance(value, bool | int | float) else None


def _draws(name: str, kwargs: Mapping[str, Any], args: Sequence[Any]) -> bool:
    """Whether an operation that may draw random numbers does so here."""
    return not (name == "_scaled_dot_product" or (name == "native_dropout" and args[2] is False))


def _window(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), str(tensor.dtype)


def _digest(*parts: Any) -> str:
    return hashlib.sha1(repr([str(part) for part in parts]).encode()).hexdigest()
