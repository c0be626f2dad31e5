"""Caches the truths of draws: they depend only on the task and take longer to compute than most kernels run."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import warpwright.oracle
from warpwright.core.codec import content_id, decode, encode
from warpwright.core.dtypes import dtype_named
from warpwright.core.signature import TensorSpec
from warpwright.core.task import Compare, Draw, Task
from warpwright.emulate.staging import Stage
from warpwright.oracle.inputs.arguments import forward_inputs, gradient_inputs
from warpwright.oracle.inputs.storage import Tensor, from_bytes, to_bytes
from warpwright.oracle.truth.expected import HONEST_RUNS, Expected, Scenario, expectations, scenario
from warpwright.seal.cache import Store

_FILE = "truth"
_MOST_BYTES = 64 << 20
"""The largest draw that is cached; larger ones are recomputed."""
_SELF_CONTAINED = frozenset(
    {
        "__future__",
        "collections",
        "dataclasses",
        "enum",
        "functools",
        "itertools",
        "math",
        "operator",
        "torch",
        "typing",
    }
)
"""The modules that a reference may import and still depend only on its text; the user's own modules may change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A draw with its inputs, and the expected results."""

    stage: Stage
    expected: tuple[Expected, ...]


@dataclass(slots=True, kw_only=True)
class Truths:
    """The truths of one task: from memory, else from the store, else computed."""

    task: Task
    store: Store
    runs: int = HONEST_RUNS
    """The number of honest runs that the error budgets come from."""
    _known: dict[str, Known] = field(default_factory=dict)

    def of(self, draw: Draw) -> Known:
        key = repr(draw)
        if key not in self._known:
            self._known[key] = self._stored(draw) if _self_contained(self.task.reference.source) else self._made(draw)
        return self._known[key]

    def _made(self, draw: Draw) -> Known:
        given = scenario(self.task, draw)
        stage = Stage(task=self.task, draw=draw, given=given)
        return Known(stage=stage, expected=expectations(self.task, draw, given, self.runs))

    def _stored(self, draw: Draw) -> Known:
        key = content_id([self.task, draw, self.runs, _identity()]) + "-truth"
        folder = self.store.find(key)
        found = None if folder is None else self._read(draw, folder / _FILE)
        if found is not None:
            return found
        made = self._made(draw)
        packed = _packed(made)
        if len(packed) <= _MOST_BYTES:
            self.store.make(key, lambda place: _write(place, packed))
        return made

    def _read(self, draw: Draw, path: Path) -> Known | None:
        """Reads an entry of the store; None if it is damaged or has just been evicted."""
        try:
            saves, expected = _unpacked(path.read_bytes())
        except (OSError, ValueError, LookupError, TypeError):
            return None
        arguments, gradients = forward_inputs(self.task, draw), gradient_inputs(self.task, draw)
        given = Scenario(arguments=arguments, gradients=gradients, saves=saves)
        return Known(stage=Stage(task=self.task, draw=draw, given=given), expected=expected)


def _write(place: Path, packed: bytes) -> None:
    (place / _FILE).write_bytes(packed)


@cache
def _identity() -> str:
    """A digest of everything besides the task that determines a truth: the oracle's sources and the version of
    torch."""
    digest = hashlib.sha256(version("torch").encode())
    for path in sorted(Path(warpwright.oracle.__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


@cache
def _self_contained(source: str) -> bool:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return False
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    imported += ["." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)]
    return all(name.split(".")[0] in _SELF_CONTAINED for name in imported)


def _packed(known: Known) -> bytes:
    """A header line, then the bytes of the tensors."""
    blob: list[bytes] = []
    saves = [_kept(tensor, blob) for tensor in known.stage.given.saves]
    expected = [_kept_expected(item, blob) for item in known.expected]
    return b"\n".join([json.dumps({"saves": saves, "expected": expected}).encode(), b"".join(blob)])


def _kept(tensor: Tensor | None, blob: list[bytes]) -> dict[str, Any] | None:
    if tensor is None:
        return None
    blob.append(to_bytes(tensor))
    dtype = dtype_named(str(tensor.dtype)).name
    return {"dtype": dtype, "shape": list(tensor.shape), "stride": list(tensor.stride()), "bytes": len(blob[-1])}


def _kept_expected(item: Expected, blob: list[bytes]) -> dict[str, Any]:
    plain = {"name": item.name, "spec": encode(item.spec), "compare": item.compare.value, "slack": item.slack}
    tensors = {name: _kept(getattr(item, name), blob) for name in ("value", "spread", "choices", "honest")}
    return {**plain, **tensors, "independent": item.independent}


def _unpacked(data: bytes) -> tuple[list[Tensor], tuple[Expected, ...]]:
    line, _, blob = data.partition(b"\n")
    said, pieces = json.loads(line), _Pieces(blob)
    saves = [pieces.needed(kept) for kept in said["saves"]]
    return saves, tuple(_expected(kept, pieces) for kept in said["expected"])


def _expected(kept: Mapping[str, Any], pieces: _Pieces) -> Expected:
    return Expected(
        name=kept["name"],
        spec=decode(TensorSpec, kept["spec"]),
        compare=Compare(kept["compare"]),
        value=pieces.needed(kept["value"]),
        spread=pieces.next(kept["spread"]),
        choices=pieces.next(kept["choices"]),
        honest=pieces.next(kept["honest"]),
        independent=kept["independent"],
        slack=kept["slack"],
    )


class _Pieces:
    """Reads tensors one after another, in the order in which they were stored."""

    def __init__(self, blob: bytes) -> None:
        self._blob, self._at = blob, 0

    def next(self, kept: Mapping[str, Any] | None) -> Tensor | None:
        return None if kept is None else self.needed(kept)

    def needed(self, kept: Mapping[str, Any]) -> Tensor:
        piece = self._blob[self._at : self._at + kept["bytes"]]
        self._at += kept["bytes"]
        found = from_bytes(piece, kept["dtype"], kept["shape"], kept["stride"])
        if found is None:
            raise ValueError("a truth in the store is truncated")
        return found
