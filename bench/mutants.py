"""Measures how many bugs planted in correct kernels the emulator finds. `make mutants` runs all of it.

A mutant that is not refuted counts as missed, undecided ones too, unless it is proved equivalent: the same bits as the
original in every run and order, for a reason that the emulator has checked.

Run: python bench/mutants.py [--each 8] [--only NAME] [--jobs 2] [--write FOLDER] [--json]. The exit status is 1 if an
original does not hold or fewer than 97 % of the others are refuted.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mutation.originals import Result, specimen, survey

from warpwright.core.records.evidence import Verdict
from warpwright.dispatch.pool import parallel
from warpwright.faults.mutants import few_of_each_kind

ORIGINALS = (
    "add_rmsnorm_tuple_ptx", "argmax_packed_key", "argmax_warp_pairs", "bias_gelu_windows", "cross_entropy_atomic",
    "cross_entropy_backward", "cross_entropy_two_stage", "cumsum_backward_reverse", "cumsum_block_scan",
    "cumsum_three_kernels", "embedding_dispatch_index", "group_norm_silu_block", "layernorm_float4",
    "layernorm_packed_accessor", "layernorm_two_pass", "linear_naive_default_args", "linear_relu_epilogue",
    "log_softmax_persistent", "matmul_split_k", "matmul_tiled", "pool_constexpr_infinity", "rmsnorm_half2",
    "rmsnorm_ldg_lambda", "rope_both", "softmax_online_warp", "softmax_shared_tree", "swiglu_float4_tail",
    "swiglu_functor", "softmax_backward_warp", "swiglu_backward", "vocabulary_cross_entropy", "linear_relu_backward",
    "pool_backward_gather", "group_norm_silu_two_kernels", "softmax_block_switch", "linear_backward_mixed",
)  # fmt: skip
BAR = 0.97


def write(folder: Path, names: Sequence[str], each: int) -> None:
    """Writes the labelled set itself, for `warpwright verifiers evaluate`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "task", "verdict", "class", "dtypes"])
        for name in names:
            source, task, dtype = specimen(name)
            kernels = [(source, Verdict.HOLDS, "clean")]
            kernels += [(item.source, Verdict.REFUTED, item.kind) for item in few_of_each_kind(source, each)]
            for number, (text, verdict, kind) in enumerate(kernels):
                (folder / f"{name}-{number}.cu").write_text(text)
                rows.writerow([f"{name}-{number}.cu", task, verdict.value, kind, dtype])


def show(results: list[Result], minutes: float) -> bool:
    """Prints the table, and every mutant not refuted with the reason; returns whether the bar is met."""
    fates = [fate for result in results for fate in result.fates]
    for kind in dict.fromkeys(kind for kind, *_ in fates):
        counted = Counter(fate for other, fate, *_ in fates if other == kind)
        print(f"{kind:22} {' '.join(f'{fate} {count:4}' for fate, count in sorted(counted.items()))}")
    for result in results:
        if result.original != Verdict.HOLDS:
            print(f"original {result.name}: {result.original}: {result.reason}")
        for kind, fate, line, change, why in result.fates:
            if fate != "refuted":
                print(f"{fate:10} {result.name}:{line} {kind}: {change} ({why})")
    counted = Counter(fate for _, fate, *_ in fates)
    changed = len(fates) - counted["equivalent"]
    share = counted["refuted"] / changed if changed else 0.0
    print(f"{len(fates)} mutants of {len(results)} originals in {minutes:.0f} minutes: {dict(counted)}")
    print(f"{counted['refuted']} of {changed} that are not proved equivalent: {share:.1%}")
    return share >= BAR and all(result.original == Verdict.HOLDS for result in results)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=8, help="mutants of each kind for each original")
    parser.add_argument("--only", action="append", help="an original; repeat it")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the labelled set and run nothing")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = options.only or list(ORIGINALS)
    if options.write:
        write(options.write, names, options.each)
        return 0
    start = time.monotonic()
    results = parallel(partial(survey, each=options.each), names, jobs=options.jobs)
    if options.json:
        fates = [[result.name, *fate] for result in results for fate in result.fates]
        print(json.dumps({"originals": {result.name: result.original for result in results}, "mutants": fates}))
        return 0
    return 0 if show(results, (time.monotonic() - start) / 60) else 1


if __name__ == "__main__":
    sys.exit(main())
