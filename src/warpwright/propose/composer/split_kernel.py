"""Few long rows: many blocks share each of them.

For every pass, blocks reduce a piece of a row each and leave one number; a small kernel joins the pieces of each row.
What follows from the results is then computed element by element.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from warpwright.propose.composer.emit import Tensor
from warpwright.propose.composer.indices import KERNEL
from warpwright.propose.composer.kernel import (
    Written,
    block,
    launch,
    launcher_parameters,
    parameters,
    pointers,
    signature,
    vec_of,
    vector_test,
)
from warpwright.propose.composer.preamble import JOIN_NAMES, JOIN_PARTS
from warpwright.propose.composer.reductions import depths
from warpwright.propose.composer.row_kernel import Rows, RowWriter
from warpwright.propose.composer.row_launch import row_preamble
from warpwright.propose.composer.sizes import Cases
from warpwright.propose.composer.values import Graph, Value

SPACE: dict[str, tuple[Any, ...]] = {"split_block": (256, 512), "split_blocks": (264, 528, 1056)}
FEW, LONG = 132, 16384
"""Fewer rows than this cannot fill a GPU with one block each, and shorter ones are not worth a second kernel."""


def is_worth_it(work: Rows, cases: Cases) -> bool:
    """Whether any case that is timed has few long rows, and every reduction can be joined from pieces."""
    shapes = [(work.rows.values[case], work.columns.values[case]) for case in cases.timed]
    simple = all(value.op in JOIN_NAMES for value in work.reductions)
    return bool(work.reductions) and simple and any(rows < FEW and columns >= LONG for rows, columns in shapes)


def results(work: Rows, graph: Graph) -> dict[int, Tensor]:
    """The tensors that reductions are left in, one number for each row."""
    found: dict[int, Tensor] = {}
    for value in work.reductions:
        wanted = f"{graph.names.get(value.number, value.op)}_of_rows"
        taken = {tensor.name for tensor in found.values()}
        found[value.number] = Tensor(wanted if wanted not in taken else f"{wanted}_{len(taken)}", "fp32", value.shape)
    return found


def split_kernels(
    work: Rows, graph: Graph, held: Mapping[int, Tensor], left: Mapping[int, Tensor], genome: Mapping[str, Any]
) -> list[Written]:
    """One kernel for each pass; later ones read what earlier ones have left."""
    known = dict(held)
    written = []
    for number, group in enumerate(depths(work.reductions), start=1):
        part = replace(
            work, name=f"{work.name}_pass_{number}", reductions=tuple(group), row_stores=(), stores=(), column_sums=()
        )
        tensors = [left[value.number] for value in group]
        written.append(_written(part, group, tensors, RowWriter(part, graph, known, None), genome))
        known |= {value.number: left[value.number] for value in group}
    return written


def _written(
    work: Rows, group: list[Value], tensors: list[Tensor], writer: RowWriter, genome: Mapping[str, Any]
) -> Written:
    writer.first, writer.end = "begin + lane * VEC", "end"
    writer.write_passes([list(group)])
    device = "\n".join(_device(work, group, tensors, writer))
    arguments = [*pointers(writer.needs), *(f"{tensor.name}_parts.data_ptr<float>()" for tensor in tensors), "length"]
    test = vector_test(writer.needs)
    for tensor in tensors:
        writer.needs.writes[tensor.name] = tensor
    head = signature(f"void launch_{work.name}", launcher_parameters(writer.needs))
    head[-1] += " {"
    body = _launcher(work, group, tensors, test, arguments, genome)
    return Written(
        name=work.name,
        device=device,
        launcher="\n".join(["template <typename T>", *head, *block(body), "}"]),
        needs=writer.needs,
        preamble=(*row_preamble([writer]), JOIN_PARTS),
    )


def _device(work: Rows, group: list[Value], tensors: list[Tensor], writer: RowWriter) -> list[str]:
    extra = [*(f"float* __restrict__ {tensor.name}_parts" for tensor in tensors), "int length"]
    head = signature(
        f"__global__ void __launch_bounds__(THREADS) {work.name}_kernel", [*parameters(writer.needs), *extra]
    )
    head[-1] += " {"
    results_ = [writer.emitter.results[value.number].text for value in group]
    puts = [
        f"{tensor.name}_parts[row * gridDim.x + blockIdx.x] = {text};"
        for tensor, text in zip(tensors, results_, strict=True)
    ]
    body = [
        "const int lane = threadIdx.x;",
        "const int64_t row = blockIdx.y;",
        "const int begin = blockIdx.x * length, end = min(static_cast<int>(columns), begin + length);",
        *writer.emitter.lines[KERNEL],
        *("#pragma unroll 4" if line == "#pragma unroll UNROLL" else line for line in writer.body),
        *(["if (lane == 0) {", *block(puts), "}"] if len(puts) > 1 else [f"if (lane == 0) {puts[0]}"]),
    ]
    names = " and ".join(tensor.name for tensor in tensors)
    return [
        f"// Computes {names}: block (x, y) reduces piece x of row y.",
        "template <typename T, int VEC, int THREADS>",
        *head,
        *block(body),
        "}",
    ]


def _launcher(
    work: Rows,
    group: list[Value],
    tensors: list[Tensor],
    test: list[str],
    arguments: list[str],
    genome: Mapping[str, Any],
) -> list[str]:
    threads, first = genome["split_block"], tensors[0].name
    return [
        vec_of(genome["vector_bytes"]),
        *test,
        "// Pieces of whole packs, enough of them to fill the GPU.",
        f"const int64_t wanted = std::max<int64_t>({genome['split_blocks']} / rows, 1);",
        f"const int64_t unit = {threads} * VEC, length = (columns / wanted + unit) / unit * unit;",
        "const int64_t pieces = (columns + length - 1) / length;",
        *(f"auto {t.name}_parts = torch::empty({{rows, pieces}}, {first}.options());" for t in tensors),
        f"const auto kernel = vectors ? {work.name}_kernel<T, VEC, {threads}> : {work.name}_kernel<T, 1, {threads}>;",
        *launch("dim3(pieces, rows)", str(threads), arguments),
        *(
            f"join_parts<{JOIN_NAMES[value.op]}>({t.name}_parts, {t.name}, rows, pieces);"
            for value, t in zip(group, tensors, strict=True)
        ),
    ]
