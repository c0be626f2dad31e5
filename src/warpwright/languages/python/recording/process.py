"""One process of a candidate's Python code, from outside: its order, its questions, its answers."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warpwright
from warpwright.core.codec import CodecError, decode
from warpwright.languages.python.record import Answer, CompiledKernel
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.refusal import refuted

LIMITS = sandbox.Limits(cpu_s=120.0, wall_s=600.0, idle_s=90.0, memory_bytes=6 << 30, processes=64)
"""A process sleeps while its extensions are compiled."""
SOURCE = "candidate.py"
_GUARD = Path(__file__).parent.parent / "inside" / "guard.cpp"
_MOST_TEXT = 256 << 20

Questions = Callable[[Mapping[str, Any], Path], Mapping[str, Any]]
"""Answers a question of the process; the folder is the one that both see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The answers of a process, and how it ended."""

    answers: tuple[Answer, ...]
    kernels: Mapping[str, CompiledKernel]
    notes: tuple[str, ...]
    done: sandbox.Finished


def run(order: Mapping[str, Any], source: str, store: Store, questions: Questions) -> Ran:
    """Runs one process on an order."""
    tools = _guard(store)
    with store.staging() as folder:
        (folder / SOURCE).write_bytes(source.encode("utf-8", "surrogateescape"))
        asking, theirs = os.pipe()
        answering, ours = os.pipe()
        order = {**order, "guard": str(tools / "guard.so")}
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(_run, order, folder, (theirs, answering), tools)
            with os.fdopen(asking) as lines, os.fdopen(ours, "w") as replies:
                answers, kernels, notes = _conversation(lines, replies, questions, folder)
            return Ran(answers=answers, kernels=kernels, notes=notes, done=running.result())


def _run(order: Mapping[str, Any], folder: Path, ends: tuple[int, int], tools: Path) -> sandbox.Finished:
    packages = Path(warpwright.__file__).parents[1]
    try:
        return sandbox.run(
            [sys.executable, "-B", "-m", "warpwright.languages.python.inside", str(ends[0]), str(ends[1])],
            readable=(packages, *_python(), *toolchain.readable(), tools),
            writable=folder,
            env={"PYTHONPATH": str(packages), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            limits=LIMITS,
            stdin=json.dumps(order).encode() + b"\n",
            pass_fds=ends,
        )
    finally:
        for end in ends:
            os.close(end)


def _python() -> tuple[Path, ...]:
    """The folders of this interpreter and its packages."""
    places = {sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return tuple(Path(place) for place in sorted(places) if place != "/usr")


def _conversation(
    lines: Any, replies: Any, questions: Questions, folder: Path
) -> tuple[tuple[Answer, ...], dict[str, CompiledKernel], tuple[str, ...]]:
    """Answers questions until the process closes its end. What it sends is hostile data."""
    answers: list[Answer] = []
    kernels: dict[str, CompiledKernel] = {}
    notes: tuple[str, ...] = ()
    for line in lines:
        try:
            message = json.loads(line)
            if "build" in message:
                replies.write(json.dumps(questions(message, folder)) + "\n")
                replies.flush()
            elif "kernels" in message:
                kernels = dict(decode(Mapping[str, CompiledKernel], message["kernels"]))
                notes = decode(tuple[str, ...], message["notes"])
            else:
                answers.append(decode(Answer, message))
        except (CodecError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise refuted("trace", f"the output of the recording process is no record: {error!s:.200}") from None
        except BrokenPipeError:
            break
    return tuple(answers), kernels, notes


def _guard(store: Store) -> Path:
    """The library that stands for the device, built once for a version of torch."""
    key = f"{toolchain.key_of(_GUARD.read_text(), _torch_version())}-guard"
    return store.find(key) or store.make_once(key, _build_guard)


def _torch_version() -> str:
    from importlib.metadata import version

    return version("torch")


def _build_guard(folder: Path) -> None:
    root = Path(sysconfig.get_path("purelib")) / "torch"
    command = [str(toolchain.host_compiler()), toolchain.STANDARD, "-O1", "-shared", "-fPIC", f"-I{root}/include"]
    toolchain.must_compile([*command, str(_GUARD), "-o", "guard.so", f"-L{root}/lib", "-lc10"], folder)
