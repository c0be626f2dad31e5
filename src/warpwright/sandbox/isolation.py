"""Finds the best confinement that this machine supports, by trial, once per process."""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import session as sandbox_session
from warpwright.sandbox.launcher import PRIVILEGED, TREE, USER

_SPACES = ("mount", "pid", "net", "ipc", "uts")
_TRIAL_LIMITS = {
    "cpu_s": 10.0,
    "wall_s": 60.0,
    "idle_s": 60.0,
    "memory_bytes": 1 << 30,
    "processes": 16,
    "output_bytes": 1 << 16,
    "file_bytes": 1 << 20,
    "disk_bytes": 1 << 20,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """The confinement of commands on this machine. `gaps` describes in sentences what is not confined."""

    mode: str
    namespaces: tuple[str, ...]
    landlock: int | None
    """The version of the landlock ABI."""
    seccomp: bool
    own_user: bool
    """Whether each run has its own user, which owns nothing else."""
    watched: bool
    """Whether memory, processor time and processes are limited in total, not only for each process."""
    cgroup: bool
    """Whether cgroup version 2 is writable with its memory and pids controllers. Informative; no mode needs it."""
    gaps: tuple[str, ...]


def isolation() -> Isolation:
    reply = _best()
    mode, landlock = reply["mode"], reply["landlock"] or None
    spaces = () if mode == TREE else _SPACES if mode == PRIVILEGED else ("user", *_SPACES)
    own_user = reply["id"] is not None
    return Isolation(
        mode=mode,
        namespaces=spaces,
        landlock=landlock,
        seccomp=reply["seccomp"],
        own_user=own_user,
        watched=reply["watched"],
        cgroup=_cgroup(),
        gaps=tuple(_gaps(mode, landlock, reply["seccomp"], reply["watched"])),
    )


def confinement() -> dict[str, Any]:
    """The part of an order that selects the confinement."""
    best = _best()
    return {"mode": best["mode"], "own_user": best["own_user"]}


@functools.cache
def _best() -> dict[str, Any]:
    if sys.platform != "linux":
        raise OurFault(Fault(where="sandbox", message="candidates can be confined on Linux only"))
    faults = []
    for mode, own_user in _preferences():
        reply = _try(mode, own_user)
        if "fault" not in reply:
            return reply | {"mode": mode, "own_user": own_user}
        faults.append(f"{mode}: {reply['fault']}")
    raise OurFault(Fault(where="sandbox", message="nothing confines here; " + "; ".join(faults)))


def _preferences() -> tuple[tuple[str, bool], ...]:
    if os.geteuid() == 0:
        return ((USER, True), (PRIVILEGED, True), (USER, False), (TREE, True), (TREE, False))
    return ((USER, False), (TREE, False))


def _try(mode: str, own_user: bool) -> dict[str, Any]:
    """Tries a whole run up to the start of a command."""
    with tempfile.TemporaryDirectory(prefix="warpwright-trial-") as folder:
        place = str(Path(folder).resolve())
        order = {"mode": mode, "own_user": own_user, "command": [], "env": {}, "cwd": place, "writable": place}
        return sandbox_session.run_order(order | {"readable": [], "limits": _TRIAL_LIMITS}).reply


def _gaps(mode: str, landlock: int | None, seccomp: bool, watched: bool) -> list[str]:
    gaps = []
    if mode == TREE and landlock is None:
        gaps.append("files that this user can read are readable")
    if mode == TREE and not seccomp:
        gaps.append("the network and other processes of this user can be reached")
    if mode == TREE:
        gaps.append("a detached process survives if the launcher itself is killed")
    if not watched:
        gaps.append("memory is limited for each process, not in total")
    return gaps


def _cgroup() -> bool:
    for root in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
        controllers = root / "cgroup.controllers"
        if controllers.exists():
            return {"memory", "pids"} <= set(controllers.read_text().split()) and os.access(root, os.W_OK)
    return False
