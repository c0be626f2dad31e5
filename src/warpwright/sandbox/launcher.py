"""The trusted process between ours and the sandboxed command. Started as `python -I -S`, once for each run.

order   our process sends what to run over `control`, a socket that it keeps open; closing it means "stop"
reply   one message back: how the command ended and how it was confined, or a fault of ours

With namespaces, this process clones the init of a new process namespace, which builds the view, starts the command and
watches it; when init ends, the kernel ends all processes inside. Without namespaces, this process itself is the reaper
of all descendants and ends them one by one. The command inherits neither `control` nor any other descriptor of ours.
"""

from __future__ import annotations

import marshal
import os
import resource

from warpwright.sandbox import filter as sandbox_filter
from warpwright.sandbox import syscalls as kernel
from warpwright.sandbox import view as sandbox_view
from warpwright.sandbox import watch as sandbox_watch

# A name that type checkers treat as true: importing typing would take a tenth of the start-up time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Order = dict[str, Any]

USER, PRIVILEGED, TREE = "user namespaces", "privileged namespaces", "process tree"
_SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_INNER_ID = 1000
_DESCRIPTORS = 256
_OTHERS = 1000
"""Processes that the same user may start elsewhere while a command runs."""


def main(control: int) -> NoReturn:
    kernel.default_signals()
    os.set_inheritable(control, False)
    order = marshal.loads(os.read(control, 1 << 20))
    try:
        reply = _launch(order, control)
    except OSError as error:
        reply = {"fault": str(error)}
    os.write(control, marshal.dumps(reply))
    os._exit(0)


def _launch(order: Order, control: int) -> dict[str, Any]:
    order["id"] = _unprivileged_user() if order["own_user"] else None
    order["landlock"] = kernel.landlock_abi()
    order["seccomp"] = sandbox_filter.supported()
    owner = os.stat(order["writable"])
    if order["id"] is not None:
        _change_owner(order["writable"], order["id"], order["id"])
    try:
        line = _in_tree(order, control) if order["mode"] == TREE else _in_namespaces(order, control)
    finally:
        if order["id"] is not None:
            _change_owner(order["writable"], owner.st_uid, owner.st_gid)
    return _parsed(line) | {key: order[key] for key in ("id", "landlock", "seccomp")}


def _parsed(line: str) -> dict[str, Any]:
    kind, _, rest = line.partition(" ")
    if kind == "ended":
        status, watched, passed = rest.split(" ", 2)
        return {"status": None if status == "None" else int(status), "watched": watched == "1", "passed": passed}
    return {kind or "fault": rest or "the sandbox ended without a word"}


def _unprivileged_user() -> int:
    """Returns the id of a user for this run, which owns no file and no other process."""
    for number in (0x70000000 + os.getpid(), 65534):
        if all(_mapped(number, kind) for kind in ("uid", "gid")):
            return number
    raise OSError("no unprivileged user is available in this container")


def _mapped(number: int, kind: str) -> bool:
    with open(f"/proc/self/{kind}_map") as table:
        rows = [[int(item) for item in row.split()] for row in table]
    return any(first <= number < first + count for first, _, count in rows)


def _change_owner(writable: str, user: int, group: int) -> None:
    os.chown(writable, user, group)
    for entry, _ in sandbox_watch.entries(writable):
        os.chown(entry.path, user, group, follow_symlinks=False)


def _in_namespaces(order: Order, control: int) -> str:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
    go_read, go_write = os.pipe()
    report_read, report_write = os.pipe()
    init = kernel.clone(_SPACES | (kernel.CLONE_NEWUSER if order["mode"] == USER else 0))
    if init == 0:
        os.close(go_write)
        _init(order, control, go_read, report_write)
    os.close(report_write)
    if order["mode"] == USER:
        _write_maps(init, order["id"])
    os.write(go_write, b"1")
    line = _first_line(report_read)
    os.waitpid(init, 0)
    return line


def _write_maps(init: int, own_user: int | None) -> None:
    """Maps the user ids. With an own user, root is mapped too, so that files readable by root only can be shown
    read-only.
    """
    if own_user is None:
        _write(f"/proc/{init}/setgroups", "deny")
    for kind, own in (("uid", os.getuid()), ("gid", os.getgid())):
        rows = f"{own} {own} 1\n" if own_user is None else f"0 0 1\n{_INNER_ID} {own_user} 1\n"
        _write(f"/proc/{init}/{kind}_map", rows)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _first_line(descriptor: int) -> str:
    text = b""
    while b"\n" not in text and (more := os.read(descriptor, 4096)):
        text += more
    return text.decode(errors="replace").partition("\n")[0]


def _init(order: Order, control: int, go: int, report: int) -> NoReturn:
    """Runs process 1 of the namespace; when it ends, all other processes inside end."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
        if os.read(go, 1) == b"1":
            proc = sandbox_view.enter(order["readable"], order["writable"])
            child = os.fork()
            if child == 0:
                _exec_command(order, report)
            status, passed = sandbox_watch.supervise(child, control, proc, order["writable"], order["limits"])
            _report(report, f"ended {status} {int(proc is not None)} {passed}")
    except BaseException as error:
        _report(report, f"fault {error}")
    os._exit(0)


def _in_tree(order: Order, control: int) -> str:
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    report_read, report_write = os.pipe()
    child = os.fork()
    if child == 0:
        _exec_command(order, report_write)
    status, passed = sandbox_watch.supervise(child, control, proc, order["writable"], order["limits"])
    sandbox_watch.sweep(proc, order["id"])
    _report(report_write, f"ended {status} 1 {passed}")
    return _first_line(report_read)


def _report(report: int, line: str) -> None:
    os.write(report, line.replace("\n", " ").encode()[:4000] + b"\n")


def _exec_command(order: Order, report: int) -> NoReturn:
    """Turns this process into the command. A failure before the command runs is a fault of ours."""
    try:
        os.setsid()
        _limit(order)
        _drop_privileges(order)
        _confine(order)
        os.chdir(order["cwd"])
        if order["command"]:
            _execute(order, report)
    except BaseException as error:
        _report(report, f"fault {error}")
    os._exit(0)


def _execute(order: Order, report: int) -> None:
    try:
        os.execve(order["command"][0], order["command"], order["env"])
    except OSError as error:
        # A missing file in the writable folder is the sandboxed code's failure; any other was promised by us.
        own = order["command"][0].startswith(order["writable"] + "/")
        _report(report, f"{'unrunnable' if own else 'fault'} {order['command'][0]}: {error.strerror}")


def _limit(order: Order) -> None:
    limits = order["limits"]
    cpu_s = max(1, int(limits["cpu_s"] + 0.999))
    processes = _processes(order)
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        (resource.RLIMIT_AS, int(limits["memory_bytes"]), int(limits["memory_bytes"])),
        (resource.RLIMIT_FSIZE, int(limits["file_bytes"]), int(limits["file_bytes"])),
        (resource.RLIMIT_NOFILE, _DESCRIPTORS, _DESCRIPTORS),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, processes, processes),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))


def _processes(order: Order) -> int:
    """The hard limit of the kernel per user, twice the watched limit, for processes that outrun the watcher."""
    most = 2 * int(order["limits"]["processes"])
    if order["mode"] == USER or order["id"] is not None:
        return most
    return most + _OTHERS + sandbox_watch.tasks_of(os.getuid())


def _drop_privileges(order: Order) -> None:
    confined = order["mode"] != TREE or order["landlock"] > 0
    kept = 0
    if os.geteuid() == 0 or order["mode"] != TREE:
        # User 0 has no privileges, and a change of user keeps capabilities; both are locked.
        kernel.prctl(kernel.PR_SET_SECUREBITS, 0b1111)
    if order["id"] is not None:
        kept = 1 << kernel.CAP_DAC_READ_SEARCH if confined else 0
        number = _INNER_ID if order["mode"] == USER else order["id"]
        os.setgroups([])
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)
    kernel.keep_only_capabilities(kept)
    # After the change of user, which clears it.
    kernel.prctl(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def _confine(order: Order) -> None:
    if order["landlock"]:
        sandbox_view.confine(order["landlock"], order["readable"], order["writable"])
    if order["seccomp"]:
        alone = os.getpid() if order["mode"] == TREE else None
        kernel.install_filter(sandbox_filter.program(signals_from=alone))
