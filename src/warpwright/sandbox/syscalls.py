"""Linux system calls that Python does not offer, through libc. Names follow the manual pages.

Imported only by the launcher, which is single-threaded: PyDLL keeps the interpreter lock, so that `clone` behaves like
an ordinary fork in the child.
"""

from __future__ import annotations

import ctypes
import os

MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
SIGKILL, SIGCHLD, SIGXCPU, SIGXFSZ = 9, 17, 24, 25
_LAST_SIGNAL = 31

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_SECUREBITS = 1, 22, 28
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
CAP_DAC_READ_SEARCH = 2

_PER_MACHINE = {"x86_64": {"clone": 56, "pivot_root": 155}, "aarch64": {"clone": 220, "pivot_root": 41}}
_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 442, 444, 445, 446
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 0x1, 0x2, 0x4

_libc = ctypes.PyDLL(None, use_errno=True)


def _call(what: str, result: int) -> int:
    if result < 0:
        errno = ctypes.get_errno()
        raise OSError(errno, f"{what}: {os.strerror(errno)}")
    return result


def _syscall(what: str, number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    wide = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    return _call(what, int(_libc.syscall(ctypes.c_long(number), *wide)))


def _numbers() -> dict[str, int]:
    machine = os.uname().machine
    if machine not in _PER_MACHINE:
        raise OSError(f"no system call numbers for {machine}")
    return _PER_MACHINE[machine]


def clone(flags: int) -> int:
    """Forks like os.fork, with the child in the namespaces of `flags`."""
    return _syscall("clone", _numbers()["clone"], flags | SIGCHLD, 0, 0, 0, 0)


def prctl(option: int, *arguments: int) -> int:
    padded = [ctypes.c_ulong(item) for item in (*arguments, 0, 0, 0, 0)[:4]]
    return _call(f"prctl {option}", int(_libc.prctl(option, *padded)))


def default_signals() -> None:
    """Restores default signal handling: ignored signals would stay ignored in the command, and a handler would let the
    command interrupt the init of its namespace.
    """
    for signal in range(1, _LAST_SIGNAL + 1):
        _libc.signal(signal, None)  # the two signals that cannot be changed are left


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    words = [None if item is None else os.fsencode(item) for item in (source, target, kind)]
    _call(f"mount {target}", int(_libc.mount(*words, ctypes.c_ulong(flags), data.encode())))


def unmount(target: str) -> None:
    _call(f"umount {target}", int(_libc.umount2(os.fsencode(target), MNT_DETACH)))


def pivot_root(new: str, old: str) -> None:
    _syscall("pivot_root", _numbers()["pivot_root"], os.fsencode(new), os.fsencode(old))


def harden_mount(target: str, *, read_only: bool, recursive: bool) -> None:
    """Adds restrictions only, since flags locked by an outer namespace cannot be removed."""
    attributes = _ATTR_NOSUID | _ATTR_NODEV | (_ATTR_RDONLY if read_only else 0)
    block = ctypes.create_string_buffer(attributes.to_bytes(8, "little") + bytes(24), 32)
    flags = _AT_RECURSIVE if recursive else 0
    _syscall(f"mount_setattr {target}", _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), flags, block, 32)


def keep_only_capabilities(mask: int) -> None:
    """Drops all capabilities but those in `mask`, which survive the next exec."""
    header = ctypes.create_string_buffer((0x20080522).to_bytes(4, "little") + bytes(4), 8)
    sets = mask.to_bytes(4, "little") * 3 + bytes(12)
    _call("capset", int(_libc.capset(header, ctypes.create_string_buffer(sets, 24))))
    if mask & 1 << CAP_DAC_READ_SEARCH:
        prctl(PR_CAP_AMBIENT, 2, CAP_DAC_READ_SEARCH)


def install_filter(program: bytes) -> None:
    """Installs a seccomp filter, eight bytes per instruction, for this process and its children."""
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    block = Program(len(program) // 8, ctypes.addressof(code))
    prctl(PR_SET_SECCOMP, 2, ctypes.addressof(block))


def landlock_abi() -> int:
    """Returns the version of the landlock ABI; 0 without landlock."""
    return max(0, int(_libc.syscall(ctypes.c_long(_LANDLOCK_CREATE), None, ctypes.c_long(0), ctypes.c_long(1))))


def landlock_ruleset(files: int, network: int, scopes: int, size: int) -> int:
    block = b"".join(item.to_bytes(8, "little") for item in (files, network, scopes))[:size]
    return _syscall("landlock_create_ruleset", _LANDLOCK_CREATE, block, size, 0)


def landlock_allow(ruleset: int, descriptor: int, access: int) -> None:
    block = access.to_bytes(8, "little") + descriptor.to_bytes(4, "little")
    _syscall("landlock_add_rule", _LANDLOCK_ADD, ruleset, 1, block, 0)


def landlock_restrict(ruleset: int) -> None:
    _syscall("landlock_restrict_self", _LANDLOCK_RESTRICT, ruleset, 0)
