"""Compiles the whole source to a cubin with nvcc, and reads the resources of its kernels from the cubin."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.candidate import Flags
from warpwright.core.codec import dumps, loads
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.plan import Kernel, Triple
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import run as sandbox
from warpwright.seal import artefact, toolchain
from warpwright.seal.cache import Store
from warpwright.seal.device import elf, phases
from warpwright.seal.device.diagnose import compile_refusal
from warpwright.seal.refusal import Refused

# The flags with which torch compiles extensions, so that the same sources are accepted with the same meaning.
TORCH_FLAGS = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "-DTORCH_API_INCLUDE_EXTENSION_H",
    "-DTORCH_EXTENSION_NAME=candidate",
    "--expt-relaxed-constexpr",
)
_EXTRA = re.compile(
    r"-[DU]\w+(=[\w.+-]*)?|-O[0-3]|-lineinfo|--?maxrregcount=\d+|-?-(extended-lambda|expt-extended-lambda)"
    r"|--?(ftz|prec-div|prec-sqrt|fmad)=(true|false)"
)
# The parts that the lean form of our headers omits: half types and the standard headers that are slow to parse.
_HEAVY = re.compile(
    r"half|bf16|bfloat|fp8|float8|std\s*::\s*(array|atomic|deque|exception|function|hash|invalid_|list|lock_guard|map|mutex"
    r"|accumulate|iota|shared_ptr|unique_ptr|make_|c(out|err)|endl|o?stringstream|ostream|set|string|to_string|runtime_|logic_"
    r"|out_of|unordered_|variant|visit|reduce|begin|end|back_inserter)|assert\s*\(|INT_MAX",
    re.IGNORECASE,
)
LEAN = ("-DWARPWRIGHT_LEAN",)
_MAX_THREADS, _REQUIRED_BLOCK, _PARAMETER, _CLUSTER = 0x05, 0x10, 0x17, 0x3D
_CUBIN_LIMIT = 256 << 20
LIMITS = sandbox.Limits(cpu_s=120.0, wall_s=900.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """A cubin and its kernels and variables, by mangled name."""

    cubin: bytes
    kernels: tuple[Kernel, ...]
    variables: Mapping[str, int]
    """`__device__` and `__constant__` variables with their sizes in bytes."""
    seconds: float


def arguments(flags: Flags) -> tuple[str, ...]:
    """The options of nvcc, except paths."""
    if wrong := next((flag for flag in flags.extra if not _EXTRA.fullmatch(flag)), None):
        raise UsageError(f"the compiler flag '{wrong}' is not one a candidate may set")
    fast = ("--use_fast_math",) if flags.fast_math else ()
    arch = gpu_named(flags.gpu).arch
    return (f"-arch={arch}", toolchain.STANDARD, "-O3", "-w", *TORCH_FLAGS, *fast, *flags.extra, "-Xptxas", "-v")


def compile_device(folder: Path, flags: Flags, store: Store | None = None) -> DeviceCode | None:
    """The device code of `kernel.cu` in the folder, compiled once for each source and flags; None without nvcc."""
    nvcc = toolchain.nvcc()
    if nvcc is None:
        return None
    if store is None:
        return _compiled(nvcc, folder, flags, None)
    key = toolchain.key_of((folder / "kernel.cu").read_bytes(), flags) + "-device"
    ready = artefact.made_once(store, key, lambda place: _write(_compiled(nvcc, folder, flags, store), place))
    return _read(ready) or _compiled(nvcc, folder, flags, store)


def _write(code: DeviceCode, place: Path) -> None:
    text = dumps(code)
    (place / "device.json").write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")


def _read(place: Path) -> DeviceCode | None:
    """The device code of an entry of the store; None if the file was changed."""
    try:
        digest, _, text = (place / "device.json").read_text().partition("\n")
        code: DeviceCode | None = (
            loads(DeviceCode, text) if digest == hashlib.sha256(text.encode()).hexdigest() else None
        )
    except (OSError, ValueError):
        return None
    return code


def _compiled(nvcc: Path, folder: Path, flags: Flags, store: Store | None) -> DeviceCode:
    """Compiles by the fastest way, and if that fails by nvcc itself with all of our headers."""
    source = (folder / "kernel.cu").read_text(errors="replace")
    code = _shortest(nvcc, folder, flags, source, store)
    if code is None or (isinstance(code, Refused) and not code.hit_limit):
        code = _described_or_refused(_by_nvcc(nvcc, folder, flags), folder, source)
    if isinstance(code, Refused):
        raise code
    return code


def _shortest(nvcc: Path, folder: Path, flags: Flags, source: str, store: Store | None) -> DeviceCode | Refused | None:
    lean = LEAN if is_lean(source) else ()
    steps = shortened(nvcc, flags, lean) if store and phases.has_plain_beginning(source) else None
    if store and steps:
        done = phases.compiled(folder, steps, phases.headers(store, steps), LIMITS)
        return _described_or_refused(done, folder, source)
    return _described_or_refused(_by_nvcc(nvcc, folder, flags, lean), folder, source) if lean else None


def shortened(nvcc: Path, flags: Flags, lean: Sequence[str]) -> phases.Phases | None:
    """nvcc's phases; None if the candidate sets macros, which may change the meaning of our headers."""
    if any(flag.startswith(("-D", "-U")) for flag in flags.extra):
        return None
    return phases.phases(nvcc, (*arguments(flags), *include_flags(), *lean))


def prepare(store: Store) -> list[Path]:
    """Builds in advance the files that the first kernel would otherwise wait for."""
    return [phases.headers(store, steps) for steps in _usual()]


def is_prepared(store: Store) -> bool:
    return all(store.find(phases.key(steps)) for steps in _usual())


def _usual() -> list[phases.Phases]:
    nvcc = toolchain.nvcc()
    both = [shortened(nvcc, Flags(), lean) for lean in (LEAN, ())] if nvcc else []
    return [steps for steps in both if steps]


def _by_nvcc(nvcc: Path, folder: Path, flags: Flags, more: Sequence[str] = ()) -> sandbox.Finished:
    command = [str(nvcc), "-cubin", *arguments(flags), *include_flags(), *more, "kernel.cu", "-o", "kernel.cubin"]
    return sandbox.run(command, readable=toolchain.readable(), writable=folder, limits=LIMITS)


def is_lean(source: str) -> bool:
    """Whether our headers may omit parts that are slow to parse. After a wrong guess, compilation fails and is
    repeated."""
    return not _HEAVY.search(source)


def _described_or_refused(done: sandbox.Finished, folder: Path, source: str) -> DeviceCode | Refused:
    done.blame_machine("compiling device code")
    log = done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace")
    cubin = sandbox.harvest(folder / "kernel.cubin", _CUBIN_LIMIT)
    if done.returncode != 0 or cubin is None:
        return compile_refusal(done, log, source)
    return _described(cubin, log, done.seconds)


def include_flags() -> tuple[str, ...]:
    cutlass = toolchain.cutlass()
    return ("-I", str(toolchain.INCLUDE), *(("-I", str(cutlass)) if cutlass else ()))


def _described(cubin: bytes, log: str, seconds: float) -> DeviceCode:
    try:
        parsed = elf.parse(cubin)
    except elf.NotElf as error:
        raise OurFault(Fault(where="seal", message=f"nvcc wrote {error}")) from None
    resources = ptxas_facts(log)
    names = [name.removeprefix(".nv.info.") for name in parsed.sections if name.startswith(".nv.info.")]
    kernels = tuple(_kernel(name, parsed.sections[f".nv.info.{name}"].data, resources.get(name, {})) for name in names)
    variables = {symbol.name: symbol.size for symbol in parsed.symbols if not symbol.is_function}
    return DeviceCode(cubin=cubin, kernels=kernels, variables=variables, seconds=seconds)


def ptxas_facts(log: str) -> dict[str, dict[str, int]]:
    """Registers, stack, spills and static shared memory per kernel, from the assembler's report."""
    facts: dict[str, dict[str, int]] = {}
    for name, report in re.findall(r"Compiling entry function '(\S+)' for(.*?)(?=Compiling entry|\Z)", log, re.DOTALL):
        patterns = {
            "registers": r"Used (\d+) registers",
            "stack": r"(\d+) bytes stack frame",
            "spill_stores": r"(\d+) bytes spill stores",
            "spill_loads": r"(\d+) bytes spill loads",
            "static_shared": r"(\d+) bytes smem",
        }
        found = {fact: re.search(pattern, report) for fact, pattern in patterns.items()}
        facts[name] = {fact: int(match[1]) for fact, match in found.items() if match}
    return facts


def _kernel(symbol: str, info: bytes, resources: Mapping[str, int]) -> Kernel:
    parameters: dict[int, int] = {}
    max_threads: int | None = None
    cluster: Triple | None = None
    for attribute, payload in _attributes(info):
        if attribute == _PARAMETER and len(payload) == 12:
            _, ordinal, _, packed = struct.unpack("<IHHI", payload)
            parameters[ordinal] = packed >> 18
        elif attribute in (_MAX_THREADS, _REQUIRED_BLOCK) and len(payload) == 12:
            x, y, z = struct.unpack("<III", payload)
            max_threads = x * y * z
        elif attribute == _CLUSTER and len(payload) == 12:
            cluster = struct.unpack("<III", payload)
    sizes = tuple(parameters[ordinal] for ordinal in sorted(parameters))
    return Kernel(
        name=symbol, symbol=symbol, parameters=sizes, max_threads=max_threads, cluster=cluster, **dict(resources)
    )


def _attributes(info: bytes) -> Iterator[tuple[int, bytes]]:
    """Records of `.nv.info`: a format, an attribute, and a value of two bytes or a length and that many bytes."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        payload = info[at : at + size] if form == 4 else b""
        at += len(payload)
        yield attribute, payload
