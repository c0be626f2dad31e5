"""`import warpwright as ww`: cheap to import, takes tasks and kernels in every form, gives data back."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import warpwright as ww
from warpwright.app.given import subject_of

RIGHT = """#include <torch/extension.h>

__global__ void scaled(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  scaled<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
WRONG = RIGHT.replace("3 * x[i]", "2 * x[i]  /* <b> */")
SCALE = 3


def scaled(x):
    return x * SCALE


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x * 3


@pytest.fixture(scope="module")
def task() -> ww.Task:
    return ww.task(scaled, inputs=[torch.randn(4, 8)])


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nsys.stdout.write(' '.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_loads_next_to_nothing() -> None:
    added = modules_after("import warpwright as ww; dir(ww)") - modules_after("")
    assert not added & {"torch", "numpy", "asyncio"}
    assert len(added) < 60


def test_every_public_name_is_there_and_stays_a_function() -> None:
    assert {name for name in dir(ww) if not name.startswith("_")} >= {"check", "seal", "tasks", "Verdict", "aio"}
    for name in (*ww._HOMES, *ww._MODULES):
        assert getattr(ww, name) is not None

    assert callable(ww.seal)
    assert callable(ww.compose)
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        _ = ww.chekc  # type: ignore[attr-defined]


def test_a_function_and_a_module_are_the_same_task_as_a_file(tmp_path: Path, task: ww.Task) -> None:
    (tmp_path / "ref.py").write_text("def scaled(x):\n    return x * 3\n")
    described = ww.task(f"{tmp_path / 'ref.py'}:scaled", inputs=["4,8:fp32"])
    traced = ww.task(Scaled(), inputs=[torch.randn(4, 8)])
    for other in (described, traced):
        assert [case.dims for case in other.cases] == [case.dims for case in task.cases]
    assert ww.task(task) is task


def test_what_is_no_task_is_refused_in_a_sentence(task: ww.Task) -> None:
    with pytest.raises(ww.UsageError, match="not int"):
        ww.task(3)  # type: ignore[arg-type]
    with pytest.raises(ww.UsageError, match="traced on example inputs"):
        ww.task(Scaled())
    with pytest.raises(ww.UsageError, match="inputs already"):
        ww.task(task, inputs=["8:fp32"])
    with pytest.raises(ww.UsageError, match="a list with one entry"):
        ww.task(scaled, inputs="8,8:fp32")


def test_a_right_kernel_holds_whether_text_file_or_candidate(tmp_path: Path, task: ww.Task) -> None:
    (tmp_path / "scaled.cu").write_text(RIGHT)
    found = ww.check(RIGHT, task)
    assert (found.verdict, found.holds, found.faults) == (ww.Verdict.HOLDS, True, ())
    for kernel in (tmp_path / "scaled.cu", str(tmp_path / "scaled.cu"), ww.Candidate(source=RIGHT)):
        assert ww.check(kernel, task).candidate.id == found.candidate.id
    with pytest.raises(ww.UsageError, match="cannot be read"):
        ww.check("missing.cu", task)


def test_a_wrong_kernel_is_a_result_with_a_counterexample(task: ww.Task) -> None:
    found = ww.check(WRONG, task)
    assert found.verdict is ww.Verdict.REFUTED
    assert found.counterexample is not None
    assert found.sentence in repr(found)
    assert "<b>" not in found._repr_html_()
    assert "refuted" in found._repr_html_()


def test_text_that_is_no_kernel_is_refuted(task: ww.Task) -> None:
    assert ww.check("I cannot write this kernel.", task).verdict is ww.Verdict.REFUTED


def test_a_check_is_reproduced_from_its_folder(tmp_path: Path) -> None:
    found = ww.check(WRONG, scaled, inputs=[torch.randn(4, 8)])
    command = shlex.split(found.reproduce(tmp_path))
    assert command[0] == "warpwright"
    ran = subprocess.run(
        [sys.executable, "-m", "warpwright", *command[1:]], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.splitlines()[0] == found.sentence


def test_a_task_from_a_function_is_named_again(tmp_path: Path) -> None:
    def shifted(x, index, eps):
        return x[index] + eps

    task = ww.task(shifted, inputs=[torch.randn(6, 8), torch.tensor([1, 5, 2]), 0.5])
    subject = subject_of(task).named()
    described = [*subject.inputs]
    subject.write(tmp_path)
    assert described == ["x=6,8:fp32", "index=3,:int64<6", "eps=0.5"]
    assert ww.task(f"{tmp_path / 'shifted.py'}:shifted", inputs=described).id == task.id


def test_progress_reaches_a_callback(task: ww.Task) -> None:
    told: list[ww.Update] = []
    results = ww.check_all([RIGHT, WRONG], task, jobs=2, on_progress=told.append)
    assert [item.holds for item in results] == [True, False]
    assert [(update.done, update.total) for update in told] == [(0, 2), (1, 2), (2, 2)]


def test_a_script_needs_no_guard_for_several_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import warpwright as ww\n"
        "print('once', [str(item.verdict) for item in ww.check_all(['int x;', 'int y;'], 'layernorm', jobs=2)])\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert ran.stdout == "once ['refuted', 'refuted']\n", ran.stderr


def test_functions_work_inside_a_running_event_loop(task: ww.Task) -> None:
    async def cell() -> list[ww.Checked]:
        return [ww.check(WRONG, task), *await asyncio.gather(ww.aio.check(RIGHT, task), ww.aio.check(WRONG, task))]

    assert [item.holds for item in asyncio.run(cell())] == [False, True, False]


def test_sealing_tells_what_a_kernel_launches(task: ww.Task) -> None:
    found = ww.seal(RIGHT, task)
    assert found.sealed is not None
    assert "scaled" in repr(found)
    refused = ww.seal("int x;", task)
    assert refused.refusal is not None
    assert refused._repr_html_().startswith("<pre>")


def test_a_kernel_is_composed_for_a_function(task: ww.Task, tmp_path: Path) -> None:
    found = ww.compose(scaled, inputs=[torch.randn(4, 8)])
    assert found.verdict is ww.Verdict.HOLDS
    path = found.save(tmp_path)
    assert path is not None
    assert path.read_text() == found.source


def test_a_bench_without_a_gpu_is_undecided(task: ww.Task) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ww.Undecided):
        ww.bench(RIGHT, task)
    refused = ww.bench("int x;", task)
    assert (refused.verdict, refused.standings, refused.least_speed_up) == (ww.Verdict.REFUTED, (), None)
