"""Finds the line of the candidate's source for an address in its program."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import run as sandbox

_FRAME = re.compile(r"(?:.*/)?kernel\.cu:(\d+)")


def resolved(program: Path, codes: Iterable[int], folder: Path) -> dict[int, int]:
    """Line numbers by address; addresses outside of the candidate's text are left out."""
    wanted = sorted(code for code in set(codes) if code > 0)
    tool = shutil.which("addr2line")
    if tool is None:
        raise OurFault(Fault(where="emulate", message="no addr2line on this machine; install binutils"))
    if not wanted:
        return {}
    # The address is that of the instruction after the access.
    asked = "".join(f"{code - 1:#x}\n" for code in wanted).encode()
    command = [tool, "-a", "-i", "-e", str(program)]
    done = sandbox.run(command, readable=(program.parent,), writable=folder, stdin=asked)
    return _parsed(done.stdout.decode("utf-8", "replace"), wanted)


def _parsed(answer: str, wanted: list[int]) -> dict[int, int]:
    """Frames follow their address, the innermost first."""
    lines: dict[int, int] = {}
    code = None
    for text in answer.splitlines():
        if text.startswith("0x"):
            code = int(text, 16) + 1
        elif code is not None and code not in lines and (frame := _FRAME.match(text)):
            lines[code] = int(frame[1])
    return {code: line for code, line in lines.items() if code in wanted}
