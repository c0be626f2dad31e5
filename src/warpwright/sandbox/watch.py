"""Measures the total resource use of sandboxed processes, and ends them.

Kernel limits apply to single processes; these are sums over all of them.
"""

from __future__ import annotations

import os
import resource
import select

from warpwright.sandbox import syscalls as kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
_FIRST_LOOK_S, _LONGEST_PAUSE_S = 0.002, 0.05
ENTRIES, DEPTH = 20_000, 64
"""The number and depth of files and folders that can still be processed."""


def supervise(
    child: int, control: int, proc: int | None, writable: str, limits: dict[str, float]
) -> tuple[int | None, str]:
    """Watches until `child` ends, `control` closes or a limit is exceeded. Returns the wait status, and the limit or
    "".
    """
    poller = select.poll()
    poller.register(os.pidfd_open(child), select.POLLIN)
    poller.register(control, select.POLLIN)
    pause, idle_s = _FIRST_LOOK_S, 0.0
    while True:
        ready = [descriptor for descriptor, _ in poller.poll(pause * 1000)]
        if (status := _reap(child)) is not None:
            return status, _ended_by(status, limits) or _exceeded(proc, writable, limits)
        if control in ready:
            return None, "stopped"
        if passed := _exceeded(proc, writable, limits):
            return None, passed
        idle_s = idle_s + pause if proc is not None and _is_idle(proc) else 0.0
        if idle_s > limits["idle_s"]:
            return None, "idle time"
        pause = min(1.5 * pause, _LONGEST_PAUSE_S)


def _reap(child: int) -> int | None:
    """Reaps all dead descendants; returns the status of `child` if it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _ended_by(status: int, limits: dict[str, float]) -> str:
    signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if signal == kernel.SIGXFSZ:
        return "file size"
    if signal == kernel.SIGXCPU or _reaped_cpu_s() >= limits["cpu_s"]:
        return "cpu time"
    return ""


def _exceeded(proc: int | None, writable: str, limits: dict[str, float]) -> str:
    """Returns the first exceeded limit, or ""."""
    if proc is not None:
        tasks, memory, cpu_s = _usage(proc)
        if tasks > limits["processes"]:
            return "processes"
        if memory > limits["memory_bytes"]:
            return "memory"
        if cpu_s > limits["cpu_s"]:
            return "cpu time"
    return _exceeded_by_tree(writable, limits["disk_bytes"])


def _usage(proc: int) -> tuple[int, float, float]:
    """Returns threads, resident bytes and processor seconds of all descendants."""
    rows = [fields for _, fields in _descendants(proc)]
    tasks = sum(int(fields[17]) for fields in rows)
    memory = sum(int(fields[21]) for fields in rows) * _PAGE
    cpu_s = sum(int(item) for fields in rows for item in fields[11:15]) / _TICKS
    return tasks, memory, cpu_s + _reaped_cpu_s()


def _is_idle(proc: int) -> bool:
    """Whether all descendants sleep; waiting for a processor or a disk does not count as sleeping."""
    states = (state for pid, fields in _descendants(proc) for state in _states(proc, pid, fields))
    return not any(state in (b"R", b"D") for state in states)


def _states(proc: int, pid: int, fields: list[bytes]) -> list[bytes]:
    """The states of all threads: a process that waits for its own threads looks asleep."""
    if int(fields[17]) <= 1:
        return [fields[0]]
    try:
        tasks = os.open(f"{pid}/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
    except OSError:
        return []
    try:
        return [found[0] for thread in _numbered(tasks) if (found := _stat(tasks, thread))]
    finally:
        os.close(tasks)


def _reaped_cpu_s() -> float:
    reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
    return reaped.ru_utime + reaped.ru_stime


def _descendants(proc: int) -> Iterator[tuple[int, list[bytes]]]:
    table = {pid: fields for pid in _numbered(proc) if (fields := _stat(proc, pid))}
    parents = {pid: int(fields[1]) for pid, fields in table.items()}
    ours = os.getpid()
    for pid, fields in table.items():
        ancestor = parents.get(pid)
        while ancestor is not None and ancestor != ours:
            ancestor = parents.get(ancestor)
        if ancestor == ours:
            yield pid, fields


def tasks_of(user: int) -> int:
    """Counts the threads of all processes of a user."""
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += len(os.listdir(f"/proc/{name}/task")) if os.stat(f"/proc/{name}").st_uid == user else 0
        except OSError:
            continue
    return found


def _numbered(proc: int) -> list[int]:
    return [int(name) for name in os.listdir(proc) if name.isdigit()]


def _stat(proc: int, pid: int) -> list[bytes] | None:
    """Returns the fields after the command's name, which may contain spaces and brackets; None if the process is
    gone.
    """
    try:
        descriptor = os.open(f"{pid}/stat", os.O_RDONLY, dir_fd=proc)
    except OSError:
        return None
    try:
        return os.read(descriptor, 4096).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _exceeded_by_tree(top: str, most: float) -> str:
    """Returns the limit that a tree exceeds in bytes, entries or depth, or ""."""
    used = 0
    for count, (entry, depth) in enumerate(entries(top)):
        used += entry.stat(follow_symlinks=False).st_blocks * 512 if _present(entry) else 0
        if used > most:
            return "disk space"
        if count > ENTRIES or depth > DEPTH:
            return "files"
    return ""


def _present(entry: os.DirEntry[str]) -> bool:
    try:
        entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return True


def entries(top: str) -> Iterator[tuple[os.DirEntry[str], int]]:
    """Yields everything below `top` with its depth; links are not followed, and vanished entries are omitted."""
    pending = [(top, 1)]
    while pending:
        folder, depth = pending.pop()
        try:
            found = list(os.scandir(folder))
        except OSError:
            continue
        for entry in found:
            yield entry, depth
            if entry.is_dir(follow_symlinks=False):
                pending.append((entry.path, depth + 1))


def sweep(proc: int, own_user: int | None) -> None:
    """Ends all descendants, by process group where possible: a whole group ends at once and cannot escape by forking.

    A command with its own user is ended by that user, with one call for all of its processes.
    """
    while doomed := [(pid, int(fields[2])) for pid, fields in _descendants(proc) if fields[0] != b"Z"]:
        if own_user is not None:
            _kill_all_of(own_user)
        for target in {-group for _, group in doomed} | {pid for pid, _ in doomed}:
            _kill(target)
        _reap(0)
    _reap(0)


def _kill_all_of(own_user: int) -> None:
    try:
        helper = os.fork()
    except OSError:  # no process available: end group by group
        return
    if helper == 0:
        os.setresuid(own_user, own_user, own_user)
        os.kill(-1, kernel.SIGKILL)
        os._exit(0)
    os.waitpid(helper, 0)


def _kill(target: int) -> None:
    try:
        os.kill(target, kernel.SIGKILL)
    except OSError:
        return
