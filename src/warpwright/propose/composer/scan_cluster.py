"""Running sums along few long rows: a cluster of blocks keeps each of them, so that it is read once.

Every thread keeps its packs in registers while the sums of packs, warps and blocks are put together, the last through
the shared memory that the blocks of a cluster can read of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpwright.propose.composer.kernel import block, launch, pointer
from warpwright.propose.composer.sizes import Cases, Size
from warpwright.propose.composer.split_kernel import FEW, LONG
from warpwright.propose.composer.tensors import Tensor

SPACE: dict[str, tuple[Any, ...]] = {"scan_cluster": (0, 4, 8)}
"""Blocks to a row; none where it is scanned in two kernels."""
THREADS, MOST_ITEMS = 4096, 8
"""Of a cluster; and packs of 16 bytes that a thread keeps without running out of registers."""

KERNEL = """\
// Running sums along rows that a cluster of BLOCKS blocks keeps: block x takes piece x % BLOCKS of row x / BLOCKS,
// counted from the end of the row if REVERSED.
template <typename In, typename Out, int VEC, int THREADS, int ITEMS, int BLOCKS, bool REVERSED>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS) cluster_scan_kernel(
        const In* __restrict__ from, Out* __restrict__ to, int columns) {
    constexpr int WARPS = THREADS / 32;
    const auto cluster = cooperative_groups::this_cluster();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, piece = blockIdx.x % BLOCKS;
    const int64_t row = blockIdx.x / BLOCKS;
    const int begin = (piece * ITEMS * THREADS + threadIdx.x) * VEC;
    from += row * columns;
    to += row * columns;
    Pack<In, VEC> packs[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int place = begin + item * THREADS * VEC;
        if (place < columns) packs[item] = load<VEC>(from + (REVERSED ? columns - VEC - place : place));
    }
    __shared__ float of_warp[ITEMS][WARPS], of_item[ITEMS], of_block;
    float sums[ITEMS][VEC] = {}, before[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        #pragma unroll
        for (int k = 0; k < VEC && begin + item * THREADS * VEC < columns; ++k)
            sums[item][k] = float(packs[item].at[REVERSED ? VEC - 1 - k : k]) + (k > 0 ? sums[item][k - 1] : 0.0f);
        const float whole = up_to_lane(sums[item][VEC - 1], lane);
        // Not minus the own sum, which would make NaN of infinities.
        before[item] = __shfl_up_sync(0xffffffff, whole, 1);
        if (lane == 0) before[item] = 0.0f;
        if (lane == 31) of_warp[item][warp] = whole;
    }
    __syncthreads();
    // One warp for each item puts the warps together.
    if (warp < ITEMS) {
        const float whole = up_to_lane(lane < WARPS ? of_warp[warp][lane] : 0.0f, lane);
        const float below = __shfl_up_sync(0xffffffff, whole, 1);
        if (lane < WARPS) of_warp[warp][lane] = lane == 0 ? 0.0f : below;
        if (lane == 31) of_item[warp] = whole;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int item = 0; item < ITEMS; ++item) sum += of_item[item];
        of_block = sum;
    }
    cluster.sync();
    float carried = 0.0f;
    for (int block = 0; block < piece; ++block) carried += *cluster.map_shared_rank(&of_block, block);
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int place = begin + item * THREADS * VEC;
        const float start = carried + of_warp[item][warp] + before[item];
        Pack<Out, VEC> pack;
        #pragma unroll
        for (int k = 0; k < VEC; ++k) pack.at[REVERSED ? VEC - 1 - k : k] = start + sums[item][k];
        if (place < columns) store<VEC>(to + (REVERSED ? columns - VEC - place : place), pack);
        carried += of_item[item];
    }
    cluster.sync();  // Nobody leaves while others may still read what it has summed up.
}"""

UP_TO_LANE = """\
// The sum over all lanes of the warp up to this one.
__device__ float up_to_lane(float value, int lane) {
    for (int offset = 1; offset < 32; offset *= 2) {
        const float below = __shfl_up_sync(0xffffffff, value, offset);
        if (lane >= offset) value += below;
    }
    return value;
}"""


def items(shape: tuple[Size, Size], cases: Cases, genome: Mapping[str, Any]) -> list[int]:
    """Packs to a thread, for every length of few long rows that is timed and can be kept."""
    if not genome["scan_cluster"]:
        return []
    rows, columns = shape
    found = {
        -(-columns.values[case] * cases.widths[case] // (genome["vector_bytes"] * THREADS))
        for case in cases.timed
        if rows.values[case] < FEW and columns.values[case] >= LONG
    }
    return sorted(count for count in found if count * genome["vector_bytes"] <= MOST_ITEMS * 16)


def launches(source: Tensor, target: Tensor, reverse: bool, counts: list[int], genome: Mapping[str, Any]) -> list[str]:
    """The statements that try the narrowest cluster that holds a row."""
    blocks, arguments = genome["scan_cluster"], [pointer(source), pointer(target), "columns"]
    lines = []
    for count in counts:
        threads = THREADS // blocks
        typed = f"{source.cpp}, {target.cpp}, VEC, {threads}, {count}, {blocks}, {'true' if reverse else 'false'}"
        inner = [
            f"const auto kernel = cluster_scan_kernel<{typed}>;",
            *launch(f"rows * {blocks}", str(threads), arguments),
            "return;",
        ]
        test = f"vectors && rows < {FEW} && columns >= {LONG} && columns <= {count * THREADS} * VEC"
        lines += [f"if ({test}) {{", *block(inner), "}"]
    return lines
