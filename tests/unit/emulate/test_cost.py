"""The cost model on made-up counts: physically plausible, in proportion, and never below the floor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.candidate import Flags
from warpwright.core.errors import Undecided
from warpwright.core.gpus.limit import physical_limit
from warpwright.core.gpus.table import GPUS
from warpwright.core.launch.plan import (
    Buffer,
    Copy,
    Fill,
    Kernel,
    Launch,
    Library,
    Memset,
    Origin,
    Plan,
    Relocation,
    Upload,
    View,
)
from warpwright.core.launch.sealed import Manifest, Sealed
from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg, Work
from warpwright.emulate.cost.constants import Calibrated, calibrated, calibrated_from
from warpwright.emulate.cost.counting import Counted, LaunchCount
from warpwright.emulate.cost.model import predict, profile_sentence
from warpwright.emulate.cost.nodes import operations

ROWS, COLUMNS = 32768, 4096
BYTES = ROWS * COLUMNS * 4
CASE = Case(name="large", role=Role.TIME, dims={"N": ROWS, "D": COLUMNS})
TASK = Task(
    name="copy",
    arguments=(TensorArg(name="x", shape=("N", "D")),),
    outputs=(Output(name="y", shape=("N", "D")),),
    cases=(CASE,),
    work=Work(reads="N*D*e", writes="N*D*e", scalar="N*D"),
    reference=Reference(source=""),
)
KERNEL = Kernel(name="k(float*)", symbol="k", parameters=(8,), registers=32)
ARGUMENTS = (Relocation(argument=0, offset=0, buffer=0, addend=0), Relocation(argument=1, offset=0, buffer=1, addend=0))
LAUNCH = Launch(kernel=KERNEL.name, grid=(ROWS, 1, 1), block=(256, 1, 1), relocations=ARGUMENTS)


def sealed(*nodes: object, kernel: Kernel = KERNEL, gpu: str = "h200") -> Sealed:
    buffers = (Buffer(bytes=BYTES, origin=Origin.ARGUMENT), Buffer(bytes=BYTES, origin=Origin.SCRATCH))
    plan = Plan(entry="forward", case=CASE.name, buffers=buffers, arguments=(), nodes=tuple(nodes), returns=())  # type: ignore[arg-type]
    manifest = Manifest(
        candidate="c",
        task=TASK.key,
        gpu=gpu,
        arch="sm_90a",
        flags=Flags(),
        compilers={},
        command=(),
        hashes={},
        seconds={},
        isolation="",
        warpwright="",
    )
    return Sealed(
        id="s", source="", manifest=manifest, entries=("forward",), cubin=b"", kernels=(kernel,), plans=(plan,)
    )


def copied(*, width: int = 4, sectors_per_request: float = 4.0, passes: float = 1.0, **more: float) -> LaunchCount:
    """What a copy of the whole tensor counts, each lane moving `width` bytes at a time."""
    accesses = BYTES / width
    requests = accesses / 32
    counters = {
        "global_loads": accesses * passes,
        "global_stores": accesses,
        "global_load_bytes": BYTES * passes,
        "global_store_bytes": float(BYTES),
        "threads": float(ROWS * 256),
        "unique_load_sectors": BYTES / 32,
        "unique_store_sectors": BYTES / 32,
        "load_requests": requests * passes,
        "load_sectors": requests * sectors_per_request * passes,
        "store_requests": requests,
        "store_sectors": requests * sectors_per_request,
        **more,
    }
    return LaunchCount(kernel=KERNEL.name, counters=counters, block_sectors=BYTES / 32 / ROWS)


def time_of(count: LaunchCount, launch: Launch = LAUNCH, **facts: object) -> float:
    return predict(TASK, sealed(launch, **facts), CASE, Counted(case=CASE.name, launches=(count,))).time_us  # type: ignore[arg-type]


LIMIT = physical_limit(TASK.work, CASE, GPUS["h200"])
VECTORS, SCALARS = copied(width=16, sectors_per_request=16.0), copied()
STRIDED = copied(sectors_per_request=32.0)


def test_a_good_copy_is_limited_by_dram_and_near_what_was_measured() -> None:
    prediction = predict(TASK, sealed(LAUNCH), CASE, Counted(case=CASE.name, launches=(VECTORS,)))
    assert prediction.limited_by == "DRAM bandwidth: 1.07 GB at 4.32 TB/s"
    assert LIMIT is not None
    assert LIMIT.seconds * 1e6 < prediction.time_us < 1.4e6 * LIMIT.seconds
    assert (prediction.candidate, prediction.task, prediction.case, prediction.gpu) == (
        "c",
        "copy:forward",
        "large",
        "h200",
    )


def test_strides_cost_and_vectors_do_not_hurt() -> None:
    assert time_of(STRIDED) > 2 * time_of(SCALARS)
    assert time_of(VECTORS) <= time_of(SCALARS)


def test_a_second_pass_over_rows_that_stay_near_costs_less_than_a_second_copy() -> None:
    assert time_of(SCALARS) < time_of(copied(passes=2.0)) < 1.9 * time_of(SCALARS)


def test_what_holds_it_back_is_named() -> None:
    found = {
        "shared memory": copied(shared_wavefronts=1e9, shared_requests=1e8),
        "atomics": copied(atomics=1e10),
        "matrix units": copied(mma_flops=1e15),
        "barriers": copied(barriers=1e9),
        "instructions": copied(shared_requests=1e10),
    }
    for name, count in found.items():
        prediction = predict(TASK, sealed(LAUNCH), CASE, Counted(case=CASE.name, launches=(count,)))
        assert prediction.limited_by.startswith(f"{name}: ")
        assert max(prediction.terms_us, key=prediction.terms_us.__getitem__) == name


def test_few_threads_cannot_hide_latency() -> None:
    """One block on the whole chip has too few loads under way for the memory it must read."""
    alone = replace(LAUNCH, grid=(1, 1, 1))
    count = replace(VECTORS, block_sectors=BYTES / 32)
    prediction = predict(TASK, sealed(alone), CASE, Counted(case=CASE.name, launches=(count,)))
    assert prediction.limited_by.startswith("memory latency: ")
    assert prediction.time_us > 20 * time_of(VECTORS)


def test_registers_and_shared_memory_that_crowd_out_warps_cost() -> None:
    assert time_of(SCALARS, kernel=replace(KERNEL, registers=255)) > time_of(SCALARS)
    assert time_of(SCALARS, launch=replace(LAUNCH, shared=160 << 10)) > time_of(SCALARS)


def test_spills_cost() -> None:
    assert time_of(SCALARS, kernel=replace(KERNEL, spill_stores=4000, spill_loads=4000)) > 1.5 * time_of(SCALARS)


def test_a_grid_that_leaves_sms_idle_costs() -> None:
    work = copied(shared_wavefronts=1e9)
    full, one_more = replace(LAUNCH, grid=(132, 1, 1)), replace(LAUNCH, grid=(133, 1, 1))
    assert time_of(work, launch=one_more) > 1.8 * time_of(work, launch=full)


def test_every_further_node_costs_and_data_that_stays_in_the_l2_is_free() -> None:
    small = {name: value / 256 for name, value in SCALARS.counters.items()}
    count = LaunchCount(kernel=KERNEL.name, counters=small, block_sectors=SCALARS.block_sectors)
    launch = replace(LAUNCH, grid=(ROWS // 256, 1, 1))
    one, two = sealed(launch), sealed(launch, launch)
    buffers = tuple(replace(buffer, bytes=BYTES // 256) for buffer in one.plans[0].buffers)
    one, two = (replace(item, plans=(replace(item.plans[0], buffers=buffers),)) for item in (one, two))
    first = predict(TASK, one, CASE, Counted(case=CASE.name, launches=(count,)))
    both = predict(TASK, two, CASE, Counted(case=CASE.name, launches=(count, count)))
    assert both.terms_us["launches"] == pytest.approx(first.terms_us["launches"] + calibrated("h200").next_node_us)
    assert both.terms_us["DRAM bandwidth"] < 1.6 * first.terms_us["DRAM bandwidth"]


def test_plain_nodes_and_library_products_are_counted() -> None:
    view = View(buffer=0, offset=0, shape=(4096, 4096), stride=(4096, 1), dtype="bf16")
    product = Library(operation="addmm", inputs=(view, view, view), outputs=(view,))
    nodes = (
        Fill(target=view, value=0),
        Memset(buffer=0, offset=0, bytes=1 << 30, value=0),
        Copy(source=0, source_offset=0, target=1, target_offset=0, bytes=1 << 30),
        Upload(buffer=0, offset=0, data=b"1234"),
        product,
    )
    prediction = predict(TASK, sealed(*nodes), CASE, Counted(case=CASE.name))
    assert operations(product) == 2 * 4096.0**3
    assert prediction.terms_us["library products"] == pytest.approx(2 * 4096.0**3 / (989.4e12 * 0.75) * 1e6)
    assert prediction.terms_us["DRAM bandwidth"] > 3 * (1 << 30) / 4.8e6


@pytest.mark.parametrize(
    ("operation", "inputs", "output", "expected"),
    [
        ("mm", [(3, 5), (5, 7)], (3, 7), 2 * 3 * 7 * 5),
        ("bmm", [(2, 3, 5), (2, 5, 7)], (2, 3, 7), 2 * 2 * 3 * 7 * 5),
        ("linear", [(3, 5), (7, 5), (7,)], (3, 7), 2 * 3 * 7 * 5),
        ("cublas.gemm", [(3, 7), (3, 5), (5, 7)], None, 2 * 3 * 7 * 5),
        ("conv2d", [(1, 4, 9, 9), (8, 4, 3, 3), (8,)], (1, 8, 7, 7), 2 * 8 * 7 * 7 * 4 * 3 * 3),
        ("convolution", [(1, 4, 9, 9), (8, 4, 3, 3), (8,)], (1, 8, 7, 7), 2 * 8 * 7 * 7 * 4 * 3 * 3),
        ("relu", [(3, 5)], (3, 5), 0),
        ("sum.dim_IntList", [(3, 5)], (3,), 0),
    ],
)
def test_operations_of_library_nodes(
    operation: str, inputs: list[tuple[int, ...]], output: tuple[int, ...] | None, expected: int
) -> None:
    def view(shape: tuple[int, ...]) -> View:
        return View(buffer=0, offset=0, shape=shape, stride=(1,) * len(shape), dtype="fp32")

    node = Library(operation=operation, inputs=tuple(map(view, inputs)), outputs=(view(output),) if output else ())
    assert operations(node) == expected


def test_a_prediction_says_that_it_is_one() -> None:
    prediction = predict(TASK, sealed(LAUNCH), CASE, Counted(case=CASE.name, launches=(VECTORS,)))
    sentence = profile_sentence(prediction)
    assert sentence.startswith("Predicted for h200, not measured: ")
    assert "DRAM bandwidth: 1.07 GB at 4.32 TB/s" in sentence
    assert sentence.count(".") - sentence.count("0.") >= 1


def test_what_could_not_be_counted_is_not_predicted() -> None:
    with pytest.raises(Undecided, match="large: blocks differ"):
        predict(TASK, sealed(LAUNCH), CASE, Counted(case=CASE.name, reason="blocks differ"))


def test_constants_are_those_of_the_gpu_where_they_were_fitted() -> None:
    data = {"h200": {"dram_efficiency": 0.5, "retired": 3.0}}
    assert calibrated_from(data, "h200") == Calibrated(dram_efficiency=0.5)
    assert calibrated_from(data, "t4") == Calibrated()


@given(
    st.dictionaries(
        st.sampled_from(
            ["load_sectors", "unique_load_sectors", "global_loads", "global_load_bytes", "shared_wavefronts", "atomics"]
        ),
        st.integers(0, 10**12).map(float),
    ),
    st.integers(1, 10**6),
    st.sampled_from(sorted(GPUS)),
)
def test_no_prediction_is_below_the_floor_or_below_its_longest_term(
    counters: dict[str, float], blocks: int, gpu: str
) -> None:
    count = LaunchCount(kernel=KERNEL.name, counters={"threads": blocks * 256.0, **counters}, block_sectors=None)
    launch = replace(LAUNCH, grid=(blocks, 1, 1))
    prediction = predict(TASK, sealed(launch, gpu=gpu), CASE, Counted(case=CASE.name, launches=(count,)))
    limit = physical_limit(TASK.work, CASE, GPUS[gpu])
    assert limit is not None
    assert prediction.time_us >= limit.floor_seconds * 1e6
    assert prediction.time_us >= 0.999 * max(prediction.terms_us.values())
