"""Running sums along few long rows by decoupled look-back: data is read and written once.

Every piece publishes its sum, and later pieces of its row add all sums published before. A block draws its pieces from
a counter, so the block that holds an earlier piece is already running, in whatever order the GPU starts blocks. A
separate kernel resets counter and sums, so that no state remains between calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Also, Block, Do, If, Let, Statement, Wait
from warpwright.compose.code.text import (
    Piece,
    code,
)
from warpwright.compose.cuda.joins import JOINS, NEIGHBOURS, OVER_ROW
from warpwright.compose.cuda.kernel import launch, pointer
from warpwright.compose.cuda.preamble import EXPECT
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.schedule.knobs import Knob
from warpwright.compose.schedule.row_shapes import LONG, few, is_few_and_long
from warpwright.core.gpus.table import Gpu

KNOBS = (Knob(name="scan_pieces", values=(0, 256, 512), default=256, variations={2: 512, 5: 0, 7: 0}),)
"""Threads of a block with decoupled look-back; 0 scans a row in two kernels."""
KEPT, RESIDENT = 16, 1024
"""Elements that a thread keeps while it prefetches as many of the next piece; and threads of a multiprocessor that have
registers for both."""

UP_TO_LANE = verbatim(
    """\
// Inclusive prefix sum over the lanes of a warp.
__device__ float warp_inclusive_scan(float value, int lane) {
    for (int offset = 1; offset < 32; offset *= 2) {
        const float below = __shfl_up_sync(0xffffffff, value, offset);
        if (lane >= offset) value += below;
    }
    return value;
}"""
)

CLEAR = verbatim(
    """\
// Resets the words that blocks publish for each other.
__global__ void __launch_bounds__(128) clear_published_kernel(unsigned long long* words, int count) {
#if __CUDA_ARCH__ >= 900
    // Trigger first: the next kernel waits for this one to finish, and so for everything before it.
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    for (int word = threadIdx.x; word < count; word += 128) words[word] = 0;
}"""
)
"""Other kernels wait before they trigger the next launch; here that would cost time without a benefit."""

LOOK_BACK = verbatim(
    """\
// Publishes a sum and a flag in one 64-bit word, so readers never see one without the other.
__device__ void publish(unsigned long long* word, float sum) { atomicExch(word, 1ull << 32 | __float_as_uint(sum)); }

// Look-back: waits until the first `count` words are published, and adds their sums in a fixed order.
__device__ float sum_of_published(const unsigned long long* words, int count) {
    float sum = 0.0f;
    for (int other = threadIdx.x % 32; other < count; other += 32) {
        unsigned long long word = 0;
        while (word == 0) word = *static_cast<const volatile unsigned long long*>(words + other);
        sum += __uint_as_float(static_cast<unsigned>(word));
    }
    return row_reduce<Sum, 32>(sum);
}"""
)

WITHIN_WARP = verbatim(
    """\
// Inclusive prefix sums over the packs of a warp; returns their total.
template <bool REVERSED, typename T, int VEC, int ITEMS>
__device__ float scan_packs(const Pack<T, VEC> (&packs)[ITEMS], float (&sums)[ITEMS][VEC], int lane) {
    float carried = 0.0f;
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        #pragma unroll
        for (int k = 0; k < VEC; ++k)
            sums[item][k] = float(packs[item].at[REVERSED ? VEC - 1 - k : k]) + (k > 0 ? sums[item][k - 1] : 0.0f);
        const float up_to_here = warp_inclusive_scan(sums[item][VEC - 1], lane);
        // A shuffle, not a subtraction of the thread's own sum: inf - inf would be NaN.
        const float below = __shfl_up_sync(0xffffffff, up_to_here, 1);
        const float before = lane > 0 ? carried + below : carried;
        #pragma unroll
        for (int k = 0; k < VEC; ++k) sums[item][k] += before;
        carried += __shfl_sync(0xffffffff, up_to_here, 31);
    }
    return carried;
}"""
)

KERNEL = verbatim(
    """\
// Prefix sums along rows (suffix sums if REVERSED) by decoupled look-back. Blocks draw pieces of rows from a counter,
// all first pieces before all second ones, so the piece that a block waits for is always in progress. `published`
// holds one word for each piece, followed by the counter.
template <typename In, typename Out, int VEC, int THREADS, int ITEMS, bool REVERSED>
__global__ void __launch_bounds__(THREADS, 1024 / THREADS) piece_scan_kernel(
        const In* __restrict__ from, Out* __restrict__ to, unsigned long long* published, int rows, int columns,
        int pieces) {
    constexpr int WARPS = THREADS / 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = rows * pieces;
    // Double buffers: a round never overwrites what the previous round may still read.
    __shared__ float of_warp[2][WARPS];
    __shared__ int drawn[2];
    const auto place_of = [&](int number, int item) {
        return ((number / rows * WARPS + warp) * ITEMS + item) * 32 * VEC + lane * VEC;
    };
    const auto address_of = [&](int number, int place) {
        return from + static_cast<int64_t>(number % rows) * columns + (REVERSED ? columns - VEC - place : place);
    };
    // Prefetch the piece that this block will most likely draw first.
    for (int item = 0; item < ITEMS; ++item) {
        const int place = place_of(blockIdx.x, item);
        if (place < columns) prefetch_l2(address_of(blockIdx.x, place));
    }""",
    Wait(),
    """\
    Pack<In, VEC> packs[ITEMS];
    const auto fetch = [&](int number) {
        #pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int place = place_of(number, item);
            packs[item] = {};
            if (number < count && place < columns) packs[item] = load<VEC>(address_of(number, place));
        }
    };
    if (threadIdx.x == 0) drawn[1] = atomicAdd(published + count, 1ull);
    __syncthreads();
    int number = drawn[1];
    fetch(number);
    for (int round = 0; number < count; round = 1 - round) {
        // Arrives while this piece is summed.
        const int ticket = threadIdx.x == 0 ? atomicAdd(published + count, 1ull) : 0;
        float sums[ITEMS][VEC];
        const float sum = scan_packs<REVERSED>(packs, sums, lane);
        if (lane == 0) of_warp[round][warp] = sum;
        if (threadIdx.x == 0) drawn[round] = ticket;
        __syncthreads();
        const float whole = warp_inclusive_scan(lane < WARPS ? of_warp[round][lane] : 0.0f, lane);
        const int piece = number / rows, row = number % rows, next = drawn[round];
        if (threadIdx.x == 31) publish(published + row * pieces + piece, whole);
        fetch(next);  // Overlaps with the look-back.
        const float below = __shfl_sync(0xffffffff, whole, max(warp - 1, 0));
        const float start = sum_of_published(published + row * pieces, piece) + (warp > 0 ? below : 0.0f);
        #pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int place = place_of(number, item);
            Pack<Out, VEC> pack;
            #pragma unroll
            for (int k = 0; k < VEC; ++k) pack.at[REVERSED ? VEC - 1 - k : k] = start + sums[item][k];
            if (place < columns)
                store<VEC>(to + static_cast<int64_t>(row) * columns + (REVERSED ? columns - VEC - place : place), pack);
        }
        number = next;
    }
}""",
    calls=("store",),
)
PREAMBLE = (JOINS[Op.SUM], NEIGHBOURS, OVER_ROW, EXPECT, UP_TO_LANE, CLEAR, LOOK_BACK, WITHIN_WARP, KERNEL)


def is_worth_it(rows: Size, columns: Size, graph: Graph, config: Mapping[str, Any]) -> bool:
    return bool(config["scan_pieces"]) and is_few_and_long(rows, columns, graph.cases, graph.gpu)


def launches(source: Tensor, target: Tensor, reverse: bool, gpu: Gpu, config: Mapping[str, Any]) -> list[Statement]:
    """The statements that select this kernel for few long rows."""
    threads = config["scan_pieces"]
    length = threads * KEPT
    typed = f"{source.cpp}, {target.cpp}, VEC, {threads}, {KEPT} / VEC, {'true' if reverse else 'false'}"
    words = f"torch::empty({{count + 1}}, {source.name}.options().dtype(torch::kInt64))"
    gpu_at_hand = code("{at::cuda::getCurrentDeviceProperties}()->multiProcessorCount")
    clear = Let("const auto", "kernel", "clear_published_kernel"), launch("1", "128", ["published", "count + 1"])
    grid = code("{std::min}<int64_t>(count, {crowd} * processors)", crowd=RESIDENT // threads)
    arguments: list[Piece] = [pointer(source), pointer(target), "published", "rows", "columns", "pieces"]
    inner = (
        Let("const int64_t", "pieces", f"(columns + {length - 1}) / {length}", (Also("count", "rows * pieces"),)),
        Let("auto", "words", words),
        Let("auto* const", "published", "reinterpret_cast<unsigned long long*>(words.data_ptr<int64_t>())"),
        Block(clear),
        Let("const int", "processors", gpu_at_hand),
        Let("const auto", "kernel", f"piece_scan_kernel<{typed}>"),
        launch(grid, str(threads), arguments),
        Do("return"),
    )
    return [If(f"vectors && rows < {few(gpu)} && columns >= {LONG}", inner)]
