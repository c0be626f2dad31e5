"""Knobs: the tunable parameters of a kind of kernel, with the values worth trying."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Config = Mapping[str, Any]
"""A value for each knob."""
Space = Mapping[str, tuple[Any, ...]]
"""The values of each knob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One choice. Kernels of several kinds may share a knob; they name the same one."""

    name: str
    values: tuple[Any, ...]
    default: Any
    variations: Mapping[int, Any] = field(default_factory=dict)
    """Its value in some of the numbered configs that are tried beside the default. Knobs of different kinds change in
    the same config: a case shows the effect of the kind that it takes."""


VECTOR_BYTES = Knob(name="vector_bytes", values=(16, 8), default=16, variations={6: 8})
"""The bytes of a pack, which a thread loads or stores at once."""


def space_of(knobs: Iterable[Knob]) -> dict[str, tuple[Any, ...]]:
    return {knob.name: knob.values for knob in knobs}


def defaults_of(knobs: Iterable[Knob]) -> dict[str, Any]:
    return {knob.name: knob.default for knob in knobs}


def variations_of(knobs: Iterable[Knob]) -> list[dict[str, Any]]:
    """The changes to the default of the configs to try, the most relevant first."""
    found: dict[int, dict[str, Any]] = {}
    for knob in knobs:
        for number, value in knob.variations.items():
            found.setdefault(number, {})[knob.name] = value
    return [found[number] for number in sorted(found)]
