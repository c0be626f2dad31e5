"""A toy language for tests: one line of arithmetic on an fp32 tensor x, such as `y = x * x + 1`; `#` starts a comment.

It compiles to CUDA C++ and lets that language seal and emulate the result. Everything that a language may leave out is
left out here: hints, remedies, tunables, merging.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from warpwright import languages
from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Task
from warpwright.emulate.emulation import Emulation
from warpwright.seal.refusal import Refusal

_LINE = re.compile(r"^y = ([x0-9.+\-*/() ]+)$", re.MULTILINE)
_CODE = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void toy(const float* __restrict__ from, float* __restrict__ to, int64_t n) {{
  const int64_t i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) {{
    const float x = from[i];
    to[i] = {expression};
  }}
}}

torch::Tensor forward(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  const int64_t n = x.numel();
  toy<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("forward", &forward); }}
"""


def compiled(candidate: Candidate) -> Candidate:
    """The same kernel in CUDA C++."""
    (expression,) = _LINE.findall(candidate.source)
    return Candidate(source=_CODE.format(expression=expression), flags=candidate.flags)


class Toy(languages.Frontend):
    name = "toy"
    endings = (".toy", ".toi")
    folder = Path(__file__).resolve().parent
    words = languages.Words(
        title="toy",
        fence="toy",
        file="one line `y = ...`",
        begins="first character",
        ends="last character",
        openings=("y =", "#"),
        missing="no code block of the answer has a line `y = ...`; give that line",
        unfinished="the line is not complete; give all of it",
        dtype_at_run_time="there is only fp32",
        wrong_line="y = x + 2",
        right_line="y = x + 1",
        tunable="this language has none",
    )

    def problem(self, source: str) -> str | None:
        return None if self.exports(source) else "the source has no line `y = ...`"

    def seal(
        self, task: Task, candidate: Candidate, cases: Sequence[Case] | None = None, store: object = None
    ) -> Sealed | Refusal:
        found = languages.seal(task, compiled(candidate), cases, store)
        if isinstance(found, Refusal):
            return found
        manifest = replace(found.manifest, candidate=candidate.id)
        return replace(found, source=candidate.source, manifest=manifest)

    def emulate(
        self,
        task: Task,
        candidate: Candidate,
        cases: Sequence[Case] | None = None,
        store: object = None,
        library: object = None,
        thorough: bool = False,
    ) -> Emulation:
        return languages.named(CUDA).emulate(task, compiled(candidate), cases, store, library, thorough)

    def fingerprint(self, source: str) -> str:
        return hashlib.sha256("".join(_LINE.findall(source)[0].split()).encode()).hexdigest()[:20]

    def traits(self, source: str) -> languages.Traits:
        return 1, 0, 0, 3

    def skeleton(self, task: Task, *, prepare: bool = True) -> str:
        return f"# {task.name}\ny = x\n"

    def parameters(self, task: Task, entry: str) -> tuple[str, ...]:
        return ("x",)

    def outline(self, entries: Sequence[str]) -> str:
        return "y = x * x"

    def rules(self, flags: Flags) -> Mapping[str, str]:
        return {"gpu": flags.gpu}

    def exports(self, text: str) -> bool:
        return bool(_LINE.search(text))

    def is_whole(self, source: str) -> bool:
        return source.count("(") == source.count(")")

    def comments(self, source: str) -> Iterator[str]:
        return (line for line in source.splitlines() if line.startswith("#"))


FRONTEND = Toy()
