"""One call of a function: its inputs, outputs and mutated arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from warpwright.core.errors import UsageError
from warpwright.core.task import Work
from warpwright.tasks.probing.child.recording import Origin
from warpwright.tasks.probing.child.sizes.working import tallied
from warpwright.tasks.probing.child.values import made, seen_tensor
from warpwright.tasks.probing.seen import Purpose, Run, Seen, TensorSeen

if TYPE_CHECKING:
    import torch

Call = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The function under observation, on tensors of `device` and on tensors with data."""

    call: Call
    real: Callable[[], Call]
    """Builds the function for tensors with data; called only if needed, because a module may be large."""
    device: str
    module: bool = False
    state: Mapping[str, TensorSeen] = field(default_factory=dict)
    """Parameters and buffers of a module, which follow the arguments; the module holds them itself."""

    def run(self, arguments: tuple[Seen, ...], purpose: Purpose = Purpose.GIVEN) -> Run:
        import torch

        values = [made(argument, self.device) for argument in arguments]
        with torch.no_grad():
            found = _required(self.call(*values))
        names = output_names(len(found), {seen.name for seen in (*arguments, *self.state.values())})
        outputs = tuple(seen_tensor(name, tensor, Origin()) for name, tensor in zip(names, found, strict=True))
        return Run(purpose=purpose, arguments=(*arguments, *self.state.values()), outputs=outputs)

    def multiplications(self, arguments: tuple[Seen, ...]) -> int:
        """Counts the multiplications of matrix products, convolutions and attention in one call, by shapes alone."""
        import torch

        values = [made(argument, self.device) for argument in arguments]
        with torch.no_grad(), tallied(()) as tally:
            self.call(*values)
        return tally.multiplications

    def least_work(self, arguments: tuple[Seen, ...], ignored: Collection[str] = ()) -> Work:
        """Counts the least work of one call. Results do not depend on the `ignored` arguments."""
        import torch

        values = [made(argument, self.device) for argument in arguments]
        held = {seen.name: list(tensors_in(value)) for seen, value in zip(arguments, values, strict=True)}
        shaped = [seen.name for seen in arguments if isinstance(seen, TensorSeen) and seen.init in ("upper", "lower")]
        state = self.call.state_dict().values() if self.module else ()  # type: ignore[attr-defined]
        every = [*chain(*held.values()), *state]
        with torch.no_grad(), tallied(every, list(chain(*(held[name] for name in shaped)))) as tally:
            results = tensors_in(self.call(*values))
        return tally.work(results, list(chain(*(held[name] for name in ignored))))

    def ignores(self, arguments: tuple[Seen, ...]) -> tuple[str, ...]:
        """Returns the arguments whose values do not change the results."""
        import torch

        torch.manual_seed(0)
        values = [made(argument, "cpu") for argument in arguments]
        before = self._results(values)
        found = []
        for number, argument in enumerate(arguments):
            if isinstance(argument, TensorSeen):
                changed = [*values[:number], made(argument, "cpu"), *values[number + 1 :]]
                if all(map(_is_same, before, self._results(changed))):
                    found.append(argument.name)
        return tuple(found)

    def _results(self, values: Sequence[Any]) -> list[torch.Tensor]:
        import torch

        with torch.no_grad():
            return [_wide(tensor).clone() for tensor in tensors_in(self.real()(*map(_copied, values)))]

    def flows(self, arguments: tuple[Seen, ...]) -> list[bool]:
        """Returns for each output whether a gradient flows through it."""
        values = [made(argument, self.device) for argument in arguments]
        for tensor in tensors_in(values):
            tensor.requires_grad_(tensor.is_floating_point())
        try:
            return [tensor.requires_grad for tensor in tensors_in(self.call(*values))]
        except RuntimeError:  # mutates an argument, which autograd forbids for leaves
            return [tensor.grad for tensor in self.run(arguments).outputs]

    def mutates(self, arguments: tuple[Seen, ...]) -> tuple[str, ...]:
        """Returns the arguments that the function writes to, without a module's own state."""
        import torch

        values = [made(argument, self.device) for argument in arguments]
        before = [_versions(value) for value in values]
        with torch.no_grad():
            self.call(*values)
        changed = zip(arguments, values, before, strict=True)
        return tuple(argument.name for argument, value, versions in changed if _versions(value) != versions)

    def gives_finite_results(self, arguments: tuple[Seen, ...], distribution: str | None = None) -> bool:
        """Whether a call with data gives finite results; it may fail although a call without data works."""
        import torch

        values = [made(argument, "cpu", distribution) for argument in arguments]
        try:
            with torch.no_grad():
                found = tensors_in(self.real()(*values))
        except (RuntimeError, IndexError, ValueError, ArithmeticError, TypeError):
            return False
        return all(bool(_wide(tensor).isfinite().all()) for tensor in found)


def _required(returned: Any) -> list[torch.Tensor]:
    if isinstance(returned, Mapping):
        kind = type(returned).__name__
        raise UsageError(f"returns a {kind}, which is not understood; return a tensor, or a tuple of tensors")
    if found := tensors_in(returned):
        return found
    raise UsageError("returns no tensor; a kernel has nothing to compute")


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """Converts 8-bit floats, which support no operations but conversions."""
    return tensor.float() if tensor.is_floating_point() and tensor.itemsize == 1 else tensor


def tensors_in(value: Any) -> list[torch.Tensor]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, list | tuple) else []


def output_names(count: int, taken: set[str]) -> list[str]:
    stem = next(name for name in ("y", "out", "result", "result_of_task") if name not in taken)
    return [stem] if count == 1 else [f"{stem}{number}" for number in range(count)]


def _copied(value: Any) -> Any:
    """Copies tensors, since a function may write to its arguments."""
    return [_copied(item) for item in value] if isinstance(value, list) else getattr(value, "clone", lambda: value)()


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and bool(((one == other) | (one.isnan() & other.isnan())).all())


def _versions(value: Any) -> list[int]:
    return [tensor._version for tensor in tensors_in(value)]


def per_argument_draws(arguments: Sequence[Seen]) -> tuple[Seen, ...]:
    """Gives uniform inputs their own recipe if other inputs are normal."""
    draws = {seen.draw for seen in arguments if isinstance(seen, TensorSeen) and seen.draw and not seen.init}
    if draws <= {"unit"} or "unit" not in draws:
        return tuple(arguments)
    return tuple(
        replace(seen, init="unit") if isinstance(seen, TensorSeen) and seen.draw == "unit" and not seen.init else seen
        for seen in arguments
    )
