"""Running sums along rows: one block to a row, piece by piece, with what came before carried along."""

from __future__ import annotations

from warpwright.propose.composer.emit import Needs, Tensor
from warpwright.propose.composer.kernel import Written, block, launch, pointer, signature
from warpwright.propose.composer.preamble import ALIGNED, PACKS
from warpwright.propose.composer.sizes import Size

KERNEL = """\
// Running sums along each row, from its end if REVERSED: first in a pack, then over a warp and a block.
template <typename In, typename Out, int VEC, int THREADS, bool REVERSED>
__global__ void __launch_bounds__(THREADS) scan_kernel(
        const In* __restrict__ from, Out* __restrict__ to, int64_t rows, int64_t columns) {
    const int64_t start = static_cast<int64_t>(blockIdx.x) * columns;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __shared__ float of_warp[THREADS / 32];
    float carried = 0.0f;
    for (int64_t piece = 0; piece < columns; piece += THREADS * VEC) {
        const int64_t place = piece + threadIdx.x * VEC, column = REVERSED ? columns - VEC - place : place;
        float sum[VEC] = {};
        if (place < columns) {
            const Pack<In, VEC> pack = load<VEC>(from + start + column);
            #pragma unroll
            for (int k = 0; k < VEC; ++k) {
                sum[k] = float(pack.at[REVERSED ? VEC - 1 - k : k]) + (k > 0 ? sum[k - 1] : 0.0f);
            }
        }
        float up_to_here = sum[VEC - 1];
        for (int offset = 1; offset < 32; offset *= 2) {
            const float below = __shfl_up_sync(0xffffffff, up_to_here, offset);
            if (lane >= offset) up_to_here += below;
        }
        if (lane == 31) of_warp[warp] = up_to_here;
        __syncthreads();
        // Not up_to_here minus the own sum, which would make NaN of infinities.
        const float of_lanes = __shfl_up_sync(0xffffffff, up_to_here, 1);
        float before = carried + (lane > 0 ? of_lanes : 0.0f);
        for (int other = 0; other < THREADS / 32; ++other) {
            if (other < warp) before += of_warp[other];
            carried += of_warp[other];
        }
        __syncthreads();  // The next piece overwrites of_warp.
        if (place < columns) {
            Pack<Out, VEC> pack;
            #pragma unroll
            for (int k = 0; k < VEC; ++k) pack.at[REVERSED ? VEC - 1 - k : k] = before + sum[k];
            store<VEC>(to + start + column, pack);
        }
    }
}"""


def scan_kernel(name: str, source: Tensor, target: Tensor, shape: tuple[Size, Size], reverse: bool) -> Written:
    needs = Needs(
        reads={source.name: source}, writes={target.name: target}, sizes={"rows": shape[0], "columns": shape[1]}
    )
    taken = [
        f"const torch::Tensor& {source.name}",
        f"const torch::Tensor& {target.name}",
        "int64_t rows",
        "int64_t columns",
    ]
    head = signature(f"void launch_{name}", taken)
    head[-1] += " {"
    way = "true" if reverse else "false"
    typed = f"{source.cpp}, {target.cpp}"
    body = [
        "if (rows == 0) return;",
        "constexpr int VEC = 16 / sizeof(T);",
        f"const bool vectors = aligned({{{source.name}.data_ptr(), {target.name}.data_ptr()}}) && columns % VEC == 0;",
        "const auto run = [&](auto kernel, int threads) {",
        *block(launch("rows", "threads", [pointer(source), pointer(target), "rows", "columns"])),
        "};",
        f"if (vectors && columns <= 32 * VEC) return run(scan_kernel<{typed}, VEC, 32, {way}>, 32);",
        f"if (vectors) return run(scan_kernel<{typed}, VEC, 256, {way}>, 256);",
        f"if (columns <= 64) return run(scan_kernel<{typed}, 1, 32, {way}>, 32);",
        f"run(scan_kernel<{typed}, 1, 256, {way}>, 256);",
    ]
    return Written(
        name=name,
        device="",
        launcher="\n".join(["template <typename T>", *head, *block(body), "}"]),
        needs=needs,
        preamble=(PACKS, ALIGNED, KERNEL),
    )
