"""Merges kernels that are fastest on different shapes into one source that chooses between them.

Each source gets its own namespace. Includes come first, macros that would change a later part are undefined between the
parts, and one entry chooses the part by sizes, types and scalars of its arguments. Sources that cannot be merged in
this way are refused with one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warpwright.core.calls import entries
from warpwright.core.errors import UsageError
from warpwright.core.task import Case, Task
from warpwright.languages.cuda.merging.parts import Entry, Parameter, Part, part_of
from warpwright.languages.cuda.merging.rule import Rule, Split, rule_for


def merged(task: Task, sources: Sequence[str], winners: Mapping[str, int], best: int) -> str:
    """Merges several sources with the same interface into one.

    `winners` gives the fastest source of each case; `best` is the source for arguments that the cases do not
    distinguish.
    """
    if len(entries(task)) > 1:
        raise UsageError("a training pair cannot be merged: only a part's own backward can read what its forward saves")
    cases = _cases(task, winners, len(sources), best)
    used = sorted({best, *winners.values()})
    if len(used) < 2:
        raise UsageError("one source wins every case; there is nothing to merge")
    entry = str(task.direction)
    parts = {number: part_of(sources[number], entry, f"source {number}") for number in used}
    _refuse_misfits(list(parts.values()))
    names = [_askable(parameter) for parameter in parts[best].entry.parameters]
    rule = rule_for(task, cases, winners, best, names)
    return "\n".join([*_texts(parts), *_dispatcher(entry, parts, best, rule)]) + "\n"


def _cases(task: Task, winners: Mapping[str, int], sources: int, best: int) -> list[Case]:
    known = {case.name: case for case in task.cases}
    unknown = [name for name in winners if name not in known]
    if unknown:
        raise UsageError(f"{task.key} has no case {unknown[0]}")
    strangers = [number for number in (*winners.values(), best) if not 0 <= number < sources]
    if strangers:
        raise UsageError(f"there is no source {strangers[0]}; there are {sources}")
    return [known[name] for name in winners]


def _refuse_misfits(parts: Sequence[Part]) -> None:
    first, *others = parts
    with_c_names = [part.label for part in parts if part.has_c_names]
    if len(with_c_names) > 1:
        raise UsageError(f"{' and '.join(with_c_names)} cannot be merged: both have functions with C names")
    for part in others:
        if _bare(part.entry.returns) != _bare(first.entry.returns):
            raise UsageError(
                f"{part.label} returns {part.entry.returns or 'nothing'}, {first.label} {first.entry.returns}"
            )
        if _kinds(part.entry) != _kinds(first.entry):
            raise UsageError(f"{part.label} and {first.label} take different arguments")


def _kinds(entry: Entry) -> list[str]:
    return [parameter.kind for parameter in entry.parameters]


def _bare(type_: str) -> str:
    return "".join(type_.split()).replace("torch::", "").replace("at::", "")


def _askable(parameter: Parameter) -> str | None:
    """A parameter's name; None if it is optional, because an absent tensor has no size."""
    return None if "optional" in parameter.type else parameter.name


def _texts(parts: Mapping[int, Part]) -> Iterator[str]:
    """Yields the includes, then the parts in their namespaces."""
    yield "// Several kernels of one function; the one that suits the arguments runs."
    yield from dict.fromkeys(["#include <torch/extension.h>", *(line for p in parts.values() for line in p.includes)])
    left = dict(parts)
    for number, part in parts.items():
        del left[number]
        yield from ("", f"namespace part_{number} {{", part.body, f"}}  // namespace part_{number}")
        yield from (f"#undef {name}" for name in part.macros if any(name in other.words for other in left.values()))


def _dispatcher(entry: str, parts: Mapping[int, Part], best: int, rule: Rule) -> Iterator[str]:
    shape = parts[best].entry
    parameters = ", ".join(f"{_global(parameter.type)} {parameter.name}" for parameter in shape.parameters)
    passed = ", ".join(parameter.name for parameter in shape.parameters)
    calls = {number: f"part_{number}::{part.entry.function}({passed})" for number, part in parts.items()}
    yield from ("", f"{_global(shape.returns)} {entry}({parameters}) {{")
    yield from _branches(rule, calls, "  ")
    yield from ("}", "", "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
    yield from (f'  m.def("{entry}", &{entry}{shape.tail});', "}")


def _branches(rule: Rule, calls: Mapping[int, str], indent: str) -> Iterator[str]:
    if not isinstance(rule, Split):
        yield f"{indent}return {calls[rule]};"
        return
    yield f"{indent}if ({rule.condition}) {{"
    yield from _branches(rule.then, calls, indent + "  ")
    yield f"{indent}}}"
    yield from _branches(rule.otherwise, calls, indent)


def _global(type_: str) -> str:
    """A type as written at global scope, where the part's using declarations do not apply."""
    words = type_.split()
    return " ".join(f"at::{word}" if word.rstrip("&") == "Tensor" else word for word in words)
