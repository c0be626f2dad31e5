"""Resource limits of a sandboxed command, and their description."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.sandbox.watch import DEPTH, ENTRIES

_MIB, _GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on all processes of one run together; memory and file size also limit each process and file."""

    cpu_s: float = 60.0
    wall_s: float = 60.0
    idle_s: float = 20.0
    """Seconds for which all processes may sleep without a break. A busy machine does not count."""
    memory_bytes: int = 8 * _GIB
    processes: int = 64
    output_bytes: int = 4 * _MIB
    file_bytes: int = 512 * _MIB
    disk_bytes: int = 1 * _GIB

    def sizes(self) -> dict[str, str]:
        """Describes each limit, by the reason given when a command exceeds it."""
        return {
            "wall clock": f"{self.wall_s:g} s",
            "cpu time": f"{self.cpu_s:g} s",
            "idle time": f"{self.idle_s:g} s",
            "memory": _sized(self.memory_bytes),
            "processes": str(self.processes),
            "output": _sized(self.output_bytes),
            "file size": _sized(self.file_bytes),
            "disk space": _sized(self.disk_bytes),
            "files": f"{ENTRIES} in folders {DEPTH} deep",
        }


def _sized(count: int) -> str:
    return f"{count / _GIB:g} GiB" if count >= _GIB else f"{count / _MIB:g} MiB"
