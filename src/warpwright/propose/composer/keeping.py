"""Rows that are kept in registers and, where these do not suffice, in shared memory as well.

A thread has places of its own there, so that nobody waits for anybody. What comes there comes in the background, and
takes no registers on its way.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.propose.composer.kernel import block, row_parameters, vec_of, vector_test
from warpwright.propose.composer.row_kernel import RowWriter
from warpwright.propose.composer.row_launch import row_preamble
from warpwright.propose.composer.tensors import Needs

NEAR, FAR = 7, 13
"""Packs that each of 1024 threads has room for, in registers and in shared memory."""

KEPT = """\
// The packs of a row that a thread keeps: the first FAR in shared memory, where they arrive in the background, the
// others in registers.
template <typename T, int VEC, int THREADS, int ITEMS, int FAR>
struct Kept {
    Words<T, VEC>* far;  // Places of its own, THREADS apart.
    Words<T, VEC> near[ITEMS - FAR];

    __device__ Kept(void* shared, int tensor) {
        far = static_cast<Words<T, VEC>*>(shared) + tensor * FAR * THREADS + threadIdx.x;
    }
    __device__ void fetch(int item, const T* from) {
        if (item < FAR) __pipeline_memcpy_async(far + item * THREADS, from, sizeof(Words<T, VEC>));
        else near[item - FAR] = load_words<VEC>(from);
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

    @property
    def all_preambles(self) -> tuple[str, ...]:
        return (*row_preamble([self]), KEPT)

    def declared(self) -> list[str]:
        kept = enumerate(self.emitter.kept)
        places = [f"Kept<T, VEC, THREADS, ITEMS, FAR> {name}_kept(shared, {place});" for place, name in kept]
        return ["extern __shared__ uint4 shared[];", *places]

    def fetched(self, first: str, end: str, row: str = "row") -> list[str]:
        """The items of a row from the first to the end."""
        return [
            "#pragma unroll",
            f"for (int item = {first}; item < {end}; ++item) {{",
            f"    {self.kept_column}",
            *block(self.fetches(f"column < {self.end}", row)),
            "}",
        ]

    def fetches(self, test: str, row: str) -> list[str]:
        """One item, where that is so."""
        lines = [f"{name}_kept.fetch(item, {name} + {row} * columns + column);" for name in self.emitter.kept]
        return [f"if ({test}) {lines[0]}"] if len(lines) == 1 else [f"if ({test}) {{", *block(lines), "}"]


def read_again(streamed: RowWriter) -> list[str]:
    """The tensors that are worth keeping. They share one piece of memory, and so must be of one type."""
    return [name for name in streamed.read_again if streamed.needs.reads[name].cpp == "T"]


def items_of(packs: int, threads: int, tensors: int) -> int | None:
    """Packs of each tensor that a thread has to keep, so many threads sharing a row; None where there is no room."""
    items = -(-packs // threads)
    return items if has_room(items, tensors) else None


def has_room(items: int, tensors: int) -> bool:
    """For so many packs of each of the tensors, at least one of them in registers."""
    return tensors <= NEAR and far_of(items, tensors) * tensors <= FAR


def far_of(items: int, tensors: int) -> int:
    """How many of them lie in shared memory: at least one, since a kernel that needs none is another one."""
    return max(items - NEAR // tensors, 1)


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
