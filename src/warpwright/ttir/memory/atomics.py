"""Read, modify and write: lane by lane where the old values are asked for, at once where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.memory.access import Access, Part
from warpwright.ttir.numbers import Array, from_memory, rounded, stored, to_memory, unsigned

_MERGES: dict[str, Any] = {
    "add": np.add,
    "fadd": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "umax": np.maximum,
    "umin": np.minimum,
}
_FEW = 64
Step = Callable[[Array, int], Array]


def update(
    access: Access,
    kind: str,
    semantics: str,
    addresses: Array,
    values: Array,
    mask: Array | None,
    element: str,
    *,
    used: bool,
) -> Array:
    """`atomic_rmw`: the old values, or zeros if they are not used."""
    if kind not in (*_MERGES, "exch"):
        raise Undecided(f"unsupported: tt.atomic_rmw {kind}")
    addresses, values, mask = _every_program(access, addresses, values, mask)
    flat = np.ascontiguousarray(values).reshape(-1)
    old = np.zeros(addresses.size, flat.dtype)
    for part in access.parts(addresses, mask, stored(element).itemsize, "atomically updates"):
        if part.buffer.data is None:
            continue
        _synchronise(access, part, addresses, semantics)
        access.updated(part, stored(element).itemsize)
        if not used and kind in _MERGES and element in ("f32", "f64", "i32", "i64"):
            _at_once(part, kind, flat, element)
        else:
            _one_by_one(part, element, lambda now, lane: _merged(kind, now, flat[lane : lane + 1], element), old)
    return old.reshape(addresses.shape)


def exchange_if(
    access: Access, semantics: str, addresses: Array, expected: Array, values: Array, mask: Array | None, element: str
) -> Array:
    """`atomic_cas`: the old values. Floats are compared by their bits."""
    addresses, values, mask = _every_program(access, addresses, values, mask)
    flat = np.ascontiguousarray(values).reshape(-1)
    wanted = to_memory(np.broadcast_to(expected, addresses.shape).reshape(-1), element)
    old = np.zeros(addresses.size, flat.dtype)

    def step(now: Array, lane: int) -> Array:
        same = to_memory(now, element).tobytes() == wanted[lane : lane + 1].tobytes()
        return flat[lane : lane + 1] if same else now

    for part in access.parts(addresses, mask, stored(element).itemsize, "atomically updates"):
        if part.buffer.data is not None:
            _synchronise(access, part, addresses, semantics)
            access.updated(part, stored(element).itemsize)
            _one_by_one(part, element, step, old)
    return old.reshape(addresses.shape)


def _every_program(access: Access, addresses: Array, values: Array, mask: Array | None) -> tuple[Array, Array, Array]:
    own = (len(access.programs),) + (1,) * (addresses.ndim - 1)
    shape = np.broadcast_shapes(addresses.shape, values.shape, own, () if mask is None else mask.shape)
    on = np.broadcast_to(np.True_ if mask is None else mask, shape)
    return np.broadcast_to(addresses, shape), np.broadcast_to(values, shape), on


def _synchronise(access: Access, part: Part, addresses: Array, semantics: str) -> None:
    if access.clocks is None or semantics == "relaxed":
        return
    if part.lanes.size > _FEW:
        access.untracked = True
        return
    for lane in part.lanes:
        access.clocks.synchronise(int(part.programs[0]), int(addresses.reshape(-1)[lane]), semantics)


def _at_once(part: Part, kind: str, values: Array, element: str) -> None:
    view = part.buffer.view(stored(element))
    given = values[part.lanes]
    if kind in ("umax", "umin"):
        view, given = unsigned(view), unsigned(given)
    with np.errstate(all="ignore"):
        _MERGES[kind].at(view, part.index, given)


def _one_by_one(part: Part, element: str, step: Step, old: Array) -> None:
    view = part.buffer.view(stored(element))
    for lane, index in zip(part.lanes.tolist(), part.index.tolist(), strict=True):
        now = from_memory(view[index : index + 1], element).copy()
        old[lane] = now[0]
        view[index] = to_memory(step(now, lane), element)[0]


def _merged(kind: str, now: Array, value: Array, element: str) -> Array:
    if kind == "exch":
        return value
    if kind in ("umax", "umin"):
        return np.asarray(_MERGES[kind](unsigned(now), unsigned(value)).view(now.dtype))
    with np.errstate(all="ignore"):
        merged = np.asarray(_MERGES[kind](now, value))
    return rounded(merged, element) if merged.dtype.kind == "f" else merged
