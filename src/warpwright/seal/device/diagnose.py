"""Turns a compiler's log into facts for a person or a model, and decides whether the candidate or our headers caused
it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from warpwright.sandbox.run import Finished
from warpwright.seal.refusal import COMPILE_LIMIT, Refused, refuted, undecided

_ASSEMBLER = re.compile(r"^\S+\.s:\d+: Error: (?P<message>.*)$")
_FORMS = (
    re.compile(r"^(?P<file>[^\s:(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<message>.*)$"),
    re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$"),
    re.compile(r"^(?:ptxas|nvlink)\s[^;]*; error\s*: (?P<message>.*)$"),
    re.compile(r"^(?:ptxas|nvlink|nvcc)\s+(?:error|fatal)\s*: (?P<message>.*)$"),
    re.compile(r"^.*: (?P<message>undefined reference to .*)$"),
    _ASSEMBLER,
)
_MISSING = (
    re.compile(r'cannot open source file "(?P<header>[^"]+)"'),
    re.compile(r"(?P<header>\S+\.\w+): No such file or directory"),
    re.compile(
        r'(?:namespace|class|enum|struct|union|template)\s.*?"(?P<scope>[^"]+)" has no (?:actual )?'
        r'member "(?P<name>[^"]+)"'
    ),
    re.compile(r"['‘](?P<name>[^'’]+)['’] is not a member of ['‘](?P<scope>[^'’]+)['’]"),
    re.compile(r"['‘](?:class |struct |const )*(?P<scope>[^'’]+)['’] has no member named ['‘](?P<name>[^'’]+)['’]"),
    re.compile(r"['‘](?P<name>[^'’]+)['’] in namespace ['‘](?P<scope>[^'’]+)['’]"),
    re.compile(r'identifier "(?P<name>[^"]+)" is undefined'),
    re.compile(r"['‘](?P<name>[^'’]+)['’] (?:was not declared|does not name a type|has not been declared)"),
    re.compile(r"undefined reference to [`'‘](?P<name>[^'’]+)['’]"),
)
_MISFIT = re.compile(
    r"(?:no instance of|no suitable|no operator|no matching|could not convert|cannot convert|argument of type"
    r"|invalid conversion|ambiguous).*?(?P<name>\b(?:at|torch|c10|pybind11)::\w+)",
)
_LIBRARY_HEADER = re.compile(r"(torch|ATen|c10|caffe2|pybind11|cub|thrust|cuda|cutlass|cute|cudnn|nccl|mma|cu\w+)\b")
_LIBRARY_WORD = re.compile(
    r"(AT|TORCH|C10|PYBIND11|CUBLAS|CUDNN|CUDA|CUSPARSE|CURAND|CUFFT|NCCL)_\w+"
    r"|(cublas|cudnn|cusparse|cusolver|curand|cufft|nccl|cuda|cu)[A-Z]\w*|__nv\w+|__half\w*|k[A-Z]\w+"
)
_TORCH_SCOPES = frozenset({"at", "torch", "c10", "pybind11", "py", "caffe2"})
_OTHER_SCOPES = frozenset({"cub", "thrust", "cutlass", "cute", "cooperative_groups", "nvcuda", "cuda", "cg"})
_MOST_REPORTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One error, with the user's line numbers. Facts that the compiler did not state are None."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    text: str | None = None
    """The line of source at the error."""


def diagnostics(log: str, source: str) -> tuple[Diagnostic, ...]:
    """The errors of a compiler's log, first one first."""
    lines = source.splitlines()
    return tuple(_diagnostic(match, rest, lines) for match, rest in _errors(log))[:_MOST_REPORTED]


def _errors(log: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    lines = log.splitlines()
    for number, line in enumerate(lines):
        match = next((match for form in _FORMS if (match := form.match(line))), None)
        if match:
            yield match, lines[number + 1 : number + 8]


def _diagnostic(match: re.Match[str], rest: list[str], source: list[str]) -> Diagnostic:
    found = match.groupdict()
    line = int(found["line"]) if found.get("line") else None
    ours = found.get("file") in (None, "kernel.cu")
    text = source[line - 1].strip() if ours and line and line <= len(source) else None
    column = int(found["column"]) if found.get("column") else _caret(rest, text)
    return Diagnostic(message=found["message"].strip(), file=found.get("file"), line=line, column=column, text=text)


def _caret(rest: list[str], text: str | None) -> int | None:
    """The column of the error: nvcc repeats the line and marks the place below it."""
    for shown, mark in itertools.pairwise(rest):
        if text and shown.strip() == text and mark.strip() == "^":
            return mark.index("^") - 1
    return None


def missing_from_headers(diagnostic: Diagnostic) -> str | None:
    """The name that our headers lack and torch or CUDA has; None if the candidate is wrong."""
    for pattern in _MISSING:
        if match := pattern.search(diagnostic.message):
            return _library_name(**match.groupdict())
    misfit = _MISFIT.search(diagnostic.message)
    return f"this use of {misfit['name']}" if misfit else None


def _library_name(header: str | None = None, scope: str | None = None, name: str | None = None) -> str | None:
    if header is not None:
        return header if _LIBRARY_HEADER.match(header) else None
    leaf = re.split(r"::|[<(]", (name or "").removeprefix("::"))
    full = f"{scope}::{name}" if scope else name or ""
    root = re.split(r"::|<", full)[0]
    if root in _TORCH_SCOPES:
        return full if leaf[-1 if "::" in (name or "") else 0] in torch_names() else None
    return full if root in _OTHER_SCOPES or _LIBRARY_WORD.fullmatch(leaf[0]) else None


@cache
def torch_names() -> frozenset[str]:
    """Names of torch's C++ interface, so that a misspelt name does not count as a gap in our headers."""
    return frozenset((Path(__file__).with_name("torch_names.txt")).read_text().split())


def compile_refusal(done: Finished, log: str, source: str) -> Refused:
    """The reason why a source did not compile: a limit, a gap in our headers, or an error of its own."""
    if done.reason is not None:
        return refuted(COMPILE_LIMIT, f"compiling it {done.excess}")
    found = diagnostics(log, source)
    if not found:
        return refuted("compile", f"the compiler failed: {_last_line(log) or f'signal {done.signal}'}")
    gaps = [name for name in map(missing_from_headers, found) if name]
    if gaps and missing_from_headers(found[0]):
        return undecided(f"unsupported: {gaps[0]}")
    first = found[0]
    facts = {"errors": [asdict(diagnostic) for diagnostic in found]}
    return refuted("compile", first.message, line=first.line, facts=facts)


def assembler_complaint(log: str) -> str | None:
    """The host assembler's error, caused by the candidate's inline assembly, which our headers do not affect."""
    return next((match["message"] for line in log.splitlines() if (match := _ASSEMBLER.match(line))), None)


def _last_line(log: str) -> str:
    return next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "")
