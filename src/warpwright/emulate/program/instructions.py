"""Counts executed instructions by type: the entries of each basic block times its instructions.

A counting build calls the runtime at the start of every basic block. The disassembly gives the instructions between two
such calls, so arithmetic is counted exactly as compiled: without contraction, one instruction for each operation of the
source. Integer instructions are those of this CPU and only similar to those of a GPU. Sixteen-bit arithmetic is
executed in fp32 here and counts as such.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import run as sandbox

_LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S+)(?:\s+(.*))?")
_CALLED = re.compile(r"<([\w.]+?)(?:@plt)?(?:\+0x[0-9a-f]+)?>")
_PASS = "__sanitizer_cov_trace_pc"
_X86 = re.compile(r"v?(add|sub|mul|div|sqrt|min|max|ucomi|comi|cmp\w*?)(s|p)(s|d)")
_ARM = re.compile(r"f(add|sub|mul|div|sqrt|minnm|maxnm|min|max|cmpe?|neg|madd|msub|nmadd|nmsub)")
_ALIKE = {"sub": "add", "minnm": "min", "maxnm": "max", "ucomi": "compare", "comi": "compare", "cmpe": "compare"}
_STEMS = (
    "exp exp2 expm1 exp10 log log2 log10 log1p pow sin cos tan tanh sinh cosh erf erfc erfinv cbrt "
    "asin acos atan atan2 hypot fmod lgamma tgamma"
)
_FUNCTIONS = dict.fromkeys(_STEMS.split(), "fp64_special")
_FUNCTIONS |= {f"{stem}f": "fp32_special" for stem in _STEMS.split()}
_FUNCTIONS |= {"fma": "fp64_fma", "fmaf": "fp32_fma", "sqrt": "fp64_sqrt", "sqrtf": "fp32_sqrt", _PASS: _PASS}
_FLOPS = {"add": 1, "mul": 1, "div": 1, "sqrt": 1, "fma": 2}
_ENDS = 4096
"""The number of bytes disassembled after the last call: no basic block is longer."""
_LIMITS = sandbox.Limits(output_bytes=64 << 20)
_INTEGER = ("add", "sub", "imul", "mul", "idiv", "div", "sdiv", "udiv", "shl", "sar", "shr", "sal", "lea")


def instructions(program: Path, passes: Mapping[int, int], folder: Path) -> dict[str, int]:
    """Executed instructions by type, such as fp32_add, fp64_fma and fp32_special, and `fp32_flops` and `fp64_flops`."""
    counted: Counter[str] = Counter()
    if passes:
        times = 0
        for kind, returns in _disassembled(program, min(passes), max(passes) + _ENDS, folder):
            if kind == _PASS:
                times = passes.get(returns, 0)
            elif times and kind:
                counted[kind] += times
    for width in ("fp32", "fp64"):
        counted[f"{width}_flops"] = sum(counted[f"{width}_{name}"] * flops for name, flops in _FLOPS.items())
    return dict(sorted(counted.items()))


def _disassembled(program: Path, first: int, beyond: int, folder: Path) -> Iterator[tuple[str, int]]:
    """Yields the type of every instruction ("" if it has none) and the address after it."""
    tool = shutil.which("objdump")
    if tool is None:
        raise OurFault(Fault(where="emulate", message="no objdump on this machine; install binutils"))
    # The call itself lies before the address it returns to.
    span = [f"--start-address={max(first - 16, 0):#x}", f"--stop-address={beyond:#x}"]
    command = [tool, "-d", "--no-show-raw-insn", *span, str(program)]
    done = sandbox.run(command, readable=(program.parent,), writable=folder, limits=_LIMITS)
    lines = [match for text in done.stdout.decode("utf-8", "replace").splitlines() if (match := _LINE.fullmatch(text))]
    following = [int(line[1], 16) for line in lines[1:]] + [beyond]
    for line, returns in zip(lines, following, strict=True):
        yield _kind(line[2], line[3] or ""), returns


def _kind(mnemonic: str, operands: str) -> str:
    """The type of an instruction; "" for moves and for instructions of the instrumentation."""
    if mnemonic in ("call", "callq", "bl"):
        return _called(operands)
    if found := _X86.fullmatch(mnemonic):
        return f"fp{32 if found[3] == 's' else 64}_{_name(found[1])}"
    if found := _ARM.fullmatch(mnemonic):
        name = "fma" if "madd" in found[1] or "msub" in found[1] else _name(found[1])
        return f"fp{64 if operands.startswith('d') else 32}_{name}"
    return "integer" if mnemonic.startswith(_INTEGER) else ""


def _name(found: str) -> str:
    return "compare" if found.startswith("cmp") else _ALIKE.get(found, found)


def _called(operands: str) -> str:
    found = _CALLED.search(operands)
    return _FUNCTIONS.get(found[1], "") if found else ""
