"""Triton without a GPU: its driver is replaced by one that compiles for the target and records launches.

Of several configurations of an autotuned kernel, the first that fits the target is taken: no times are measured here.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from warpwright.languages.python.inside.outcomes import unsupported
from warpwright.languages.python.inside.recorder import Recorder
from warpwright.languages.python.record import CompiledKernel

_CACHE = ".triton"
_FORMATS = {
    "i1": "b",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u1": "B",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "fp16": "e",
    "fp32": "f",
    "f32": "f",
    "fp64": "d",
}
_NULL = bytes(8)


class Compiled:
    """A loaded kernel: a handle that Triton passes on to the launcher."""

    def __init__(self, name: str, cubin: bytes, text: str) -> None:
        self.name, self.cubin, self.text = name, cubin, text


class Properties:
    """What Triton asks of the driver about kernels and the device."""

    def __init__(self, gpu: Mapping[str, Any]) -> None:
        self.gpu = gpu
        self.text = ""

    def loading(self, module: object, function: object, name: str, files: Mapping[str, str], key: str) -> None:
        """Triton calls this before it loads a kernel, with the files of its cache."""
        self.text = Path(files[f"{name}.ttir"]).read_text().replace(f"{Path.cwd()}/", "")

    def load_binary(self, name: str, cubin: bytes, shared: int, device: int) -> tuple[object, Compiled, int, int, int]:
        made = Compiled(name, cubin, self.text)
        return made, made, 0, 0, self.gpu["threads_per_block"]

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {
            "max_shared_mem": self.gpu["shared_per_block_optin"],
            "max_num_regs": self.gpu["registers_per_multiprocessor"],
            "multiprocessor_count": self.gpu["multiprocessors"],
            "warpSize": 32,
        }


class RecordingDriver:
    """Stands for the driver of an NVIDIA GPU."""

    def __init__(self, recorder: Recorder, gpu: Mapping[str, Any]) -> None:
        self.utils = Properties(gpu)
        self.launcher_cls = partial(Launcher, recorder)
        self._capability = gpu["major"] * 10 + gpu["minor"]

    def is_active(self) -> bool:
        return True

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        return None

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self._capability, 32)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda


class Launcher:
    """Records launches of one compiled kernel."""

    def __init__(self, recorder: Recorder, source: Any, metadata: Any) -> None:
        self.recorder, self.metadata = recorder, metadata
        self._types = tuple(source.signature.values())
        self._line = source.fn.starting_line_number

    def __call__(self, x: int, y: int, z: int, stream: object, compiled: Compiled, *rest: Any) -> None:
        """`rest` begins with metadata and hooks: packed, launch metadata, enter, exit."""
        if 0 in (x, y, z):
            return
        meta, arguments = self.metadata, rest[4:]
        given = [self._argument(kind, value) for kind, value in _parameters(self._types, arguments)]
        given += [
            self._scratch(meta.global_scratch_size, x * y * z),
            self._scratch(meta.profile_scratch_size, x * y * z),
        ]
        clusters = getattr(meta, "num_ctas", 1)
        self.recorder.launch(
            self._kernel(compiled, given),
            (x * clusters, y, z),
            (32 * meta.num_warps, 1, 1),
            given,
            cluster=(clusters, 1, 1),
            shared=meta.shared,
            cooperative=bool(meta.launch_cooperative_grid),
            attributes={"programmatic_stream_serialization": 1} if meta.launch_pdl else {},
        )

    def _kernel(self, compiled: Compiled, given: Sequence[torch.Tensor | bytes]) -> CompiledKernel:
        return CompiledKernel(
            name=compiled.name,
            cubin=compiled.cubin,
            parameters=tuple(len(item) if isinstance(item, bytes) else 8 for item in given),
            text=compiled.text,
            facts={"warps": self.metadata.num_warps, "stages": self.metadata.num_stages},
            line=self._line,
        )

    def _argument(self, kind: str, value: Any) -> torch.Tensor | bytes:
        if kind.startswith("tensordesc"):
            self.recorder.refuse(unsupported("tensor descriptors that host code makes"))
        if kind.startswith("*"):
            return self._pointer(value)
        if kind == "bf16":
            return struct.pack("<f", value)[2:]
        if kind not in _FORMATS:
            self.recorder.refuse(unsupported(f"arguments of type {kind}"))
        return struct.pack(f"<{_FORMATS[kind]}", value)

    def _pointer(self, value: Any) -> torch.Tensor | bytes:
        if value is None:
            return _NULL
        held: Any = getattr(value, "base", value)
        if not isinstance(held, torch.Tensor):
            self.recorder.refuse(unsupported("addresses that are no tensors"))
        assert isinstance(held, torch.Tensor)
        if held.device.type != "cuda":
            raise ValueError("Pointer argument cannot be accessed from Triton (cpu tensor?)")
        return held

    def _scratch(self, size: int, programs: int) -> torch.Tensor | bytes:
        """Memory that Triton's launcher allocates for a launch."""
        if not size:
            return _NULL
        return torch.empty(size * programs * getattr(self.metadata, "num_ctas", 1), dtype=torch.uint8, device="cuda")


def _parameters(kinds: Sequence[Any], values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The parameters that the device code has: tuples are flat, and constants are left out."""
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, tuple):
            yield from _parameters(kind, tuple(value))
        elif kind != "constexpr":
            yield kind, value


def install(recorder: Recorder, gpu: Mapping[str, Any]) -> None:
    """Replaces Triton's driver. The kernels that Triton compiles stay in the folder of the sandbox."""
    os.environ["TRITON_CACHE_DIR"] = str(Path.cwd() / _CACHE)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    try:
        import triton
        from triton.runtime.autotuner import Autotuner
    except ImportError:
        recorder.refuse(unsupported("Triton kernels without the package triton: pip install 'warpwright[triton]'"))
    driver = RecordingDriver(recorder, gpu)
    triton.runtime.driver.set_active(driver)
    triton.knobs.runtime.kernel_load_start_hook.add(driver.utils.loading)
    Autotuner._bench = _preference
    torch.library.wrap_triton = lambda kernel: kernel


def _preference(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
    """In place of a time: zero for the first configuration that fits the target, more for all others."""
    from triton.compiler.errors import CompileTimeAssertionFailure
    from triton.runtime.errors import OutOfResources, PTXASError

    if getattr(tuner, "_fitting", None) is tuner.nargs:
        return [float("inf")] * 3
    try:
        tuner.fn.run(*args, **{**meta, **config.all_kwargs(), "grid": (1,), "warmup": True})._init_handles()
    except (OutOfResources, PTXASError, CompileTimeAssertionFailure):
        return [float("inf")] * 3
    tuner._fitting = tuner.nargs
    return [0.0] * 3
