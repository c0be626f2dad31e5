"""Runs nvcc's phases for a cubin one by one: preprocess, compile, assemble.

Our preamble is inserted between the first two: the compiler gets only the part of the headers that the text uses. This
is not possible if a source does not begin with plain includes, or if nvcc has other phases.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.device import preamble

_RUNTIME = "cuda_runtime.h"
_TEXT_LIMIT = 64 << 20
_TEMPORARY = re.compile(r"(?:.*/)?tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")
_VARIABLE = re.compile(r"(\w+)=(.*)")
_KEPT = frozenset({"NVVMIR_LIBRARY_DIR", "LD_LIBRARY_PATH"})
_BEGINNING = re.compile(
    r"\s+|//[^\n\\]*\n|/\*[^\\]*?\*/|#[ \t]*pragma[ \t]+once\b"
    r'|#[ \t]*include[ \t]*[<"](?P<header>[^\n\\<>"]*)[>"][ \t]*(?=\n|//)'
)
# Our headers that represent all of torch; a source that includes one of them sees every name of the preamble.
_WHOLE = frozenset(
    {*(f"torch/{name}.h" for name in ("extension", "torch", "all", "types", "script", "python")), "ATen/ATen.h"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """Commands for `kernel.cu` in the working folder; their outputs are named after it."""

    preprocess: tuple[str, ...]
    compile: tuple[str, ...]
    assemble: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The file between preprocessing and compiling."""
        return self.preprocess[-1]

    def preprocess_with(self, included: str, *more: str) -> list[str]:
        """The preprocessing command with another file in place of the runtime's header before the source."""
        command = [included if word == _RUNTIME else word for word in self.preprocess]
        return [command[0], *more, *command[1:]]


def has_plain_beginning(source: str) -> bool:
    """Whether one of the includes at the head of the source includes all of torch."""
    here = 0
    while step := _BEGINNING.match(source, here):
        if step["header"] in _WHOLE:
            return True
        here = step.end()
    return False


@cache
def phases(nvcc: Path, arguments: tuple[str, ...]) -> Phases | None:
    """The commands that nvcc reports with --dryrun; None if there are not three of them."""
    command = [str(nvcc), "-cubin", *arguments, "--dryrun", "kernel.cu", "-o", "kernel.cubin"]
    place = toolchain.ROOM
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    lines = [line.removeprefix("#$ ") for line in done.stderr.splitlines() if line.startswith("#$ ")]
    variables = {found[1]: found[2] for line in lines if (found := _VARIABLE.fullmatch(line))}
    steps = [_words(line, variables) for line in lines if not _VARIABLE.fullmatch(line)]
    tools = [Path(step[0]).name for step in steps]
    if done.returncode != 0 or tools[1:] != ["cicc", "ptxas"] or _RUNTIME not in steps[0] or "-E" not in steps[0]:
        return None
    kept = tuple((name, variables[name]) for name in sorted(_KEPT & variables.keys()))
    assembler = str(Path(variables.get("_HERE_", "")) / "ptxas")
    preprocess, compiling, (_, *assembling) = steps
    return Phases(
        preprocess=tuple(preprocess),
        compile=tuple(compiling),
        assemble=(assembler, *assembling),
        environment=kept,
    )


def _words(line: str, variables: dict[str, str]) -> list[str]:
    """A command as printed by nvcc, with temporary files named after the source."""
    for name, value in variables.items():
        line = line.replace(f"${name}/", f"{value}/")
    words = [_TEMPORARY.sub("", word) for word in shlex.split(line)]
    return ["kernel.cu" if word == str(toolchain.ROOM / "kernel.cu") else word for word in words]


def headers(store: Store, steps: Phases) -> Path:
    """The folder of the preamble for these phases, created if it does not exist."""
    return store.find(key(steps)) or store.make_once(key(steps), lambda folder: _fill(folder, steps))


@cache
def key(steps: Phases) -> str:
    """The key of the preamble: our headers, the way they are cut, and nvcc with its flags."""
    seed = "\0".join((toolchain.preamble(), *steps.preprocess))
    return hashlib.sha256(seed.encode()).hexdigest()[:20] + "-preamble"


def _fill(folder: Path, steps: Phases) -> None:
    (folder / "kernel.cu").write_text("#include <torch/extension.h>\n")
    toolchain.must_compile(steps.preprocess_with(_RUNTIME), folder)
    text = (folder / steps.text).read_text()
    toolchain.must_compile(steps.preprocess_with(_RUNTIME, "-dM"), folder)
    preamble.write(folder, text, (folder / steps.text).read_text(), str(toolchain.INCLUDE))
    for left in ("kernel.cu", steps.text):
        (folder / left).unlink()


def compiled(folder: Path, steps: Phases, ready: Path, limits: sandbox.Limits) -> sandbox.Finished:
    """Runs the phases for `kernel.cu` in the folder: the result of the first that failed, else of the last."""
    readable = (*toolchain.readable(), ready)
    first = steps.preprocess_with(str(ready / preamble.MACROS))
    done = sandbox.run(first, readable=readable, writable=folder, limits=limits)
    text = sandbox.harvest(folder / steps.text, _TEXT_LIMIT)
    if done.returncode != 0 or text is None:
        return done
    before = preamble.read(ready).before(text.decode("utf-8", "replace"))
    (folder / steps.text).unlink()
    (folder / steps.text).write_bytes(before.encode("utf-8", "surrogateescape") + text)
    script = " && ".join(shlex.join(step) for step in (steps.compile, steps.assemble))
    command: Sequence[str] = ("/bin/sh", "-c", script)
    return sandbox.run(command, readable=readable, writable=folder, limits=limits, env=dict(steps.environment))
