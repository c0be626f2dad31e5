"""Finds the kernel of the cubin that a launch refers to, from code positions, by names that both compilers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from warpwright.core.launch.plan import Kernel
from warpwright.seal.capture.program import Program
from warpwright.seal.device.names import demangled
from warpwright.seal.device.nvcc import DeviceCode
from warpwright.seal.refusal import refuted


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    names: Mapping[int, str]
    """The names of kernels and device variables, by position in the capture program."""
    kernels: tuple[Kernel, ...]
    variables: Mapping[str, str]

    def name_of(self, code: int) -> str:
        return self.names[code]

    def resources(self) -> tuple[Mapping[str, int], ...]:
        """The assembler's resource figures of each kernel, in the form for a capture program."""
        by_name = {kernel.name: kernel for kernel in self.kernels}
        known = [(code, by_name[name]) for code, name in self.names.items() if name in by_name]
        return tuple({"code": code, **_resources(kernel)} for code, kernel in known)


def bind(program: Program, codes: Iterable[int], device: DeviceCode | None, folder: Path) -> Binding:
    symbols = {code: program.symbol(code) for code in codes}
    if None in symbols.values():
        raise refuted("trace", "the capture program launched a function that is not a kernel")
    mangled = [kernel.symbol for kernel in device.kernels] if device else []
    variables = list(device.variables) if device else []
    names = demangled([*(symbol for symbol in symbols.values() if symbol), *mangled, *variables], folder)
    return Binding(
        names={code: names[symbol] for code, symbol in symbols.items() if symbol},
        kernels=tuple(replace(kernel, name=names[kernel.symbol]) for kernel in (device.kernels if device else ())),
        variables={names[symbol]: symbol for symbol in variables},
    )


def _resources(kernel: Kernel) -> dict[str, int]:
    facts = {"registers": kernel.registers, "local": kernel.stack, "max_threads": kernel.max_threads}
    return {name: value for name, value in facts.items() if value is not None} | {"static_shared": kernel.static_shared}
