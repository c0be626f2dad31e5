"""File access of a sandboxed process: a private root of read-only binds, and landlock rules for the same paths.

The landlock rules alone confine the process where mount namespaces are forbidden.
"""

from __future__ import annotations

import os
import stat

from warpwright.sandbox import syscalls as kernel

# Compilers, libraries and headers. The caller names a toolkit elsewhere as readable.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/nix/store"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_LOOK = _EXECUTE | _READ_FILE | _READ_DIR
_CHANGE = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE


def enter(readable: list[str], writable: str) -> int | None:
    """Replaces the root. Returns a descriptor of this namespace's /proc, which the view does not contain."""
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")
    os.mkdir("/tmp/old")
    kernel.pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    for path in (*SYSTEM, *DEVICES):
        if os.path.lexists("/old" + path):
            _show(path)
    for path in sorted({*readable, writable}, key=len):
        _bind(path, read_only=path != writable)
    proc = _private_proc()
    kernel.unmount("/old")
    os.rmdir("/old")
    kernel.harden_mount("/", read_only=True, recursive=False)
    return proc


def _show(path: str) -> None:
    if os.path.islink("/old" + path):
        os.symlink(os.readlink("/old" + path), path)
    else:
        _bind(path, read_only=path not in DEVICES)


def _bind(path: str, *, read_only: bool) -> None:
    source = "/old" + path
    if not os.path.exists(path):
        _make_mount_point(path, directory=os.path.isdir(source))
    kernel.mount(source, path, None, kernel.MS_BIND | kernel.MS_REC)
    if path not in DEVICES:
        kernel.harden_mount(path, read_only=read_only, recursive=True)


def _make_mount_point(path: str, *, directory: bool) -> None:
    os.makedirs(path if directory else os.path.dirname(path), exist_ok=True)
    if not directory:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def _private_proc() -> int | None:
    """Returns a descriptor of a private /proc; None if an outer container masks parts of /proc, which prevents the
    mount.
    """
    os.mkdir("/proc")
    try:
        kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV)
    except OSError:
        return None
    descriptor = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    kernel.unmount("/proc")
    return descriptor


def confine(abi: int, readable: list[str], writable: str) -> None:
    """Restricts by landlock: no files beyond these, no TCP, no signals or abstract sockets out of the sandbox."""
    files = (1 << 13) - 1 | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)
    network, scopes = (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = kernel.landlock_ruleset(files, network, scopes, size)
    for path in (*SYSTEM, *readable):
        _allow(ruleset, path, _LOOK & files)
    for path in DEVICES:
        _allow(ruleset, path, (_READ_FILE | _WRITE_FILE) & files)
    _allow(ruleset, writable, (_LOOK | _CHANGE) & files)
    kernel.landlock_restrict(ruleset)
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        access &= _OF_FILES
    kernel.landlock_allow(ruleset, descriptor, access)
    os.close(descriptor)
