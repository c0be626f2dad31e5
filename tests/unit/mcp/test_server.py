"""The tools, used by the SDK's own client: verdicts, sentences for mistakes, and searches that outlive a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from warpwright.mcp.server import server

KERNEL = """#include <torch/extension.h>
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("reference") / "ref.py"
    file.write_text("def twice(x):\n    return 2 * x\n")
    return f"{file}:twice"


def with_client(work: Callable[[Client], Awaitable[Any]], archive: Path | None = None) -> Any:
    async def session() -> Any:
        async with Client(server(str(archive) if archive else None)) as client:
            return await work(client)

    return asyncio.run(session())


def test_every_tool_says_what_it_does() -> None:
    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in with_client(listed)}
    searches = {"optimize", "watch", "stop", "resume", "history", "runs"}
    assert set(tools) == {"tasks", "task", "check", "bench", "compose"} | searches
    assert all(tool.description for tool in tools.values())
    assert "on_progress" not in tools["check"].input_schema["properties"]
    assert tools["check"].input_schema["required"] == ["source", "task"]


def test_verdicts_come_with_their_evidence_and_progress(reference: str) -> None:
    labels: list[str | None] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        labels.append(message)

    async def verdicts(client: Client) -> list[Any]:
        asked = {"task": reference, "inputs": ["64:fp32"]}
        right = await client.call_tool("check", {"source": KERNEL, **asked}, progress_callback=progress)
        wrong = await client.call_tool("check", {"source": KERNEL.replace("2 * x", "3 * x"), **asked})
        return [right.structured_content, wrong.structured_content]

    right, wrong = with_client(verdicts)
    assert right["verdict"] == "holds"
    assert wrong["verdict"] == "refuted"
    assert wrong["dossier"]["evidence"][-1]["counterexample"]["kind"]
    assert any(label and "checking" in label for label in labels)


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    async def mistaken(client: Client) -> Any:
        task = await client.call_tool("check", {"source": KERNEL, "task": "layernrom"})
        return task, await client.call_tool("watch", {"run": "nowhere"})

    task, run = with_client(mistaken, tmp_path / "runs.db")
    assert task.is_error
    assert "did you mean layernorm" in task.content[0].text
    assert run.is_error
    assert "our fault" not in run.content[0].text


def test_a_search_is_started_watched_stopped_and_read(tmp_path: Path) -> None:
    async def search(client: Client) -> list[Any]:
        asked = {"task": "mnist_cross_entropy", "generations": 0}
        begun = (await client.call_tool("optimize", asked)).structured_content
        stopped = (await client.call_tool("stop", {"run": begun["run"]})).structured_content
        runs = (await client.call_tool("runs", {})).structured_content["runs"]
        page = await client.read_resource(f"warpwright://runs/{begun['run']}/report")
        return [begun, stopped, runs, page.contents[0].text]

    begun, stopped, runs, page = with_client(search, tmp_path / "runs.db")
    assert begun["running"]
    assert not stopped["running"]
    assert [item["run"] for item in runs] == [begun["run"]]
    assert "<html" in page
