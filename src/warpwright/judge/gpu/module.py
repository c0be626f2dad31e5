"""The cubins of a candidate, loaded into the current context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import c_void_p

from warpwright.core.launch.plan import Kernel
from warpwright.judge.gpu import driver


class Module:
    """Loaded cubins, with kernels and device variables by demangled name. Use it as a context manager."""

    def __init__(self, cubins: Sequence[bytes], kernels: tuple[Kernel, ...], symbols: Mapping[str, str]) -> None:
        self._handles = [driver.load_module(cubin) for cubin in cubins]
        self._kernels = {kernel.name: kernel for kernel in kernels}
        self._symbols = symbols
        self._functions: dict[str, c_void_p] = {}
        self._pristine = {name: driver.download(*self.variable(name)) for name in symbols}

    def function(self, name: str) -> c_void_p:
        if name not in self._functions:
            kernel = self._kernels[name]
            self._functions[name] = driver.find_function(self._handles[kernel.module], kernel.symbol)
        return self._functions[name]

    def variable(self, name: str) -> tuple[int, int]:
        """Returns the address and the size of a device variable, which only the first cubin has."""
        return driver.find_global(self._handles[0], self._symbols[name])

    def address(self, name: str) -> int | None:
        """Returns the address of a device variable; None if no kernel uses it."""
        return self.variable(name)[0] if name in self._symbols else None

    def restore(self, stream: int) -> None:
        """Restores every device variable to its value after loading, so that a call cannot pass data to the next
        one.
        """
        for name, contents in self._pristine.items():
            driver.upload(self.variable(name)[0], contents, stream)

    def close(self) -> None:
        for handle in self._handles:
            driver.unload_module(handle)

    def __enter__(self) -> Module:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
