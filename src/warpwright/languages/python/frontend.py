"""Python as the other rooms see it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.gpus.table import gpu_named
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Task
from warpwright.emulate.emulating import emulate, examined
from warpwright.emulate.emulation import Emulation
from warpwright.languages.frontend import Frontend
from warpwright.languages.python import form, pipeline, skeleton, text
from warpwright.languages.python.tiles.runner import tile_runner
from warpwright.languages.python.tiles.sealing import sealed as tiles_sealed
from warpwright.languages.words import Words
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.program import is_prebuilt
from warpwright.seal.refusal import Refusal, Refused
from warpwright.seal.sealing import seal

if TYPE_CHECKING:
    from warpwright.emulate.cost.counting import Counted
    from warpwright.emulate.program.running import Librarian


class Python(Frontend):
    """One `.py` file with a class ModelNew, or a function."""

    name = "python"
    aliases = ("modelnew",)
    endings = (".py",)
    folder = Path(__file__).resolve().parent
    words = Words(
        title="Python",
        fence="python",
        file="one Python file with a class ModelNew",
        begins="first import",
        ends="class ModelNew",
        openings=("import ", "from ", "#", '"""'),
        missing="no code block of the answer has a class ModelNew; give the whole file",
        unfinished="the file cannot be parsed to its end; give the whole file, including the class ModelNew",
        dtype_at_run_time="look at the arguments' `dtype` at run time",
        wrong_line="    for (int i = threadIdx.x; i <= n; i += blockDim.x)",
        right_line="    for (int i = threadIdx.x; i < n; i += blockDim.x)",
        tunable="give the constant a name of its own at the top of the file",
    )

    def claims(self, source: str) -> bool:
        return form.claims(source)

    def problem(self, source: str) -> str | None:
        if not text.is_whole(source):
            return "the source is not Python that can be parsed"
        found = form.form_of(source)
        return None if found else "the source has no class ModelNew, no custom_kernel and no function named forward"

    def seal(
        self, task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: Store | None = None
    ) -> Sealed | Refusal:
        store = store or Store(root=default_root())
        asked = tuple({case.name: case for case in (task.asked if cases is None else cases)}.values())
        try:
            found = pipeline.observed(task, candidate, asked, store)
            kept = [case for case in asked if case.name in found.records]
            if found.kernels:
                return tiles_sealed(task, candidate, kept, found)
            translation = pipeline.translated(task, candidate, asked, found)
        except Refused as refused:
            return refused.refusal
        sealed = seal(task, translation, kept, store)
        return sealed if isinstance(sealed, Refusal) else pipeline.returned_to(candidate, sealed)

    def is_prepared(self, store: Store) -> bool:
        """Whether the headers of extensions are precompiled."""
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
        store = store or Store(root=default_root())
        cases = task.cases if cases is None else cases
        # A case that is both checked and timed is recorded once.
        checked = tuple({case.name: case for case in cases}.values())
        try:
            found = pipeline.observed(task, candidate, checked, store)
            kept = [case for case in cases if case.name in found.records]
            if found.kernels:
                runner = tile_runner(task, candidate, kept, found, store, library)
                return examined(task, kept, store, lambda: runner, thorough=thorough)
            translation = pipeline.translated(task, candidate, checked, found)
        except Refused as refused:
            refusal = refused.refusal
            return Emulation(verdict=refusal.verdict, reason=refusal.reason, counterexample=refusal.counterexample)
        return emulate(task, translation, kept, store, library, thorough=thorough)

    def count(self, task: Task, candidate: Candidate, sealed: Sealed, case: Case) -> Counted:
        from warpwright.emulate.cost.counting import count

        found = pipeline.observed(task, candidate, (case,), Store(root=default_root()))
        return count(task, pipeline.translated(task, candidate, (case,), found), sealed, case)

    def fingerprint(self, source: str) -> str:
        return hashlib.sha256(text.normal(source).encode("utf-8", "surrogateescape")).hexdigest()[:20]

    def skeleton(self, task: Task, *, prepare: bool = True) -> str:
        return skeleton.skeleton(task)

    def parameters(self, task: Task, entry: str) -> tuple[str, ...]:
        return skeleton.inputs(task)

    def outline(self, entries: Sequence[str]) -> str:
        return (
            "import torch\nfrom torch.utils.cpp_extension import load_inline\n"
            "# sources, extension = load_inline(...)\n"
            "class ModelNew(torch.nn.Module):  # its constructor as the reference's\n"
            "    def forward(self, x): ...  # allocates and calls the extension\n"
        )

    def rules(self, flags: Flags) -> Mapping[str, str]:
        gpu = gpu_named(flags.gpu)
        return {"gpu": gpu.title, "arch": gpu.arch}

    def exports(self, source: str) -> bool:
        return any(word in source for word in ("ModelNew", "custom_kernel", "def forward"))

    def is_whole(self, source: str) -> bool:
        return text.is_whole(source)

    def comments(self, source: str) -> Iterator[str]:
        return text.comments(source)

    def foreign(self, tag: str, source: str) -> str | None:
        return "CUDA C++" if tag in ("cuda", "cpp", "c++") or "PYBIND11_MODULE" in source else None
