"""Rows that are kept in registers and, where these do not suffice, in shared memory as well.

A thread has places of its own there, so that nobody waits for anybody. What comes there comes in the background, and
takes no registers on its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.compose.code.statements import Let
from warpwright.compose.code.text import code
from warpwright.compose.cuda.kernel import block, row_parameters, vec_of, vector_test
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import PACK
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Value
from warpwright.compose.ir.wording import called
from warpwright.compose.kernels.reduction.accumulators import Carrier, Pass
from warpwright.compose.kernels.reduction.passes import Carried
from warpwright.compose.kernels.rows.launch import row_preamble
from warpwright.compose.kernels.rows.row import RowWriter
from warpwright.compose.schedule.row_shapes import shared_packs
from warpwright.core.gpus.table import Gpu

NEAR = 7
"""Packs that each of 1024 threads has room for in registers."""

KEPT = """\
// The packs of a row that a thread keeps: the first FAR in shared memory, where they arrive in the background, the
// others in registers.
template <typename T, int VEC, int THREADS, int ITEMS, int FAR>
struct Kept {
    Words<T, VEC>* far;  // Places of its own, THREADS apart.
    Words<T, VEC> near[ITEMS - FAR];

    // Takes its part of the room that there is.
    __device__ explicit Kept(uint4*& room) {
        far = reinterpret_cast<Words<T, VEC>*>(room) + threadIdx.x;
        room += FAR * THREADS * sizeof(Words<T, VEC>) / sizeof(uint4);
    }
    __device__ void fetch(int item, const T* from) {
        if (item < FAR) __pipeline_memcpy_async(far + item * THREADS, from, sizeof(Words<T, VEC>));
        else near[item - FAR] = load_words<VEC>(from);
    }
    __device__ void put(int item, const Pack<T, VEC>& pack) {
        const auto& words = reinterpret_cast<const Words<T, VEC>&>(pack);
        if (item < FAR) far[item * THREADS] = words;
        else near[item - FAR] = words;
    }
    __device__ const Words<T, VEC>& operator[](int item) const {
        return item < FAR ? far[item * THREADS] : near[item - FAR];
    }
};"""


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """How many packs of each tensor a thread keeps, and how many of them in shared memory."""

    items: int
    far: int

    def run(self, kernel: str, threads: int) -> str:
        return f"return run({kernel}<T, VEC, {threads}, {self.items}, {self.far}>, {self.far});"


class KeepingWriter(RowWriter):
    """Writes rows of which some tensors are kept in that way."""

    remembered: Value | None = None
    """What the first pass computes and all others find where it was kept, in place of what it was made of."""
    is_tight = False
    """Whether rows are so long that all packs but the last of a thread lie in them: nothing is asked of those."""
    ahead_of_use = 0
    """How many packs of what is not kept are sent for before they are needed."""
    started: Sequence[str] = ()
    """The statements that send for the first of those that the last pass needs."""

    @property
    def all_preambles(self) -> tuple[str, ...]:
        return (*row_preamble([self]), KEPT)

    def declared(self) -> list[str]:
        kept = dict.fromkeys(self._given, "T") | ({self._remembered_name: "float"} if self.remembered else {})
        places = [f"Kept<{kind}, VEC, THREADS, ITEMS, FAR> {name}_kept(room);" for name, kind in kept.items()]
        return ["extern __shared__ uint4 shared[];", "uint4* room = shared;", *places]

    @property
    def _given(self) -> list[str]:
        """The tensors among what is kept."""
        return [name for name in self.emitter.kept if not self.remembered or name != self._remembered_name]

    @property
    def within(self) -> str:
        return f"item < ITEMS - 1 || column < {self.end}" if self.is_tight else f"column < {self.end}"

    def kept_bytes(self, width: int) -> str:
        """Of one pack of all that is kept."""
        given = width * len(self._given)
        return f"({given} + VEC * sizeof(float))" if self.remembered else str(given)

    def reduce(self, group: Sequence[Carried], stores: Sequence[Store] = ()) -> list[Carrier]:
        carriers = super().reduce(group, stores)
        if value := self._yet_to_remember:
            name = self._remembered_name
            self.emitter.held = {**self.emitter.held, value.number: Tensor(name, "fp32", value.shape)}
            self.emitter.kept[name] = code("{kept}[{item}]", kept=f"{name}_kept")
        return carriers

    @property
    def _yet_to_remember(self) -> Value | None:
        is_known = self.remembered is None or self.remembered.number in self.emitter.held
        return None if is_known else self.remembered

    def forget_names(self) -> None:
        """What is remembered is given by nobody."""
        if self.remembered:
            self.needs.reads.pop(self._remembered_name, None)
            self.needs.vectors.pop(self._remembered_name, None)

    @property
    def _remembered_name(self) -> str:
        assert self.remembered
        return f"{called(self.graph, self.remembered)}_made"

    def _new_pass(self) -> None:
        super()._new_pass()
        if self.ahead_of_use:
            self.emitter.early, self.emitter.early_place = {}, self._turn

    def _loop(self, done: Pass) -> list[str]:
        if value := self._yet_to_remember:
            name = self._remembered_name
            self.emitter.lines[PACK].append(Let("Pack<float, VEC>", name))
            done.elements.append(f"{name}.at[k] = {self.at_element(value).text};")
            done.behind.append(f"{name}_kept.put(item, {name});")
        return super()._loop(done)

    def _over_kept(self, inner: Sequence[str]) -> list[str]:
        """The next packs are sent for as soon as these are opened."""
        if not self.emitter.early:
            self.started = ()
            return super()._over_kept(inner)
        fetch, count = self.emitter.name("fetch"), self.ahead_of_use
        loads = [f"{name}{self._turn} = {early.load.text};" for name, early in self.emitter.early.items()]
        self.started = [
            *(
                f"{early.type.text} {name}{f'[{count}]' if count > 1 else ''};"
                for name, early in self.emitter.early.items()
            ),
            f"const auto {fetch} = [&](int item) {{",
            f"    {self.kept_column}",
            f"    if (item < ITEMS - 1 || (item < ITEMS && column < {self.end})) {{",
            *block(loads, 2),
            "    }",
            "};",
            *(f"{fetch}({item});" for item in range(count)),
        ]
        opened = len(self.emitter.lines[PACK])
        return super()._over_kept([*inner[:opened], f"{fetch}(item + {count});", *inner[opened:]])

    @property
    def _turn(self) -> str:
        return f"[item % {self.ahead_of_use}]" if self.ahead_of_use > 1 else ""

    def fetched(self, first: str, end: str, row: str = "row", besides: Sequence[str] = ()) -> list[str]:
        """The items of a row from the first to the end."""
        return [
            "#pragma unroll",
            f"for (int item = {first}; item < {end}; ++item) {{",
            f"    {self.kept_column}",
            *block(self.fetches(self.within, row, besides)),
            "}",
        ]

    def fetches(self, test: str, row: str, besides: Sequence[str] = ()) -> list[str]:
        """One item, where that is so."""
        lines = [f"{name}_kept.fetch(item, {name} + {row} * columns + column);" for name in self._given]
        lines += besides
        return [f"if ({test}) {lines[0]}"] if len(lines) == 1 else [f"if ({test}) {{", *block(lines), "}"]


def read_again(streamed: RowWriter) -> list[str]:
    """The tensors that are worth keeping. They share one piece of memory, and so must be of one type."""
    return [name for name in streamed.read_again if streamed.needs.reads[name].cpp == "T"]


def items_of(packs: int, threads: int, tensors: int, gpu: Gpu, near: int = NEAR) -> int | None:
    """Packs of each tensor that a thread has to keep, so many threads sharing a row; None where there is no room for
    them, at least one in registers."""
    items = -(-packs // threads)
    return items if tensors <= near and far_of(items, tensors, near) * tensors <= shared_packs(gpu) else None


def far_of(items: int, tensors: int, near: int = NEAR) -> int:
    """How many of them lie in shared memory: none where registers suffice, which hold so many packs in all."""
    return 0 if items * tensors <= near else items - near // tensors


def kept_parameters(given: Needs) -> list[str]:
    """Of such a kernel: a row that is kept is short enough for an int, which spares registers."""
    return [item.replace("int64_t columns", "int columns") for item in row_parameters(given)]


def declining(needs: Needs, width: int, test: str) -> list[str]:
    """How a launcher begins that does not take everything."""
    return [
        vec_of(width),
        "const int64_t packs = columns / VEC;",
        vector_test(needs),
        f"if (!vectors || {test}) return false;",
        "const auto* const gpu = at::cuda::getCurrentDeviceProperties();",
    ]
