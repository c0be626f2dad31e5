"""Reads and writes artefacts on disk: source, cubin, plans, and a manifest with their origin and hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from warpwright.core.codec import dumps, loads
from warpwright.core.launch.plan import Plan
from warpwright.core.launch.sealed import Sealed
from warpwright.seal.cache import Store
from warpwright.seal.refusal import Refusal, Refused

SOURCE, CUBIN, RECORD, PLANS, REFUSAL = "kernel.cu", "kernel.cubin", "sealed.json", "plans.json", "refusal.json"


def with_hashes(sealed: Sealed) -> Sealed:
    hashes = {SOURCE: _hash(sealed.source.encode("utf-8", "surrogateescape"))}
    if sealed.cubin is not None:
        hashes[CUBIN] = _hash(sealed.cubin)
    hashes["plans"] = _hash(dumps(sealed.plans).encode())
    return replace(sealed, manifest=replace(sealed.manifest, hashes=hashes))


def write(sealed: Sealed, folder: Path) -> None:
    """Writes an artefact. The source and the cubin are also written as plain files, for other tools."""
    (folder / SOURCE).write_bytes(sealed.source.encode("utf-8", "surrogateescape"))
    if sealed.cubin is not None:
        (folder / CUBIN).write_bytes(sealed.cubin)
    (folder / RECORD).write_text(dumps(replace(sealed, source="", cubin=None)))


def read(folder: Path) -> Sealed | None:
    """The artefact of a folder; None if a file is missing or disagrees with the manifest."""
    try:
        sealed: Sealed = loads(Sealed, (folder / RECORD).read_bytes())
        hashes = sealed.manifest.hashes
        source = (folder / SOURCE).read_bytes()
        cubin = (folder / CUBIN).read_bytes() if CUBIN in hashes else None
    except (OSError, ValueError):
        return None
    intact = hashes.get(SOURCE) == _hash(source) and (cubin is None or hashes[CUBIN] == _hash(cubin))
    return replace(sealed, source=source.decode("utf-8", "surrogateescape"), cubin=cubin) if intact else None


def write_refusal(refusal: Refusal, folder: Path) -> None:
    (folder / REFUSAL).write_text(dumps(refusal))


def read_refusal(folder: Path) -> Refusal | None:
    """The refusal in this folder; None if there is none or it cannot be read."""
    try:
        refusal: Refusal = loads(Refusal, (folder / REFUSAL).read_bytes())
    except (OSError, ValueError):
        return None
    return refusal


def write_plans(plans: Sequence[Plan], folder: Path) -> None:
    (folder / PLANS).write_text(dumps(tuple(plans)))


def read_plans(folder: Path) -> tuple[Plan, ...] | None:
    """The plans of one case; None if the file cannot be read."""
    try:
        plans: tuple[Plan, ...] = loads(tuple[Plan, ...], (folder / PLANS).read_bytes())
    except (OSError, ValueError):
        return None
    return plans


def made_once(store: Store, key: str, fill: Callable[[Path], None]) -> Path:
    """The folder of an entry, which `fill` creates if it does not exist. A refusal is stored and raised again."""

    def filled(place: Path) -> None:
        try:
            fill(place)
        except Refused as refused:
            write_refusal(refused.refusal, place)

    folder = store.make(key, filled)
    if refusal := read_refusal(folder):
        raise Refused(refusal)
    return folder


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
