"""A Python candidate becomes a CUDA C++ candidate: its Python code is recorded and written as C++ host code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from warpwright.core.calls import entry_calls
from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.codec import content_id, dumps, loads
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Direction, Task
from warpwright.languages.python.form import form_of
from warpwright.languages.python.lowering.source import Recorded, lowered
from warpwright.languages.python.record import Extension
from warpwright.languages.python.recording.extensions import Builder
from warpwright.languages.python.recording.observing import Observed, Observer
from warpwright.seal import artefact, toolchain
from warpwright.seal.cache import Store
from warpwright.seal.refusal import refuted, undecided

_RECORD = "record.json"


def observed(task: Task, candidate: Candidate, cases: Sequence[Case], store: Store, again: bool = True) -> Observed:
    """What the Python code does in the cases, from the store if it was recorded before. Raises Refused."""
    key = f"{toolchain.key_of(_identity(), candidate, content_id(task), [case.name for case in cases], again)}-python"

    def fill(folder: Path) -> None:
        (folder / _RECORD).write_text(dumps(_observed(task, candidate, cases, store, again)))

    found: Observed = loads(Observed, (artefact.made_once(store, key, fill) / _RECORD).read_bytes())
    return found


def _observed(task: Task, candidate: Candidate, cases: Sequence[Case], store: Store, again: bool) -> Observed:
    return observer(task, candidate, cases[0], store).observe(cases, again)


def observer(task: Task, candidate: Candidate, case: Case, store: Store) -> Observer:
    """Records the candidate's calls; `case` is one of them."""
    form = form_of(candidate.source)
    if form is None:
        raise refuted("entry", "the file has no class ModelNew, no custom_kernel and no function named forward")
    if task.direction is not Direction.FORWARD:
        raise undecided(f"unsupported: {task.direction} tasks for candidates in Python")
    step = entry_calls(task, case)[0]
    catches = "except" in candidate.source
    builder = Builder(flags=candidate.flags, store=store, source=candidate.source, thorough=catches)
    return Observer(task=task, candidate=candidate, step=step, form=form, store=store, builder=builder)


def translated(task: Task, candidate: Candidate, cases: Sequence[Case], found: Observed) -> Candidate:
    """The CUDA C++ candidate that does what was observed."""
    step = entry_calls(task, cases[0])[0]
    recorded = [Recorded(case=case, record=found.records[case.name]) for case in cases if case.name in found.records]
    extensions = {int(number): extension for number, extension in found.extensions.items()}
    source = lowered(task, step, recorded, extensions, candidate.source, found.notes)
    return Candidate(source=source, language=CUDA, flags=_flags(candidate.flags, extensions.values()))


def _flags(flags: Flags, extensions: object) -> Flags:
    """The flags of the candidate and those that its extensions are compiled with, as far as they bear on the code."""
    wanted: list[str] = []
    for extension in extensions:  # type: ignore[attr-defined]
        assert isinstance(extension, Extension)
        wanted += [flag for flag in extension.flags if flag.startswith(("-D", "-U", "--maxrregcount", "-maxrregcount"))]
    fast = any(flag in ("--use_fast_math", "-use_fast_math") for item in extensions for flag in item.flags)  # type: ignore[attr-defined]
    return replace(flags, fast_math=flags.fast_math or fast, extra=tuple(dict.fromkeys((*flags.extra, *wanted))))


def returned_to(candidate: Candidate, sealed: Sealed) -> Sealed:
    """The sealed form of a Python candidate, from that of its translation."""
    return replace(sealed, manifest=replace(sealed.manifest, candidate=candidate.id))


@cache
def _identity() -> str:
    return identity_with(torch=_version("torch"), triton=_version("triton"))


def identity_with(**versions: str | None) -> str:
    """A digest of what records depend on besides the candidate: this package, and the versions of others."""
    folder = Path(__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".cpp"))
    return content_id([*(path.read_text() for path in files), versions])


def _version(package: str) -> str | None:
    """The installed version, without an import; None if there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
