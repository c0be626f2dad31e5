"""Tests on functions that honest answers are never refuted: torch's own, and others that round differently.

python bench/honest.py FOLDER_OF_PROBLEMS ... [--functions] [--dtype fp32 ...] [--each N] [--jobs 2] [--out FILE]

FOLDER_OF_PROBLEMS holds KernelBench files; --functions adds the table tests/corpus/functions.txt. Each function is
tried as `check` tries it before it judges a kernel. Where it can be used, honest answers are compared on draws that it
was not tried on: other seeds, and sizes of the envelope. The exit status is 1 if any is refuted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from everyday import Found, everyday, items, tried

from warpwright.dispatch.pool import parallel


def show(results: Sequence[Found]) -> bool:
    """Prints what needs reading, then the sums; returns whether no honest answer was refuted."""
    for item in results:
        label = f"{item.name} {item.dtype}"
        if item.not_loaded or item.unusable:
            print(f"{'not loaded' if item.not_loaded else 'unusable'}  {label}: {item.not_loaded or item.unusable}")
        for name, why in item.left_out.items():
            print(f"left out  {label} {name}: {why}")
        for why in item.refuted:
            print(f"REFUTED   {label}: {why}")
    usable = [item for item in results if not (item.not_loaded or item.unusable)]
    wrong = sum(bool(item.refuted) for item in results)
    draws = sum(item.draws for item in results)
    print(f"{len(results)} functions by dtype, {len(usable)} usable, {draws} further draws, {wrong} with refutations")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--functions", action="store_true", help="add the table of everyday functions")
    parser.add_argument("--only", action="append", help="a function or problem by name; repeat it")
    parser.add_argument("--dtype", action="append", help="fp32, bf16, fp16; all of them if none is given")
    parser.add_argument("--each", type=int, default=1, help="every Nth item alone")
    parser.add_argument("--seconds", type=float, default=30, help="the most time for one function")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--out", type=Path, default=Path("honest.jsonl"), help="a file for the results, to resume from")
    options = parser.parse_args()
    dtypes = options.dtype or ["fp32", "bf16", "fp16"]
    with tempfile.TemporaryDirectory() as place:
        work = list(items(options.folders, dtypes, everyday() if options.functions else [], Path(place)))
        work = [item for item in work if not options.only or item.name in options.only][:: options.each]
        results = parallel(partial(tried, seconds=options.seconds, out=options.out), work, jobs=options.jobs)
    return 0 if show(results) else 1


if __name__ == "__main__":
    sys.exit(main())
