"""Top-k of each row, in order: one warp per row, which keeps a short row in registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Body, Do, Lambda, Wait
from warpwright.compose.cuda.joins import BEST, NEIGHBOURS
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    pointer,
)
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.operations import Op, Selected
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config

ROWS = 4
LONGEST = 32
"""The largest number of elements of a row that a thread keeps."""

KERNEL = verbatim(
    """\
// Top-k: one warp per row selects the `count` best values one by one, each the best of those ranked after the last.
// Rows of at most 32 * ITEMS elements stay in registers; longer rows are read again for each selection.
template <typename In, typename Out, int ITEMS, bool LOWEST>
__global__ void __launch_bounds__(128) topk_kernel(
        const In* __restrict__ from, Out* __restrict__ values, int64_t* __restrict__ indices, int64_t rows, int columns,
        int count) {""",
    Wait(),
    """\
    const int64_t row = static_cast<int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    from += row * columns;
    const bool fits = columns <= 32 * ITEMS;
    float kept[ITEMS];
    #pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int column = item * 32 + lane;
        if (column < columns) kept[item] = LOWEST ? -float(from[column]) : float(from[column]);
    }
    Best last = {NAN, -1};
    for (int taken = 0; taken < count; ++taken) {
        Best best = {-INFINITY, INT_MAX};
        if (fits) {
            #pragma unroll
            for (int item = 0; item < ITEMS; ++item) {
                const Best found = {kept[item], item * 32 + lane};
                if (found.at < columns && is_after(found, last)) best = better(best, found);
            }
        } else {
            for (int column = lane; column < columns; column += 32) {
                const Best found = {LOWEST ? -float(from[column]) : float(from[column]), column};
                if (is_after(found, last)) best = better(best, found);
            }
        }
        last = best_of_warp<32>(best);
        if (lane == 0 && values) values[row * count + taken] = LOWEST ? -last.value : last.value;
        if (lane == 0 && indices) indices[row * count + taken] = last.at;
    }
}""",
    headers=("climits",),
)

AFTER = verbatim(
    """\
// Whether one element ranks after another in the order of `better`.
__device__ bool is_after(Best one, Best other) {
    return better(other, one).at == other.at && one.at != other.at;
}"""
)


def topk_kernel(
    name: str, source: Tensor, stores: Sequence[Store], shape: tuple[Size, Size, Size], cases: Cases
) -> Written:
    """`shape` is rows, columns and k; at most two stores: values and indices."""
    found: dict[str, Tensor] = {store.value.attr(Selected).result: store.tensor for store in stores}
    needs = Needs(
        reads={source.name: source},
        writes={tensor.name: tensor for tensor in found.values()},
        sizes={"rows": shape[0], "columns": shape[1], "count": shape[2]},
    )
    body = _launcher(source, found, shape[1], stores[0].value.attr(Selected).largest, cases)
    return Written(
        name=name,
        device=(),
        launcher=(launcher(name, needs, body),),
        needs=needs,
        preamble=(NEIGHBOURS, BEST, AFTER, KERNEL),
    )


def _launcher(source: Tensor, found: Mapping[str, Tensor], columns: Size, largest: bool, cases: Cases) -> Body:
    values, where = found.get("values"), found.get("indices")
    out = values.cpp if values else "float"
    arguments = [
        pointer(source),
        pointer(values) if values else "static_cast<float*>(nullptr)",
        pointer(where) if where else "static_cast<int64_t*>(nullptr)",
    ]
    lengths = {-(-columns.values[case] // 32) for case in cases.timed}
    steps = sorted({1 << (length - 1).bit_length() for length in lengths if length <= LONGEST}) or [1]
    way = "false" if largest else "true"
    launched = launch(f"(rows + {ROWS - 1}) / {ROWS}", str(32 * ROWS), [*arguments, "rows", "columns", "count"])
    *shorter, longest = (f"run(topk_kernel<{source.cpp}, {out}, {step}, {way}>)" for step in steps)
    return [
        leave("rows == 0 || count == 0"),
        Lambda("run", "auto kernel", (launched,)),
        *(leave(f"columns <= {32 * step}", run) for step, run in zip(steps, shorter, strict=False)),
        Do(longest),
    ]


class TopK(Strategy):
    """The highest elements of each row, in order."""

    name = "top-k"

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.TOPK

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0)

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        x, cases = site.first.value.first, site.graph.cases
        shape = cases.product(x.shape[:-1]), x.shape[-1], site.first.value.shape[-1]
        name = writer.kernel_name(site.group)
        writer.launch(topk_kernel(name, site.held[x.number], site.group.stores, shape, cases))


STRATEGIES = (TopK(),)
