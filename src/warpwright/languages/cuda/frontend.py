"""CUDA C++ as the other rooms see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.gpus.table import KIB, gpu_named
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Task
from warpwright.emulate.emulating import emulate
from warpwright.emulate.emulation import Emulation
from warpwright.languages.cuda import fingerprint, skeleton, sources, text, traits, tunables
from warpwright.languages.cuda.element_types import spelled
from warpwright.languages.cuda.merging.merge import merged
from warpwright.languages.frontend import Frontend, Traits, Value
from warpwright.languages.words import Words
from warpwright.prove.proof import Proof
from warpwright.prove.proving import prove
from warpwright.seal.cache import Store
from warpwright.seal.capture.program import is_prebuilt
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal

if TYPE_CHECKING:
    from warpwright.emulate.cost.counting import Counted
    from warpwright.emulate.program.running import Librarian


class Cuda(Frontend):
    """One `.cu` file in the form of a torch extension."""

    name = CUDA
    endings = (".cu",)
    folder = Path(__file__).resolve().parent
    words = Words(
        title="CUDA",
        fence="cuda",
        file="one CUDA C++ file that exports its entry with PYBIND11_MODULE",
        begins="first include",
        ends="binding",
        openings=("#include", "//", "/*", "#pragma", "#define"),
        missing="no code block of the answer has PYBIND11_MODULE;"
        " give the whole file, from its includes to the binding",
        unfinished="the file has no complete binding; give the whole file, including PYBIND11_MODULE",
        dtype_at_run_time="look at the arguments' `scalar_type()` at run time",
        wrong_line="    for (int i = threadIdx.x; i <= n; i += blockDim.x)",
        right_line="    for (int i = threadIdx.x; i < n; i += blockDim.x)",
        tunable="write a line such as '// tune: BLOCK = 64, 128' before the line that sets BLOCK",
    )

    def joined(self, text: str, folder: Path, includes: Sequence[Path]) -> str:
        return sources.joined(text, folder, includes)

    def options(self, source: str) -> tuple[str, ...]:
        return sources.options_in(source)

    def problem(self, source: str) -> str | None:
        return text.problem(source)

    def seal(
        self, task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
    ) -> Sealed | Refusal:
        return seal(task, candidate, cases, store)

    def is_prepared(self, store: Store) -> bool:
        """Whether our headers are precompiled."""
        return is_prebuilt(store)

    def emulate(
        self,
        task: Task,
        candidate: Candidate,
        cases: Sequence[Case] | None = None,
        store: Store | None = None,
        library: Librarian | None = None,
        thorough: bool = False,
    ) -> Emulation:
        return emulate(task, candidate, cases, store, library, thorough=thorough)

    def prove(
        self, task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
    ) -> Proof:
        return prove(task, candidate, cases, store)

    def count(self, task: Task, candidate: Candidate, sealed: Sealed, case: Case) -> Counted:
        from warpwright.emulate.cost.counting import count

        return count(task, candidate, sealed, case)

    def fingerprint(self, source: str) -> str:
        return fingerprint.fingerprint(source)

    def traits(self, source: str) -> Traits:
        return traits.traits(source)

    def space(self, source: str) -> dict[str, tuple[Value, ...]]:
        return tunables.space(source)

    def settings(self, source: str) -> dict[str, Value]:
        return tunables.settings(source)

    def with_settings(self, source: str, values: Mapping[str, Value]) -> str:
        return tunables.with_settings(source, values)

    def merged(self, task: Task, sources: Sequence[str], winners: Mapping[str, int], best: int) -> str:
        return merged(task, sources, winners, best)

    def skeleton(self, task: Task, *, prepare: bool = True) -> str:
        return skeleton.skeleton(task, prepare=prepare)

    def parameters(self, task: Task, entry: str) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in skeleton.parameters(task, entry))

    def outline(self, entries: Sequence[str]) -> str:
        bindings = " ".join(f'm.def("{name}", &{name});' for name in entries)
        return (
            "#include <torch/extension.h>\n"
            "// kernels\n"
            f"// {', '.join(entries)}: allocate, launch, return\n"
            f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ {bindings} }}"
        )

    def rules(self, flags: Flags) -> Mapping[str, str]:
        gpu = gpu_named(flags.gpu)
        given = [f"-arch={gpu.arch}", "-O3", *(["--use_fast_math"] if flags.fast_math else []), *flags.extra]
        static = gpu.architecture.shared_per_block // KIB
        return {"flags": " ".join(given), "gpu": gpu.title, "shared_static": str(static)}

    def dtype(self, name: str) -> str:
        return spelled(name)

    def exports(self, source: str) -> bool:
        return text.exports(source)

    def is_whole(self, source: str) -> bool:
        return text.is_whole(source)

    def comments(self, source: str) -> Iterator[str]:
        return text.comments(source)

    def foreign(self, tag: str, source: str) -> str | None:
        return "Python" if tag.startswith("py") or text.is_python(source) else None
