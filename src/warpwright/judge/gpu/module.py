"""A cubin loaded into the current context."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_void_p

from warpwright.core.launch.plan import Kernel
from warpwright.judge.gpu import driver


class Module:
    """Kernels by demangled name and device variables by demangled name. Use as a context manager."""

    def __init__(self, cubin: bytes, kernels: tuple[Kernel, ...], symbols: Mapping[str, str]) -> None:
        self._handle = driver.load_module(cubin)
        self._kernels = {kernel.name: kernel.symbol for kernel in kernels}
        self._symbols = symbols
        self._functions: dict[str, c_void_p] = {}
        self._pristine = {name: driver.download(*self.variable(name)) for name in symbols}

    def function(self, name: str) -> c_void_p:
        if name not in self._functions:
            self._functions[name] = driver.find_function(self._handle, self._kernels[name])
        return self._functions[name]

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a device variable."""
        return driver.find_global(self._handle, self._symbols[name])

    def address(self, name: str) -> int | None:
        """Of a device variable; None where no kernel uses it."""
        return self.variable(name)[0] if name in self._symbols else None

    def restore(self, stream: int) -> None:
        """Puts every device variable back to what it was after loading: no call can leave notes for the next."""
        for name, contents in self._pristine.items():
            driver.upload(self.variable(name)[0], contents, stream)

    def close(self) -> None:
        driver.unload_module(self._handle)

    def __enter__(self) -> Module:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
