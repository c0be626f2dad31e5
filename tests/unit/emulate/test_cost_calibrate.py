"""Calibration on made-up measurements: rank correlations are right, a fit finds what was hidden, and data is kept."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.candidate import Flags
from warpwright.core.codec import dumps
from warpwright.core.launch.plan import Buffer, Kernel, Launch, Origin, Plan, Relocation
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.records.judged import Job, Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.dispatch.bundle import write_bundle
from warpwright.emulate.cost.constants import NAMES, Calibrated
from warpwright.emulate.cost.counting import Counted, LaunchCount


def bench() -> ModuleType:
    path = Path(__file__).parents[3] / "bench" / "calibrate.py"
    spec = importlib.util.spec_from_file_location("bench_calibrate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up the names in their annotations
    spec.loader.exec_module(module)
    return module


calibrate = bench()
BYTES = 1 << 28
CASES = tuple(Case(name=f"D{size}", role=Role.TIME, dims={"D": size}) for size in (1 << 20, 1 << 26))
TASK = Task(
    name="copy",
    arguments=(TensorArg(name="x", shape=("D",)),),
    outputs=(Output(name="y", shape=("D",)),),
    cases=CASES,
    work=Work(reads="D*e"),
    reference=Reference(source=""),
)
TRUTH = Calibrated(dram_efficiency=0.7, launch_us=4.0, l2_bytes_per_clock=20.0)


def job(number: int) -> Job:
    """Variants that differ in how many sectors they touch and in how many blocks they have."""
    launch = Launch(
        kernel="k()",
        grid=(1000 * (number + 1), 1, 1),
        block=(256, 1, 1),
        relocations=tuple(Relocation(offset=0, buffer=buffer, addend=0) for buffer in (0, 1)),
    )
    manifest = Manifest(
        candidate=f"c{number}",
        task=TASK.key,
        gpu="h200",
        arch="sm_90a",
        flags=Flags(),
        compilers={},
        command=(),
        hashes={},
        seconds={},
        isolation="",
        warpwright="",
    )
    sealed = Sealed(
        id=f"s{number}",
        source="",
        manifest=manifest,
        entries=("forward",),
        cubin=None,
        kernels=(Kernel(name="k()", symbol="k", parameters=(), registers=32),),
        plans=tuple(
            Plan(
                entry="forward",
                case=case.name,
                buffers=(Buffer(bytes=4 * case.dims["D"], origin=Origin.ARGUMENT),) * 2,
                arguments=(),
                nodes=(launch,),
                returns=(),
            )
            for case in CASES
        ),
    )
    return Job(id=f"j{number}", label=f"variant {number}", task=TASK, sealed=sealed)


def count(number: int, case: Case) -> Counted:
    size = 4.0 * case.dims["D"]
    counters = {
        "threads": 256_000.0 * (number + 1),
        "global_loads": size / 4,
        "global_load_bytes": size,
        "unique_load_sectors": size / 32,
        "unique_store_sectors": size / 32,
        "load_sectors": size / 32 * (1 + number),
        "store_sectors": size / 32 * (1 + number % 3),
        "load_requests": size / 128,
        "store_requests": size / 128,
    }
    return Counted(case=case.name, launches=(LaunchCount(kernel="k()", counters=counters, block_sectors=None),))


JOBS = [job(number) for number in range(6)]
COUNTS = {f"j{number}": [count(number, case) for case in CASES] for number in range(6)}


def judged(number: int, constants: Calibrated = TRUTH, **changes: object) -> Judged:
    """What a GPU would say on which the truth is known."""
    taken = []
    for case, counted in zip(CASES, COUNTS[f"j{number}"], strict=True):
        point = calibrate.Point(job=JOBS[number], case=case.name, counted=counted, measured_us=1.0)
        time = calibrate.predicted_us(point, constants)
        measurement = Measurement(
            subject=f"c{number}",
            task=TASK.key,
            case=case.name,
            cache=Cache.COLD,
            samples_us=(time, time, time),
            stopped_because="",
            scene=Scene(),
        )
        taken.append(replace(measurement, **changes))  # type: ignore[arg-type]
    return Judged(job=f"j{number}", label="", task=TASK.key, candidate=f"c{number}", measurements=tuple(taken))


RESULTS = [judged(number) for number in range(6)]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([(1, 10), (2, 20), (3, 30)], 1.0),
        ([(1, 30), (2, 20), (3, 10)], -1.0),
        ([(1, 1), (2, 3), (3, 2), (4, 4)], 0.8),
        ([(1, 1), (1, 2), (2, 3)], 0.8660254),
        ([(1, 1), (2, 2)], None),
        ([(1, 1), (1, 2), (1, 3)], None),
    ],
)
def test_rank_correlation(pairs: list[tuple[float, float]], expected: float | None) -> None:
    found = calibrate.spearman(pairs)
    assert found == (None if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=3, max_size=20))
def test_rank_correlation_looks_at_ranks_alone(pairs: list[tuple[int, int]]) -> None:
    found = calibrate.spearman([(float(a), float(b)) for a, b in pairs])
    stretched = calibrate.spearman([(math.exp(a / 10), 3.0 * b - 7) for a, b in pairs])
    assert found == (None if stretched is None else pytest.approx(stretched))
    assert found is None or -1.000001 <= found <= 1.000001


def test_only_sound_measurements_of_counted_cases_become_points() -> None:
    assert len(calibrate.points(JOBS, COUNTS, RESULTS)) == 12
    doubtful = [
        judged(0, invalid="clocks disagree"),
        judged(1, cache=Cache.WARM),
        judged(2, subject="eager"),
        judged(3, samples_us=()),
        replace(judged(4), job="stranger"),
    ]
    assert calibrate.points(JOBS, COUNTS, doubtful) == []
    uncounted = {**COUNTS, "j0": [Counted(case=CASES[0].name, reason="no")]}
    assert calibrate.points(JOBS, uncounted, [RESULTS[0]]) == []


def test_a_fit_finds_the_constants_that_matter_and_leaves_the_others() -> None:
    found = calibrate.points(JOBS, COUNTS, RESULTS)
    after = calibrate.fitted(found, Calibrated())
    assert calibrate.typical_error(found, Calibrated()) > 1.1
    assert calibrate.typical_error(found, after) < 1.05
    assert after.dram_efficiency == pytest.approx(TRUTH.dram_efficiency, rel=0.1)
    assert after.barrier_clocks == Calibrated().barrier_clocks
    assert after.library_efficiency == Calibrated().library_efficiency


def test_correlations_are_given_by_task_and_over_all() -> None:
    found = calibrate.correlations(calibrate.points(JOBS, COUNTS, RESULTS), TRUTH)
    assert found == {"copy:forward": pytest.approx(1.0), "all": pytest.approx(1.0)}
    few = calibrate.correlations(calibrate.points(JOBS, COUNTS, RESULTS[:2]), TRUTH)
    assert few["copy:forward"] is None


def test_bounds_name_every_calibrated_constant_and_hold_its_start() -> None:
    assert set(calibrate.BOUNDS) == set(NAMES)
    start = Calibrated()
    assert all(low <= getattr(start, name) <= high for name, (low, high) in calibrate.BOUNDS.items())


def test_results_that_came_home_are_fitted_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_bundle(tmp_path, JOBS)
    (tmp_path / "counts.json").write_text(dumps(COUNTS))
    (tmp_path / "results").mkdir()
    for item in RESULTS:
        (tmp_path / "results" / f"{item.job}.json").write_text(dumps(item))
    kept = tmp_path / "kept.json"
    kept.write_text('{"t4": {"launch_us": 3.0}}')
    monkeypatch.setattr(calibrate, "DATA", kept)
    assert calibrate.main(["fit", str(tmp_path), "--save"]) == 0
    said = capsys.readouterr().out
    assert "before: half of 12 predictions are off by a factor of" in said
    assert "copy:forward" in said
    assert "fitted for h200: " in said
    data = json.loads(kept.read_text())
    assert set(data) == {"h200", "t4"}
    assert data["h200"]["dram_efficiency"] == pytest.approx(0.7, rel=0.1)


def test_results_of_other_jobs_are_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_bundle(tmp_path, JOBS[:1])
    (tmp_path / "counts.json").write_text(dumps({}))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "x.json").write_text(dumps(RESULTS[3]))
    assert calibrate.main(["fit", str(tmp_path)]) == 2
    assert "has no measurement of a case that was counted" in capsys.readouterr().err


def test_a_folder_of_variants_becomes_a_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variants, bundle = tmp_path / "variants", tmp_path / "bundle"
    variants.mkdir()
    (variants / "nameless.cu").write_text("int x;\n")
    (variants / "good.cu").write_text("// task: modern/softmax  dtypes: fp32\n")
    whole = calibrate.sealed_job
    monkeypatch.setattr(calibrate, "counted", lambda job: COUNTS[job.id])
    monkeypatch.setattr(calibrate, "sealed_job", lambda path, gpu: JOBS[0] if path.stem == "good" else whole(path, gpu))
    assert calibrate.main(["make", str(variants), str(bundle)]) == 0
    said = capsys.readouterr().out
    assert "good.cu: 2 cases counted" in said
    assert "nameless.cu: its first line does not say" in said
    assert (bundle / "worker.pyz").exists()
    assert [path.name for path in (bundle / "jobs").iterdir()] == ["j0.json"]
    assert set(json.loads((bundle / "counts.json").read_text())) == {"j0"}
