"""Classifies a candidate on four axes, each 0 to 3, with the evidence in its source.

memory        naive / coalesced / vectorised or staged in shared memory / copied asynchronously
compute       scalar / unrolled / packed pairs / tensor cores
parallelism   a thread per element / warp-level exchange / block-level exchange / persistent, cooperative or clustered
fusion        four kernels or more / three / two / one
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpwright.cpp.tokens import Kind, tokenize
from warpwright.languages.frontend import Traits

MOST_FUSED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    level: int
    because: str


Signs = tuple[tuple[int, str, re.Pattern[str]], ...]

_MEMORY: Signs = (
    (3, "it copies asynchronously", re.compile(r"cp\.async|memcpy_async|__pipeline_|cuda::pipeline|cp_async")),
    (2, "it loads vectors", re.compile(r"\b(float4|float2|u?int4|u?int2|double2|u?longlong2|half2|__nv_bfloat162)\b")),
    (2, "it stages in shared memory", re.compile(r"\b__shared__\b")),
)
_COMPUTE: Signs = (
    (3, "it uses tensor cores", re.compile(r"\bwmma::|\bmma_sync\b|\b(wg)?mma\.|\btcgen05\.|\bmma\.sync")),
    (2, "it computes on pairs", re.compile(r"\b__h\w+2\b|\b__dp4a\b|\.f32x2|\bhfma2\b")),
    (1, "it unrolls", re.compile(r"#\s*pragma\s+unroll")),
)
_PARALLELISM: Signs = (
    (3, "it clusters blocks", re.compile(r"__cluster_dims__|cluster_group|this_cluster|mapa\.")),
    (3, "its grid is persistent", re.compile(r"multiProcessorCount|this_grid|MaxActiveBlocksPerMultiprocessor")),
    (2, "its blocks exchange", re.compile(r"\b__syncthreads(_\w+)?\b|\bthis_thread_block\b")),
    (1, "its warps exchange", re.compile(r"\b__shfl_\w+|\b__reduce_\w+_sync\b|\btiled_partition\b|\b__ballot_sync\b")),
)
_INDEX = re.compile(r"\b(\w+)\s*=[^;=]*\bthreadIdx\s*\.\s*x\b")


def traits(source: str) -> Traits:
    """The levels of memory, compute, parallelism and fusion."""
    memory, compute, parallelism, fusion = explained(source)
    return memory.level, compute.level, parallelism.level, fusion.level


def explained(source: str) -> tuple[Trait, Trait, Trait, Trait]:
    """The levels with their reasons."""
    code = "".join(" " if _is_comment(kind, text) else text for kind, text in _pieces(source))
    return (
        _first(_MEMORY, code) or _coalescing(code),
        _first(_COMPUTE, code) or Trait(level=0, because="it computes one element at a time"),
        _first(_PARALLELISM, code) or Trait(level=0, because="its threads work alone"),
        _fusion(code),
    )


def _pieces(source: str) -> list[tuple[Kind, str]]:
    return [(token.kind, token.text) for token in tokenize(source)]


def _is_comment(kind: Kind, text: str) -> bool:
    return kind is Kind.SPACE and text.startswith("/")


def _first(signs: Signs, code: str) -> Trait | None:
    return next((Trait(level=level, because=because) for level, because, sign in signs if sign.search(code)), None)


def _coalescing(code: str) -> Trait:
    """Detects coalesced accesses: some subscript has a thread's index without a factor."""
    names = {"threadIdx.x", *_INDEX.findall(code)}
    subscripts = re.findall(r"\[([^\[\]]*)\]", code)
    plain = any(_unscaled(name, subscript) for name in names for subscript in subscripts)
    if plain:
        return Trait(level=1, because="neighbouring threads touch neighbouring elements")
    return Trait(level=0, because="no subscript has a thread's index without a factor")


def _unscaled(name: str, subscript: str) -> bool:
    return bool(re.search(rf"(?<![\w.*])\s*{re.escape(name)}\b(?!\s*[*.\w])", re.sub(r"\*\s+", "*", subscript)))


def _fusion(code: str) -> Trait:
    launches = code.count("<<<")
    return Trait(level=max(MOST_FUSED + 1 - max(launches, 1), 0), because=f"{launches} launches in the source")
