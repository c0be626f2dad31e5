"""Groups of options as dataclasses: the fields become options of every command that takes the dataclass."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command with each dataclass parameter replaced by its fields, for Typer."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    parameters = list(_parameters(command, hints, groups))

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in dataclasses.fields(kind)})
        command(**given)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _parameters(command: Callable[..., None], hints: dict[str, Any], groups: dict[str, Any]) -> Iterator[Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for field in dataclasses.fields(groups[name]):
            default = Parameter.empty if field.default is dataclasses.MISSING else field.default
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=types[field.name])
