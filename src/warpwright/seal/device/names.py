"""Derives names of kernels and device variables that nvcc and the host compiler share.

Mangled names differ for static kernels and anonymous namespaces; demangled ones do not, once the suffixes by which nvcc
distinguishes translation units are removed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import run as sandbox
from warpwright.seal.refusal import refuted

_UNIT = re.compile(r"_INTERNAL_[0-9a-f]{8}_\w+?::|_INTERNAL_[0-9a-f]{8}_\w+::")
_RESTRICT = re.compile(r"\s*\b(__)?restrict(__)?\b")
_ANONYMOUS = re.compile(r"_GLOBAL__N__[0-9a-f]{8}_\w+")


def demangled(symbols: Iterable[str], folder: Path) -> dict[str, str]:
    """The C++ name of each symbol. The demangler runs in the sandbox, because symbols are hostile text."""
    every = set(symbols)
    wanted = sorted(symbol for symbol in every if symbol.isprintable() and symbol)
    if not wanted:
        return {symbol: symbol for symbol in every}
    tool = shutil.which("c++filt")
    if tool is None:
        raise OurFault(Fault(where="seal", message="no c++filt on this machine; install binutils"))
    limits = sandbox.Limits(wall_s=300.0)
    done = sandbox.run([tool], writable=folder, stdin="\n".join(wanted).encode() + b"\n", limits=limits)
    done.blame_machine("reading names")
    if done.reason is not None or done.signal is not None:
        raise refuted("names", "its kernels or variables have names too long to be spelt out")
    lines = done.stdout.decode("utf-8", "replace").removesuffix("\n").split("\n")
    if len(lines) != len(wanted):
        raise OurFault(Fault(where="seal", message=f"c++filt failed: {done.stderr[-200:]!r}"))
    plain = {symbol: canonical(line) for symbol, line in zip(wanted, lines, strict=True)}
    return {symbol: plain.get(symbol, symbol) for symbol in every}


def canonical(name: str) -> str:
    """The name without translation units and `restrict`, which only one of the compilers keeps in an expanded pack."""
    return _ANONYMOUS.sub("(anonymous namespace)", _UNIT.sub("", _RESTRICT.sub("", name)))
