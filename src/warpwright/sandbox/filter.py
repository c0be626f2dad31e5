"""The system calls that a sandboxed process may not make, as a seccomp program.

Compilers need a wide and changing set of calls, so this is a list of refused ones: those that reach the network, other
processes, other namespaces, kernel memory outside the process limits, or large rarely used parts of the kernel.
"""

from __future__ import annotations

import os

EPERM, ENOSYS = 1, 38
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
_NEW_NAMESPACE = 0x7E020000

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}

# name: (x86_64, aarch64); None if the machine has no such call
_REFUSED: dict[str, tuple[int, int | None]] = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "personality": (135, 92),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "fanotify_init": (300, 262),
}
# Without a process namespace, these calls reach our own processes.
_SIGNALS: dict[str, tuple[int, int | None]] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
_TGKILL = (234, 131)
_CLONE, _CLONE3 = (56, 220), (435, 435)


def supported() -> bool:
    return os.uname().machine in _AUDIT


def program(*, signals_from: int | None = None) -> bytes:
    """Builds the filter for this machine. With `signals_from`, that process may signal only itself, others none."""
    machine = os.uname().machine
    column = _COLUMN[machine]
    refused = _REFUSED if signals_from is None else _REFUSED | _SIGNALS
    lines = [_load(_MACHINE), *_unless(_EQUAL, _AUDIT[machine], EPERM), _load(_NUMBER)]
    if machine == "x86_64":
        lines += _when(_AT_LEAST, _X32, EPERM)
    for numbers in refused.values():
        if (number := numbers[column]) is not None:
            lines += _when(_EQUAL, number, EPERM)
    # clone3 passes its flags in memory; after ENOSYS libc falls back to clone.
    lines += _when(_EQUAL, _CLONE3[column], ENOSYS)
    lines += _on_first_argument(_CLONE[column], _when(_ANY_BIT, _NEW_NAMESPACE, EPERM))
    if signals_from is not None:
        lines += _on_first_argument(_TGKILL[column], _unless(_EQUAL, signals_from, EPERM))
    return b"".join([*lines, _instruction(_RETURN, 0, 0, _ALLOW)])


def _instruction(code: int, yes: int, no: int, operand: int) -> bytes:
    return code.to_bytes(2, "little") + bytes((yes, no)) + operand.to_bytes(4, "little")


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, 0, 0, offset)


def _when(test: int, operand: int, error: int) -> list[bytes]:
    return [_instruction(test, 0, 1, operand), _instruction(_RETURN, 0, 0, _ERRNO | error)]


def _unless(test: int, operand: int, error: int) -> list[bytes]:
    return [_instruction(test, 1, 0, operand), _instruction(_RETURN, 0, 0, _ERRNO | error)]


def _on_first_argument(number: int, check: list[bytes]) -> list[bytes]:
    """Applies `check` to the first argument of one system call."""
    body = [_load(_FIRST_ARGUMENT), *check, _load(_NUMBER)]
    return [_instruction(_EQUAL, 0, len(body), number), *body]
