"""Decides which part runs for which arguments, by a small decision tree over sizes, types and scalars.

Every node separates cases for which different parts are fastest. A threshold is the geometric mean of the two sizes it
separates, because performance changes with the order of magnitude of a size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from warpwright.core.calls import arguments
from warpwright.core.signature import ListSpec, ScalarSpec, Spec, TensorSpec
from warpwright.core.task import Case, Task
from warpwright.languages.cuda.element_types import IN_TORCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An expression over the arguments, and its value in every case: a number, or the name of a type."""

    expression: str
    values: Mapping[str, float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    condition: str
    then: Rule
    otherwise: Rule


Rule = int | Split
"""A leaf, which is the number of a part, or a split."""


def rule_for(
    task: Task, cases: Sequence[Case], winners: Mapping[str, int], best: int, names: Sequence[str | None]
) -> Rule:
    """Builds the tree. `names` are the parameters by position, None for an optional one. Cases that no question
    separates go to `best`."""
    questions = [question for question in _questions(task, cases, names) if len(set(question.values.values())) > 1]
    return _rule(list(winners), winners, best, questions)


def _rule(cases: Sequence[str], winners: Mapping[str, int], best: int, questions: Sequence[Question]) -> Rule:
    if len({winners[case] for case in cases}) == 1:
        return winners[cases[0]]
    tried = [option for question in questions for option in _options(question, cases)]
    if not tried:
        return best
    condition, yes = min(tried, key=lambda option: _mixture(option[1], cases, winners))
    no = [case for case in cases if case not in yes]
    return Split(
        condition=condition,
        then=_rule(yes, winners, best, questions),
        otherwise=_rule(no, winners, best, questions),
    )


def _options(question: Question, cases: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yields conditions that hold for some of the cases only, each with the cases for which it holds."""
    known = {question.values[case] for case in cases}
    numbers = sorted(value for value in known if not isinstance(value, str))
    for below, above in pairwise(numbers):
        at = _between(below, above)
        yes = [case for case in cases if float(question.values[case]) <= at]
        yield f"{question.expression} <= {at}", yes
    for kind in sorted(value for value in known if isinstance(value, str))[:-1]:
        yield f"{question.expression} == {kind}", [case for case in cases if question.values[case] == kind]


def _between(below: float, above: float) -> float:
    if below > 0 and float(below).is_integer() and float(above).is_integer():
        return max(int(below), min(math.isqrt(int(below) * int(above)), int(above) - 1))
    return below + (above - below) / 2


def _mixture(yes: Sequence[str], cases: Sequence[str], winners: Mapping[str, int]) -> float:
    """The Gini impurity of a split: on each side, the cases times the chance that two of them have different
    winners."""
    no = [case for case in cases if case not in yes]
    return sum(_impurity([winners[case] for case in side]) for side in (yes, no))


def _impurity(won: Sequence[int]) -> float:
    return len(won) - sum(won.count(part) ** 2 for part in set(won)) / len(won)


def _questions(task: Task, cases: Sequence[Case], names: Sequence[str | None]) -> Iterator[Question]:
    """Yields questions about sizes first, then types, then scalars: the order in which they usually decide speed."""
    specs = {case.name: arguments(task, case) for case in cases}
    given = next(iter(specs.values()))
    asked = [(place, name) for place, name in enumerate(names[: len(given)]) if name is not None]
    for place, name in asked:
        column = {case: spec[place] for case, spec in specs.items()}
        tensors = {case: spec for case, spec in column.items() if isinstance(spec, TensorSpec)}
        if len(tensors) == len(specs):
            for dim in range(min(len(spec.shape) for spec in tensors.values())):
                sizes = {case: float(spec.shape[dim]) for case, spec in tensors.items()}
                yield Question(expression=f"{name}.size({dim})", values=sizes)
        lists = {case: float(len(spec.items)) for case, spec in column.items() if isinstance(spec, ListSpec)}
        if len(lists) == len(specs):
            yield Question(expression=f"static_cast<int64_t>({name}.size())", values=lists)
    yield from _types_and_numbers(specs, asked)


def _types_and_numbers(specs: Mapping[str, Sequence[Spec]], asked: Sequence[tuple[int, str]]) -> Iterator[Question]:
    for place, name in asked:
        kinds = {case: kind for case, spec in specs.items() if (kind := _type_of(spec[place])) is not None}
        if len(kinds) == len(specs):
            yield Question(expression=f"{name}.scalar_type()", values=kinds)
    for place, name in asked:
        numbers = {case: number for case, spec in specs.items() if (number := _number(spec[place])) is not None}
        if len(numbers) == len(specs):
            yield Question(expression=name, values=numbers)


def _type_of(spec: Spec) -> str | None:
    return IN_TORCH.get(spec.dtype) if isinstance(spec, TensorSpec) else None


def _number(spec: Spec) -> float | None:
    value = spec.value if isinstance(spec, ScalarSpec) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
