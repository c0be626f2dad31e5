"""The CUDA driver through ctypes: the few calls that a launch plan needs. Works in torch's own context."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int, c_size_t, c_uint, c_void_p, sizeof
from functools import cache

from warpwright.core.errors import OurFault
from warpwright.core.launch.plan import Triple
from warpwright.core.records.evidence import Fault

LIBRARY = "libcuda.so.1"
_ATTRIBUTE_IDS = {
    "cooperative": 2,
    "cluster_dimension": 4,
    "cluster_scheduling_policy": 5,
    "programmatic_stream_serialization": 6,
    "priority": 8,
}
FUNCTION_ATTRIBUTES = {
    "max_dynamic_shared": 8,
    "shared_carveout": 9,
    "cluster_width": 11,
    "cluster_height": 12,
    "cluster_depth": 13,
    "non_portable_cluster": 14,
    "cluster_scheduling_policy": 15,
}


class CudaError(Exception):
    """A failed driver call. The caller decides whose fault it is."""

    def __init__(self, call: str, code: int, name: str) -> None:
        self.call, self.code, self.name = call, code, name
        super().__init__(f"{call} failed: {name} ({code})")


class _AttributeValue(ctypes.Union):
    _fields_ = (("flag", c_int), ("triple", c_uint * 3), ("pad", c_char * 64))


class _Attribute(Structure):
    _fields_ = (("id", c_int), ("pad", c_char * 4), ("value", _AttributeValue))


class _Config(Structure):
    _fields_ = (
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", POINTER(_Attribute)),
        ("count", c_uint),
    )


@cache
def library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise OurFault(Fault(where="CUDA driver", message=f"{LIBRARY} cannot be loaded: {error}")) from None


def call(name: str, *arguments: object) -> None:
    """Calls a driver function by name; raises CudaError unless it succeeds."""
    code = getattr(library(), name)(*arguments)
    if code != 0:
        raise CudaError(name, code, _error_name(code))


def _error_name(code: int) -> str:
    text = c_char_p()
    known = library().cuGetErrorName(code, byref(text)) == 0
    return text.value.decode() if known and text.value else "unknown error"


def load_module(image: bytes) -> c_void_p:
    module = c_void_p()
    call("cuModuleLoadData", byref(module), image)
    return module


def unload_module(module: c_void_p) -> None:
    call("cuModuleUnload", module)


def find_function(module: c_void_p, symbol: str) -> c_void_p:
    function = c_void_p()
    call("cuModuleGetFunction", byref(function), module, symbol.encode())
    return function


def find_global(module: c_void_p, symbol: str) -> tuple[int, int]:
    """Returns the address and the size of a device variable."""
    address, size = c_void_p(), c_size_t()
    call("cuModuleGetGlobal_v2", byref(address), byref(size), module, symbol.encode())
    return address.value or 0, size.value


def set_function_attribute(function: c_void_p, name: str, value: int) -> None:
    call("cuFuncSetAttribute", function, FUNCTION_ATTRIBUTES[name], value)


def launch(
    function: c_void_p,
    *,
    grid: Triple,
    block: Triple,
    shared: int,
    stream: int,
    arguments: Sequence[bytes],
    cluster: Triple = (1, 1, 1),
    cooperative: bool = False,
    attributes: Mapping[str, int] | None = None,
) -> None:
    """Launches one kernel; the driver copies the argument bytes before it returns."""
    held = [ctypes.create_string_buffer(data, len(data)) for data in arguments]
    pointers = (c_void_p * max(len(held), 1))(*[ctypes.addressof(item) for item in held])
    wanted = _attributes(cluster, cooperative, attributes or {})
    array = (_Attribute * max(len(wanted), 1))(*wanted)
    config = _Config((c_uint * 3)(*grid), (c_uint * 3)(*block), shared, stream, array, len(wanted))
    call("cuLaunchKernelEx", byref(config), function, pointers, None)


def _attributes(cluster: Triple, cooperative: bool, others: Mapping[str, int]) -> list[_Attribute]:
    found = []
    if cluster != (1, 1, 1):
        value = _AttributeValue(triple=(c_uint * 3)(*cluster))
        found.append(_Attribute(_ATTRIBUTE_IDS["cluster_dimension"], b"", value))
    flags = {**others, **({"cooperative": 1} if cooperative else {})}
    found += [_Attribute(_ATTRIBUTE_IDS[name], b"", _AttributeValue(flag=flag)) for name, flag in flags.items()]
    return found


def fill_bytes(address: int, value: int, count: int, stream: int) -> None:
    call("cuMemsetD8Async", c_void_p(address), value, c_size_t(count), c_void_p(stream))


def upload(address: int, data: bytes, stream: int) -> None:
    call("cuMemcpyHtoDAsync_v2", c_void_p(address), _kept(data), c_size_t(len(data)), c_void_p(stream))


@cache
def _kept(data: bytes) -> bytes:
    """Keeps the bytes at one address for the life of the process: a captured copy reads them again at every replay."""
    return data


def download(address: int, count: int) -> bytes:
    buffer = ctypes.create_string_buffer(count)
    call("cuMemcpyDtoH_v2", buffer, c_void_p(address), c_size_t(count))
    return buffer.raw


def copy(target: int, source: int, count: int, stream: int) -> None:
    call("cuMemcpyDtoDAsync_v2", c_void_p(target), c_void_p(source), c_size_t(count), c_void_p(stream))


assert sizeof(_Attribute) == 72, "the driver's launch attribute is 72 bytes"
