"""Parses descriptions of inputs on the command line.

8,512,768:bf16     a tensor; fp32 if no dtype is given
16:int64<100       integers below 100
16,                one dimension; a lone number without comma or dtype is a scalar
:fp32              a tensor without dimensions
1e-5  true  none   scalars; [2, 2] a list of them
eps=1e-5           any of these by the name of the argument; a word with a name is a string
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.task import Plain
from warpwright.tasks.probing.seen import ScalarSeen, Seen, TensorSeen

_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)
_SHAPE = re.compile(r"(\d+(,\d+)*,?)?", re.ASCII)
_TYPE = re.compile(r"([A-Za-z_][\w.]*)(?:<(\d+))?", re.ASCII)
_WORDS: dict[str, Plain] = {"none": None, "true": True, "false": False}
_REMEDY = "write sizes and dtype such as 8,512,768:bf16 or 16:int64<100, or a scalar such as eps=1e-5"
_MOST = 2**62


def described(inputs: Sequence[str]) -> tuple[Seen, ...]:
    """Parses every description; an input without a name has an empty one."""
    found = tuple(_one(text.strip()) for text in inputs)
    names = [seen.name for seen in found if seen.name]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"--input names '{repeated}' twice")
    return found


def _one(text: str) -> Seen:
    named = _NAMED.fullmatch(text)
    name, value = named.groups() if named else ("", text)
    value = value.strip()
    if ":" in value or ("," in value and _SHAPE.fullmatch(value)):
        return _tensor(text, name, value)
    return ScalarSeen(name=name, value=_scalar(text, value, bool(name)))


def _tensor(text: str, name: str, value: str) -> TensorSeen:
    extents, _, kind = value.partition(":")
    extents, kind = extents.replace(" ", ""), kind.strip()
    typed = _TYPE.fullmatch(kind.replace(" ", "")) if kind else None
    if not _SHAPE.fullmatch(extents) or (kind and not typed):
        raise UsageError(f"'{text}' is not an input; {_REMEDY}")
    shape = tuple(_size(text, part) for part in extents.split(",") if part)
    dtype = dtype_named(typed[1] if typed else "fp32")
    below = _size(text, typed[2]) if typed and typed[2] else None
    if below is not None and (dtype.floating or below == 0):
        raise UsageError(f"'{text}': '<' gives whole numbers an upper bound of at least 1; {dtype.name} takes none")
    return TensorSeen(name=name, shape=shape, dtype=dtype.name, below=below, draw="normal", grad=dtype.floating)


def _size(text: str, digits: str) -> int:
    if len(digits) > 18 or int(digits) > _MOST:
        raise UsageError(f"'{text}' is larger than any tensor; {_REMEDY}")
    return int(digits)


def _scalar(text: str, value: str, named: bool) -> Plain | tuple[Plain, ...]:
    if value[:1] in ("[", "(") and value[-1:] in ("]", ")"):
        return tuple(_plain(text, part.strip(), named) for part in value[1:-1].split(",") if part.strip())
    return _plain(text, value, named)


def _plain(text: str, value: str, named: bool) -> Plain:
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    if named and value.isidentifier():
        return value
    raise UsageError(f"'{text}' is not an input; {_REMEDY}")
