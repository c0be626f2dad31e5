"""The state of the GPU by NVML: clocks and throttle reasons. Read only."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char, c_uint, c_ulonglong, c_void_p
from dataclasses import dataclass

_SM_CLOCK = 1
_IDLE = 0x1
_SLOWED = {0x8: "hardware slowdown", 0x20: "thermal limit", 0x40: "hardware thermal limit", 0x80: "power brake"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """Clock and throttle reasons; unknown values are None."""

    sm_mhz: int | None = None
    throttle: int | None = None

    def slowed_by(self) -> str | None:
        return next((name for bit, name in _SLOWED.items() if self.throttle and self.throttle & bit), None)


class Nvml:
    """Reads one GPU. Without the NVML library every reading is unknown."""

    def __init__(self, index: int = 0) -> None:
        self._library, self._device = None, c_void_p()
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if library.nvmlInit_v2() == 0 and library.nvmlDeviceGetHandleByIndex_v2(index, byref(self._device)) == 0:
            self._library = library

    def read(self) -> GpuState:
        if self._library is None:
            return GpuState()
        clock, reasons = c_uint(), c_ulonglong()
        known = self._library.nvmlDeviceGetClockInfo(self._device, _SM_CLOCK, byref(clock)) == 0
        told = self._library.nvmlDeviceGetCurrentClocksThrottleReasons(self._device, byref(reasons)) == 0
        throttle = reasons.value & ~_IDLE if told else None
        return GpuState(sm_mhz=clock.value if known else None, throttle=throttle)

    def driver(self) -> str | None:
        if self._library is None:
            return None
        text = (c_char * 80)()
        return text.value.decode() if self._library.nvmlSystemGetDriverVersion(text, c_uint(80)) == 0 else None


def disturbed(before: GpuState, after: GpuState) -> str | None:
    """The reason to discard samples taken between two readings; None if there is none."""
    if reason := after.slowed_by() or before.slowed_by():
        return f"the card was slowed: {reason}"
    if before.throttle != after.throttle:
        return "the reasons that hold the clocks changed in between"
    return None
