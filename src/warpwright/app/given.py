"""Accepts tasks in any of their forms, and kernels as a file, a text or a Candidate."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from warpwright import languages
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.gpus.table import gpu_named
from warpwright.core.task import Case, Direction, Precision, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A task and how it was named, so that a command line can name it again."""

    task: Task
    name: str
    inputs: tuple[str, ...] = ()
    precision: str | None = None
    """The contract for fp32 products, where it is not the task's own."""
    dtypes: tuple[str, ...] = ()
    """The only dtypes of its cases; all if empty."""
    trusted: bool = False
    """Whether the task is used although it may not tell right from wrong."""
    source: str | None = None
    """The reference's text, where the caller gave a Python object; `name` is a file's then that does not exist yet."""

    def write(self, folder: Path) -> str:
        """Write the reference into a folder, unless the name stands for it; the options that name the task there."""
        subject = self.named()
        if subject.source is not None:
            (folder / subject.name.partition(":")[0]).write_text(subject.source, encoding="utf-8")
        described = "".join(f" --input {shlex.quote(text)}" for text in subject.inputs)
        contract = f" --precision {self.precision}" if self.precision else ""
        dtypes = "".join(f" --dtype {name}" for name in self.dtypes)
        return f"--task {shlex.quote(subject.name)}{described}{contract}{dtypes}"

    def named(self) -> Subject:
        """The same task by a name, where it was given as a Task that belongs to no suite."""
        from warpwright.tasks.given.again import spec_of, written_again

        if self.name != self.task.key or self.task.suite:
            return self
        found, file = written_again(self.task), f"{self.task.name}.py"
        return Subject(task=self.task, name=spec_of(self.task, file), inputs=found.inputs, source=found.source)


TaskLike = Subject | Task | str | Path | Callable[..., Any]
"""A Task; the name of one of a suite, a folder, a file, `ref.py:fn`; a Python function or an nn.Module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFile:
    """A kernel's file, with the macros it is compiled with and the folders of its own headers."""

    path: Path
    macros: tuple[str, ...] = ()
    """Compiler flags such as -DWIDE=1 and -UDEBUG; they are part of the candidate's identity."""
    includes: tuple[Path, ...] = ()


KernelLike = Candidate | KernelFile | str | Path
"""A Candidate; a file with its macros; a path; text that ends in .cu is a path too, any other text is the source."""
Inputs = Sequence[object] | Mapping[str, object]
"""Example tensors and scalars, or descriptions such as "8,512:bf16", in order or by name."""


def subject_of(
    task: TaskLike, inputs: Inputs = (), precision: str | None = None, dtypes: Sequence[str] = ()
) -> Subject:
    """The first direction of what is named; for Python objects the forward pass. `precision` replaces the task's, and
    `dtypes` selects among its cases.
    """
    found = _subject(task, inputs)
    if dtypes:
        names = tuple(dtype_named(name).name for name in dtypes)
        found = replace(found, task=with_dtypes(found.task, names), dtypes=names)
    if precision is None:
        return found
    return replace(found, task=with_precision(found.task, precision), precision=precision)


def with_dtypes(task: Task, dtypes: Sequence[str]) -> Task:
    """The task with its cases of these dtypes only."""
    cases = cases_of_types(task, dtypes)
    return replace(task, cases=cases, dtypes=tuple(dict.fromkeys(case.dtype for case in cases)))


def cases_of_types(task: Task, dtypes: Sequence[str]) -> tuple[Case, ...]:
    """The cases of these element types; at least one."""
    cases = tuple(case for case in task.cases if not dtypes or case.dtype in dtypes)
    if not cases:
        raise UsageError(f"{task.key} has no case of type {', '.join(dtypes)}; it has {', '.join(task.dtypes)}")
    return cases


def with_precision(task: Task, precision: str) -> Task:
    """The task under another contract for fp32 products."""
    if precision not in list(Precision):
        raise UsageError(f"'{precision}' is no precision; use {' or '.join(Precision)}")
    return replace(task, tolerance=replace(task.tolerance, tf32=precision == Precision.TF32))


def _subject(task: TaskLike, inputs: Inputs) -> Subject:
    from warpwright.tasks import load
    from warpwright.tasks.given.examples import descriptions

    if isinstance(task, Subject | Task) and inputs:
        raise UsageError("a Task has its inputs already; leave `inputs` out")
    if isinstance(task, Subject):
        return task
    if isinstance(task, Task):
        return Subject(task=task, name=task.key)
    if isinstance(task, str | Path):
        described = descriptions(inputs)
        return Subject(task=load(str(task), inputs=described)[0], name=str(task), inputs=described)
    return _object(task, inputs)


def _object(task: Any, inputs: Inputs) -> Subject:
    """A Python object becomes a text, because checks and judges run it in processes of their own."""
    from warpwright.tasks.function import function_task
    from warpwright.tasks.given.callables import Written, written
    from warpwright.tasks.given.examples import descriptions
    from warpwright.tasks.given.modules import traced

    if isinstance(task, FunctionType):
        found = Written(source=written(task), entry=task.__name__, inputs=descriptions(inputs))
    elif hasattr(task, "named_parameters") and not isinstance(task, type) and not isinstance(inputs, Mapping):
        if not inputs:
            raise UsageError("a module is traced on example inputs; give them, as in inputs=[torch.randn(8, 512)]")
        found = traced(task, inputs)
    else:
        kind = type(task).__name__
        raise UsageError(
            f"a task is a name, a file, a Task, a function or an nn.Module with a list of inputs, not {kind}"
        )
    file = f"{found.entry}.py"
    made = function_task(found.source, Path(file), found.entry, found.inputs, Direction.FORWARD)
    return Subject(task=made, name=f"{file}:{found.entry}", inputs=found.inputs, source=found.source)


def candidate_of(kernel: KernelLike, gpu: str = "h200", fast_math: bool = False) -> Candidate:
    """A Candidate stays as it is; a file's text may be anything, and what is no source is for the first rung to say."""
    if isinstance(kernel, Candidate):
        return kernel
    path, flags = path_of(kernel), Flags(gpu=gpu_named(gpu).name, fast_math=fast_math)
    if path is None:
        return Candidate(source=str(kernel), flags=flags)
    if isinstance(kernel, KernelFile):
        return languages.read(path, replace(flags, extra=kernel.macros), kernel.includes)
    return languages.read(path, flags)


def path_of(kernel: KernelLike) -> Path | None:
    """The path of the kernel; None if it is no file."""
    if isinstance(kernel, KernelFile):
        return kernel.path
    named = isinstance(kernel, str) and "\n" not in kernel and kernel.endswith(languages.file_endings())
    return Path(kernel) if isinstance(kernel, Path) or named else None  # type: ignore[arg-type]


def macro_options(flags: Sequence[str]) -> str:
    """The options of a command line that set these macros."""
    names = {"-D": "--define", "-U": "--undefine"}
    return "".join(f" {names[flag[:2]]} {shlex.quote(flag[2:])}" for flag in flags if flag[:2] in names)


def headers_first(doing: str) -> str:
    """The progress message while a candidate is compiled; the first time our own headers are compiled too."""
    from warpwright.seal.cache import Store, default_root

    store = Store(root=default_root())
    prepared = all(language.is_prepared(store) for language in languages.frontends().values())
    return doing if prepared else f"preparing headers, once; then {doing}"
