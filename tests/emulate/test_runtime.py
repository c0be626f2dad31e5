"""The runtime by itself: programs are asked directly, so that a finding is seen as the machine made it."""

from __future__ import annotations

import array
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.emulate.program.build import program
from warpwright.seal.cache import Store
from warpwright.seal.capture.calls import gpu_facts

HERE = Path(__file__).parent / "runtime"
ORDERS = ("forward", "reverse", "shuffled")
ARENA = 0x100000000000
# Where memory of a process begins that has no random addresses, and grows downwards; and how large the arena is.
NOT_RANDOM, TOP, SPAN = ("setarch", "-R"), 0x7FFFF0000000, 1 << 36
ELEMENTS = 4096
# What must be found in every order; the rest of the b_ and t_ kernels must stay without anything else that refutes.
UNSUPPORTED = {"b_ptx_unsupported": "wgmma.fence.sync.aligned", "b_ptx_rounding": "add.rz.f32"}
EXPECTED: Mapping[str, str] = {
    "b_oob_read": "out-of-bounds",
    "b_oob_write": "out-of-bounds",
    "b_oob_shared": "out-of-bounds",
    "b_oob_dyn": "out-of-bounds",
    "b_oob_local": "bounds",
    "b_misaligned": "misaligned",
    "b_uninit": "uninitialised",
    "b_race_raw": "race",
    "b_race_war": "race",
    "b_race_ww": "race",
    "b_race_global": "race",
    "b_race_global2": "race",
    "b_no_atomic": "race",
    "b_mixed_atomic": "race",
    "b_no_fence": "race",
    "b_bar_div": "barrier-divergence",
    "b_shfl_div": "warp-divergence",
    "b_syncwarp_missing": "race",
    "b_partial_wrong": "race",
    "b_mask_self": "mask",
    "b_block_big": "launch",
    "b_hang": "hang",
    "b_shift": "shift",
    "b_null": "null",
    "b_assert": "assert",
    "b_div": "division",
    "b_unwritten": "unwritten",
    "b_nowork": "no-device-work",
    "b_cpasync_nowait": "async-copy",
    "b_cpasync_nobar": "race",
    "b_pipe_prior": "async-copy",
    "b_cub_reuse": "race",
    "b_grid_bad": "race",
}
SECTORS = {"n_stride": (32, 4), "n_vec": (16, 16)}
WAVEFRONTS = {"n_bank": 32 + 32 * 32, "n_pad": 64}


def entries(file: str) -> list[str]:
    return re.findall(r"\bD\((\w+)\)", (HERE / file).read_text().split("PYBIND11_MODULE")[1])


def cases(*prefixes: str) -> list[tuple[str, str]]:
    return [(f, e) for f in ("planted.cu", "features.cu") for e in entries(f) if e.startswith(prefixes)]


def ask(
    path: Path,
    folder: Path,
    entry: str,
    order: str = "forward",
    *,
    arena: int = ARENA,
    within: Sequence[str] = (),
    **settings: object,
) -> dict[str, Any]:
    (folder / "inputs").write_bytes(array.array("f", [(i * 7 % 13) - 6.5 for i in range(ELEMENTS)]).tobytes())
    tensor = {"buffer": 0, "offset": 0, "shape": [ELEMENTS], "stride": [1], "dtype": "float32"}
    request = {
        "entry": entry,
        "arguments": [{"tensor": tensor}],
        "buffers": [{"base": arena + (1 << 17), "bytes": 4 * ELEMENTS, "data": "inputs", "at": 0}],
        "scratch": {"base": arena + (1 << 24), "gap": 1 << 17},
        "gpu": gpu_facts(gpu_named("h200")),
        "emulation": {"arena": arena, "order": order, "seed": 3, "steps": 10**8, **settings},
    }
    (folder / "requests").write_text(json.dumps(request) + "\n")
    with (folder / "trace").open("w+b") as trace:
        command = [*within, str(path), "requests", str(trace.fileno())]
        subprocess.run(command, cwd=folder, pass_fds=(trace.fileno(),), capture_output=True, timeout=240, check=True)
        trace.seek(0)
        answer: dict[str, Any] = json.loads(trace.read())["emulation"]
    return answer


@pytest.fixture(scope="module")
def programs(store: Store) -> dict[str, Path]:
    return {f: program(Candidate(source=(HERE / f).read_text()), store) for f in ("planted.cu", "features.cu")}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("file", "entry"), cases("c_", "k_", "n_", "t_"))
def test_what_is_sound_or_forgiven_is_not_refuted(
    programs: dict[str, Path], tmp_path: Path, file: str, entry: str, order: str
) -> None:
    report = ask(programs[file], tmp_path, entry, order)
    assert report["outcome"] == "ran", report["what"]
    assert [f for f in report["findings"] if f["severity"] != "tolerated"] == []
    assert bool(report["findings"]) == (entry.startswith("t_") or entry == "c_rows")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("file", "entry"), [case for case in cases("b_") if case[1] in EXPECTED])
def test_a_planted_mistake_is_found(
    programs: dict[str, Path], tmp_path: Path, file: str, entry: str, order: str
) -> None:
    kinds = {f["kind"] for f in ask(programs[file], tmp_path, entry, order)["findings"] if f["severity"] != "tolerated"}
    assert EXPECTED[entry] in kinds


def test_every_mistake_is_expected_somewhere() -> None:
    assert {entry for _, entry in cases("b_")} - set(EXPECTED) == {"b_exit_bar", *UNSUPPORTED}


@pytest.mark.parametrize("entry", sorted(UNSUPPORTED))
def test_what_is_missing_is_named(programs: dict[str, Path], tmp_path: Path, entry: str) -> None:
    report = ask(programs["features.cu"], tmp_path, entry)
    assert (report["outcome"], report["what"]) == ("unsupported", f"ptx {UNSUPPORTED[entry]}")


def test_threads_that_exit_before_a_barrier_are_forgiven(programs: dict[str, Path], tmp_path: Path) -> None:
    (finding,) = ask(programs["planted.cu"], tmp_path, "b_exit_bar")["findings"]
    assert (finding["kind"], finding["severity"]) == ("barrier-divergence", "tolerated")


@pytest.mark.parametrize("entry", SECTORS)
def test_sectors_are_counted_exactly(programs: dict[str, Path], tmp_path: Path, entry: str) -> None:
    counters = ask(programs["features.cu"], tmp_path, entry, counters=True)["counters"]
    assert (counters["load_sectors"], counters["store_sectors"]) == SECTORS[entry]
    assert (counters["load_requests"], counters["store_requests"]) == (1, 1)


@pytest.mark.parametrize("entry", WAVEFRONTS)
def test_bank_conflicts_are_counted_exactly(programs: dict[str, Path], tmp_path: Path, entry: str) -> None:
    counters = ask(programs["features.cu"], tmp_path, entry, counters=True)["counters"]
    assert (counters["shared_requests"], counters["shared_wavefronts"]) == (64, WAVEFRONTS[entry])


def test_a_run_is_a_function_of_its_request(programs: dict[str, Path], tmp_path: Path) -> None:
    def once() -> dict[str, Any]:
        return ask(programs["planted.cu"], tmp_path, "b_race_raw", "shuffled", counters=True)

    assert once() == once()


@pytest.mark.parametrize("below", [17 << 30, 20 << 30, 23 << 30])
def test_stacks_that_grow_into_the_arena_are_none_of_the_candidates_doing(
    programs: dict[str, Path], tmp_path: Path, below: int
) -> None:
    """98304 threads that wait for each other have 24 GiB of stacks, from the top of the address space downwards."""
    if subprocess.run([*NOT_RANDOM, "true"], capture_output=True).returncode:
        pytest.skip("addresses of processes are always random here")
    arena = TOP - below - SPAN
    report = ask(programs["features.cu"], tmp_path, "k_grid_wide", arena=arena, within=NOT_RANDOM)
    assert (report["outcome"], report["findings"]) == ("taken", [])


def test_a_run_without_steps_left_is_given_up(programs: dict[str, Path], tmp_path: Path) -> None:
    assert ask(programs["planted.cu"], tmp_path, "c_long", steps=100)["outcome"] == "budget"


@pytest.mark.parametrize("steps", [30, 100, 300])
@pytest.mark.parametrize("entry", ["k_flag", "k_all"])
def test_a_wait_that_would_end_is_no_endless_loop_when_steps_run_out(
    programs: dict[str, Path], tmp_path: Path, entry: str, steps: int
) -> None:
    report = ask(programs["features.cu"], tmp_path, entry, steps=steps)
    assert report["outcome"] in ("budget", "ran"), report["what"]
    assert report["findings"] == []


def test_blocks_that_wait_for_some_that_were_left_out_are_not_refuted(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    report = ask(programs["features.cu"], tmp_path, "k_all", blocks=2)
    assert (report["outcome"], report["sampled"], report["findings"]) == ("stopped", True, [])
    assert report["sampling"]


def test_clusters_that_may_wait_for_each_other_are_not_refuted(programs: dict[str, Path], tmp_path: Path) -> None:
    report = ask(programs["features.cu"], tmp_path, "u_clusters")
    assert (report["outcome"], report["what"]) == ("unsupported", "clusters that wait for each other")
    assert report["findings"] == []


def test_contents_are_written_whole(programs: dict[str, Path], tmp_path: Path) -> None:
    """Outputs are written where they were asked for, with all bytes of the returned buffer."""
    report = ask(programs["planted.cu"], tmp_path, "c_half", outputs="outputs")
    returned = report["contents"][-1]
    assert returned["bytes"] == 4 * ELEMENTS
    assert os.path.getsize(tmp_path / "outputs") == returned["at"] + returned["bytes"]
