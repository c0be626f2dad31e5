"""The JSON codec: frozen dataclasses to plain data and back, and content ids.

Types drive decoding, so that JSON carries no class names, except for fields that may hold one of several classes: these
declare `KIND` and are distinguished by a "kind" key. Non-finite floats are encoded as strings. A field marked with
OMIT_DEFAULT is left out if it has its default value, so that adding it to a class changes neither the text nor the id
of values stored before.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import math
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

OMIT_DEFAULT: Mapping[str, bool] = types.MappingProxyType({"omit default": True})
"""Metadata of a dataclass field: `field(default=..., metadata=OMIT_DEFAULT)`."""


class CodecError(ValueError):
    """Data does not fit its type; the message names the place."""


def encode(value: Any) -> Any:
    """Encodes a value as plain JSON data: dicts, lists, strings, numbers, booleans, None."""
    match value:
        case None | bool() | int() | str() if not isinstance(value, Enum):
            return value
        case Enum():
            return value.value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case Mapping():
            return {_key(key): encode(item) for key, item in value.items()}
        case list() | tuple():
            return [encode(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode_dataclass(value)
    raise CodecError(f"{type(value).__name__} has no JSON form")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise CodecError(f"key {key!r} is not a string")
    return key


def _encode_dataclass(value: Any) -> dict[str, Any]:
    kind = getattr(type(value), "KIND", None)
    data = {} if kind is None else {"kind": kind}
    return data | {
        field.name: encode(item)
        for field in dataclasses.fields(value)
        if not _is_omitted(field, item := getattr(value, field.name))
    }


def _is_omitted(field: dataclasses.Field[Any], item: Any) -> bool:
    return bool(field.metadata.get("omit default")) and bool(item == field.default)


def decode(kind: Any, data: Any, where: str = "$") -> Any:
    """Decodes plain data to a value of type `kind`; CodecError names the place that does not fit."""
    if kind is Any:
        return data
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(kind), data, where)
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind), data, where)
    if origin in (dict, Mapping):
        item = typing.get_args(kind)[1]
        return {key: decode(item, entry, f"{where}.{key}") for key, entry in _expect(dict, data, where).items()}
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, _expect(dict, data, where), where)
    return _decode_scalar(kind, data, where)


def _expect(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, kind):
        raise CodecError(f"{where}: expected {kind.__name__}, found {type(data).__name__}")
    return data


def _decode_tuple(items: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    entries = _expect(list, data, where)
    if items[-1:] == (Ellipsis,):
        items = (items[0],) * len(entries)
    if len(items) != len(entries):
        raise CodecError(f"{where}: expected {len(items)} items, found {len(entries)}")
    return tuple(
        decode(kind, entry, f"{where}[{i}]") for i, (kind, entry) in enumerate(zip(items, entries, strict=True))
    )


def _decode_union(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in kinds:
        return None
    if isinstance(data, dict) and "kind" in data and any(hasattr(kind, "KIND") for kind in kinds):
        kinds = tuple(kind for kind in kinds if getattr(kind, "KIND", None) == data["kind"])
    problems = []
    for kind in kinds:
        try:
            return decode(kind, data, where)
        except CodecError as error:
            problems.append(str(error))
    raise CodecError(problems[0] if len(problems) == 1 else f"{where}: {data!r:.60} fits none of {len(kinds)} types")


def _decode_dataclass(kind: Any, data: dict[str, Any], where: str) -> Any:
    hints = _hints(kind)
    known = {field.name for field in dataclasses.fields(kind)}
    if unknown := sorted(data.keys() - known - {"kind"}):
        raise CodecError(f"{where}: unknown key '{unknown[0]}' for {kind.__name__}")
    values = {name: decode(hints[name], entry, f"{where}.{name}") for name, entry in data.items() if name in known}
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise CodecError(f"{where}: {error}") from None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode_scalar(kind: Any, data: Any, where: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _attempt(kind, data, where)
    if kind is bytes:
        return _attempt(lambda text: base64.b64decode(text, validate=True), _expect(str, data, where), where)
    if kind is float and data in ("nan", "inf", "-inf"):
        return float(data)
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if kind is type(None):
        kind = types.NoneType
    if kind is int and isinstance(data, bool):
        raise CodecError(f"{where}: expected int, found bool")
    return _expect(kind, data, where)


def _attempt(make: Any, data: Any, where: str) -> Any:
    try:
        return make(data)
    except ValueError as error:
        raise CodecError(f"{where}: {error}") from None


def dumps(value: Any) -> str:
    """Encodes as canonical JSON: sorted keys, no spaces, so that equal values have equal text."""
    return json.dumps(encode(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def loads(kind: Any, text: str | bytes) -> Any:
    try:
        return decode(kind, json.loads(text))
    except json.JSONDecodeError as error:
        raise CodecError(f"not JSON: {error}") from None


def content_id(value: Any) -> str:
    """Returns 20 hexadecimal digits of the SHA-256 of the canonical JSON."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()[:20]
