"""Rows that are kept in registers and, where these do not suffice, in shared memory as well.

A thread has its own slots in shared memory, so that no barrier is needed. Asynchronous copies fill them without using
registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright.compose.code.definitions import (
    Item,
    Parameter,
    verbatim,
)
from warpwright.compose.code.statements import (
    FULLY,
    Assign,
    Body,
    Do,
    If,
    Lambda,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import Code, code
from warpwright.compose.cuda.kernel import (
    leave,
    row_parameters,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.loads import Early
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import PACK
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Value
from warpwright.compose.ir.wording import called
from warpwright.compose.kernels.reduction.accumulators import Pass
from warpwright.compose.kernels.reduction.passes import Carried
from warpwright.compose.kernels.rows.launch import row_preamble
from warpwright.compose.kernels.rows.row import Reduced, RowWriter
from warpwright.compose.schedule.row_shapes import shared_packs
from warpwright.core.gpus.table import Gpu

IN_REGISTERS = 7
"""The packs that each of 1024 threads can keep in registers."""

KEPT = verbatim(
    """\
// One thread's packs of a row: the first IN_SHARED arrive in shared memory by asynchronous copies, the others in
// registers.
template <typename T, int VEC, int THREADS, int ITEMS, int IN_SHARED>
struct OnChipRow {
    Words<T, VEC>* in_shared;  // The thread's own slots, THREADS apart; no barrier is needed.
    Words<T, VEC> in_registers[ITEMS - IN_SHARED];

    // Takes its slots from the shared memory left.
    __device__ explicit OnChipRow(uint4*& shared_memory) {
        in_shared = reinterpret_cast<Words<T, VEC>*>(shared_memory) + threadIdx.x;
        shared_memory += IN_SHARED * THREADS * sizeof(Words<T, VEC>) / sizeof(uint4);
    }
    __device__ void fetch(int item, const T* from) {
        if (item < IN_SHARED) __pipeline_memcpy_async(in_shared + item * THREADS, from, sizeof(Words<T, VEC>));
        else in_registers[item - IN_SHARED] = load_words<VEC>(from);
    }
    __device__ void put(int item, const Pack<T, VEC>& pack) {
        const auto& words = reinterpret_cast<const Words<T, VEC>&>(pack);
        if (item < IN_SHARED) in_shared[item * THREADS] = words;
        else in_registers[item - IN_SHARED] = words;
    }
    __device__ const Words<T, VEC>& operator[](int item) const {
        return item < IN_SHARED ? in_shared[item * THREADS] : in_registers[item - IN_SHARED];
    }
};""",
    headers=("cuda_pipeline.h",),
)


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """The packs of each tensor that a thread keeps, and the packs of them in shared memory."""

    items: int
    in_shared: int

    def run(self, kernel: str, threads: int) -> str:
        return f"run({kernel}<T, VEC, {threads}, {self.items}, {self.in_shared}>, {self.in_shared})"


class OnChipWriter(RowWriter):
    """Writes rows with some tensors kept on chip."""

    remembered: Value | None = None
    """A value that the first pass caches on chip in place of its operands."""
    is_tight = False
    """Whether only a thread's last pack needs a bounds check."""
    ahead_of_use = 0
    """The number of packs prefetched of tensors that are not kept."""
    started: Body = ()
    """The statements that prefetch the first packs of the last pass."""

    @property
    def all_preambles(self) -> tuple[Item, ...]:
        return (*row_preamble([self]), KEPT)

    def declared(self) -> list[Statement]:
        kept = dict.fromkeys(self._given, "T") | ({self._remembered_name: "float"} if self.remembered else {})
        shape = "OnChipRow<{type}, {VEC}, THREADS, ITEMS, IN_SHARED> {kept}(shared_memory)"
        places = [Do(code(shape, type=kind, kept=f"{name}_kept")) for name, kind in kept.items()]
        return [Let("extern __shared__ uint4", "shared", extent=""), Let("uint4*", "shared_memory", "shared"), *places]

    @property
    def _given(self) -> list[str]:
        """The kept tensors, without the cached value."""
        return [name for name in self.emitter.kept if not self.remembered or name != self._remembered_name]

    @property
    def within(self) -> Code:
        test = super().within
        return code("item < ITEMS - 1 || {test}", test=test) if self.is_tight else test

    def kept_bytes(self, width: int) -> str:
        """The bytes of one pack of everything that is kept."""
        given = width * len(self._given)
        return f"({given} + VEC * sizeof(float))" if self.remembered else str(given)

    def reduced(self, group: Sequence[Carried], stores: Sequence[Store] = ()) -> Reduced:
        found = super().reduced(group, stores)
        if value := self._yet_to_remember:
            name = self._remembered_name
            self.emitter.held = {**self.emitter.held, value.number: Tensor(name, "fp32", value.shape)}
            self.emitter.keep(name, code("{kept}[item]", kept=f"{name}_kept"))
        return found

    @property
    def _yet_to_remember(self) -> Value | None:
        is_known = self.remembered is None or self.remembered.number in self.emitter.held
        return None if is_known else self.remembered

    def forget_names(self) -> None:
        """Drops the recomputed value from the needs: it is not a kernel argument."""
        if self.remembered:
            self.needs.reads.pop(self._remembered_name, None)
            self.needs.vectors.pop(self._remembered_name, None)

    @property
    def _remembered_name(self) -> str:
        assert self.remembered
        return f"{called(self.graph, self.remembered)}_made"

    @property
    def early_place(self) -> str | None:
        return self._turn if self.ahead_of_use else super().early_place

    def _loop(self, done: Pass) -> list[Statement]:
        if value := self._yet_to_remember:
            name = self._remembered_name
            self.emitter.lines[PACK].append(Let(code("Pack<float, {VEC}>"), name))
            done.elements.append(Assign(code("{name}.at[k]", name=name), self.at_element(value).code))
            done.behind.append(Do(code("{kept}.put(item, {name})", kept=f"{name}_kept", name=name)))
        return super()._loop(done)

    def _over_kept(self, inner: Body) -> list[Statement]:
        """The loop over kept packs, which prefetches the next packs after unpacking the current ones."""
        early = self.emitter.early
        if not early:
            self.started = ()
            return super()._over_kept(inner)
        fetch, count, opened = self.emitter.name("fetch"), self.ahead_of_use, len(self.emitter.lines[PACK])
        self.started = self._fetching(fetch, early)
        following = Do(code("{fetch}(item + {count})", fetch=fetch, count=count))
        return super()._over_kept([*inner[:opened], following, *inner[opened:]])

    def _fetching(self, fetch: str, early: Mapping[str, Early]) -> list[Statement]:
        """The lambda that prefetches packs, and its first calls."""
        count, place = self.ahead_of_use, self._turn
        loads = [Assign(code("{name}{place}", name=name, place=place), pack.load) for name, pack in early.items()]
        is_there = code("item < ITEMS - 1 || (item < ITEMS && column < {end})", end=self.end)
        return [
            *(Let(pack.type, name, extent=count if count > 1 else None) for name, pack in early.items()),
            Lambda(fetch, "int item", (self.kept_column, If(is_there, tuple(loads)))),
            *(Do(code("{fetch}({item})", fetch=fetch, item=item)) for item in range(count)),
        ]

    @property
    def _turn(self) -> str:
        return f"[item % {self.ahead_of_use}]" if self.ahead_of_use > 1 else ""

    def fetched(self, first: str, end: str, row: str = "row", besides: Body = ()) -> list[Statement]:
        """The statements that fetch the items of a row from `first` to `end`."""
        body = (self.kept_column, self.fetches(self.within, row, besides))
        return [Loop(f"int item = {first}; item < {end}; ++item", body, FULLY)]

    def fetches(self, test: Code, row: str, besides: Body = ()) -> Statement:
        """The statement that fetches one item under a condition."""
        call = "{kept}.fetch(item, {tensor} + {row} * {columns} + column)"
        loads = [Do(code(call, kept=f"{name}_kept", tensor=name, row=row)) for name in self._given]
        return under(test, [*loads, *besides])


def items_of(packs: int, threads: int, tensors: int, gpu: Gpu, in_registers: int = IN_REGISTERS) -> int | None:
    """The packs of each tensor that a thread must keep if `threads` share a row; None if they do not fit, with at least
    one in registers."""
    items = -(-packs // threads)
    fits = items_in_shared(items, tensors, in_registers) * tensors <= shared_packs(gpu)
    return items if tensors <= in_registers and fits else None


def items_in_shared(items: int, tensors: int, in_registers: int = IN_REGISTERS) -> int:
    """The number of items in shared memory; 0 if registers suffice."""
    return 0 if items * tensors <= in_registers else items - in_registers // tensors


def kept_parameters(given: Needs) -> list[Parameter]:
    """The parameters of such a kernel; row positions are int, which saves registers."""
    return [replace(item, type="int") if item.name == "columns" else item for item in row_parameters(given)]


def declining(needs: Needs, width: int, test: str) -> list[Statement]:
    """The first statements of a launcher that may decline."""
    return [
        vec_of(width),
        Let("const int64_t", "packs", "columns / VEC"),
        vector_test(needs),
        leave(f"!vectors || {test}", "false"),
        Let("const auto* const", "gpu", code("{at::cuda::getCurrentDeviceProperties}()")),
    ]


def with_shared_memory(bytes_: str, declined: str) -> list[Statement]:
    """The first statements of a launch with dynamic shared memory, which declines if the GPU has too little."""
    attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize"
    return [
        Let("const size_t", "bytes", bytes_),
        leave(declined, "false"),
        Do(code("{C10_CUDA_CHECK}(cudaFuncSetAttribute(kernel, {attribute}, bytes))", attribute=attribute)),
    ]
