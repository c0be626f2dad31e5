"""A program that reads a prompt on its standard input and prints an answer: a command-line agent, or a script.

Input and output are files, not pipes, so that a surviving grandchild can neither block us nor add to the answer.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.core.protocols import Reply, Request

DEFAULT_DEADLINE_S = 1800.0
_LONGEST_ANSWER = 16 << 20


class Command:
    """Runs the program once per call, in an empty folder, with our environment, which may hold the keys that agents
    need.
    """

    def __init__(self, command: str, *, folder: Path, deadline_s: float = DEFAULT_DEADLINE_S) -> None:
        self.name = f"command:{command}"
        self._words, self._deadline_s = _found(command, folder), deadline_s
        self._program = f"the program '{Path(self._words[0]).name}'"

    def ceiling(self, request: Request) -> float | None:
        """Returns None: the cost of a program is unknown."""
        return None

    def complete(self, request: Request) -> Reply:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="warpwright-command-", ignore_cleanup_errors=True) as scratch:
            text = self._answer(request, Path(scratch))
        return Reply(text=text, model=self.name, seconds=time.monotonic() - begun)

    def _answer(self, request: Request, scratch: Path) -> str:
        prompt, answer, errors, work = (scratch / name for name in ("prompt", "answer", "errors", "work"))
        work.mkdir()
        prompt.write_bytes(request.prompt.encode("utf-8", "surrogatepass"))
        with prompt.open("rb") as stdin, answer.open("wb") as stdout, errors.open("wb") as stderr:
            status = self._run(request, stdin.fileno(), stdout.fileno(), stderr.fileno(), work)
        if status != 0:
            raise ModelFailed("server", f"{self._program} ended with status {status}{_last_line(errors)}")
        return self._read(answer)

    def _run(self, request: Request, stdin: int, stdout: int, stderr: int, work: Path) -> int:
        environment = {**os.environ, **_request_variables(request)}
        try:
            process = subprocess.Popen(
                self._words,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=work,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelFailed("unreachable", f"{self._program} cannot be started: {error.strerror}") from None
        try:
            ended = _ended(process.pid, self._deadline_s)
        finally:
            # Kills the process group even after success, so that no child outlives the call. The program itself is not
            # reaped before that, so its group id cannot have been reused.
            os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
        if not ended:
            raise ModelFailed(
                "timeout", f"{self._program} gave no answer within {self._deadline_s:g} s", retryable=True
            )
        return status

    def _read(self, answer: Path) -> str:
        if answer.stat().st_size > _LONGEST_ANSWER:
            raise ModelFailed("malformed", f"{self._program} printed more than {_LONGEST_ANSWER >> 20} MiB")
        try:
            text = answer.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ModelFailed("malformed", f"{self._program} printed something that is not UTF-8 text") from None
        if not text.strip():
            raise ModelFailed("malformed", f"{self._program} printed nothing")
        return text


def _found(command: str, folder: Path) -> list[str]:
    """Splits a command and makes the program and all files relative to `folder` absolute, because it runs elsewhere."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the command '{command}' cannot be read: {error}") from None
    if not words:
        raise UsageError("the command of a model is empty; write command:CMD")
    placed = [str((folder / word).resolve()) if (folder / word).is_file() else word for word in words[1:]]
    program = shutil.which(folder / words[0] if "/" in words[0] else words[0])
    if program is None:
        raise UsageError(f"the program '{words[0]}' of the model '{command}' is not there or cannot be run")
    return [os.path.abspath(program), *placed]


def _ended(pid: int, deadline_s: float) -> bool:
    """Waits until a child ends, or until the deadline; the child is left to be reaped."""
    until, pause_s = time.monotonic() + deadline_s, 0.002
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= until:
            return False
        time.sleep(pause_s)
        pause_s = min(0.1, 2 * pause_s)
    return True


def _request_variables(request: Request) -> dict[str, str]:
    wishes = {
        "WARPWRIGHT_PURPOSE": request.purpose,
        "WARPWRIGHT_EFFORT": request.effort,
        "WARPWRIGHT_TEMPERATURE": request.temperature,
    }
    return {name: str(wish) for name, wish in wishes.items() if wish is not None}


def _last_line(errors: Path) -> str:
    lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f": {lines[-1].strip()[:300]}" if lines else ""
