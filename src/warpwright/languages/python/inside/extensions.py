"""C++ extensions: torch.utils.cpp_extension, whose functions run in capture programs on tensors without data."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch
from torch.utils import cpp_extension

from warpwright.core.codec import encode
from warpwright.languages.python.inside.outcomes import Refusal, unsupported
from warpwright.languages.python.inside.recorder import Recorder, dtype_name
from warpwright.languages.python.inside.tensors import Recording
from warpwright.languages.python.record import ElementType, Extension, ExtensionCall, Listed, Scalar, Value

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends a question to the process outside of the sandbox, and returns its answer."""


class Extensions:
    """All extensions that the candidate loaded."""

    def __init__(self, recording: Recording, ask: Ask, gpu: Mapping[str, Any]) -> None:
        self.recording, self.ask, self.gpu = recording, ask, gpu
        self.loaded: dict[Extension, _Program] = {}

    def install(self) -> None:
        """Puts our loaders in the place of torch's."""
        cpp_extension.load_inline = self.load_inline  # type: ignore[assignment]
        cpp_extension.load = self.load  # type: ignore[assignment]

    def load_inline(
        self,
        name: str,
        cpp_sources: str | Sequence[str] = (),
        cuda_sources: str | Sequence[str] = (),
        functions: str | Sequence[str] | Mapping[str, str] | None = None,
        extra_cflags: Sequence[str] | None = None,
        extra_cuda_cflags: Sequence[str] | None = None,
        **_: Any,
    ) -> ModuleType:
        bound, cpp = _listed(functions or ()), _listed(cpp_sources)
        for function in bound:
            if not re.search(rf"\b{re.escape(function)}\b", "\n".join(cpp)):
                # torch binds functions in a file of its own, which sees the C++ sources only.
                self._fail(name, f"'{function}' was not declared in this scope")
        return self._module(name, (*_listed(cuda_sources), *cpp), bound, extra_cuda_cflags)

    def load(
        self,
        name: str,
        sources: str | Sequence[str],
        extra_cflags: Sequence[str] | None = None,
        extra_cuda_cflags: Sequence[str] | None = None,
        **_: Any,
    ) -> ModuleType:
        paths = sorted(_listed(sources), key=lambda path: not path.endswith(".cu"))
        return self._module(name, [Path(path).read_text() for path in paths], (), extra_cuda_cflags)

    def _module(
        self, name: str, sources: Sequence[str], functions: Sequence[str], flags: Sequence[str] | None
    ) -> ModuleType:
        extension = Extension(name=name, sources=tuple(sources), functions=tuple(functions), flags=tuple(flags or ()))
        if extension not in self.loaded:
            self.loaded[extension] = self._built(extension, len(self.loaded))
        return _Module(name, self.loaded[extension])

    def _built(self, extension: Extension, number: int) -> _Program:
        answer = self.ask({"build": encode(extension), "number": number})
        if "error" in answer:
            self._fail(extension.name, answer["error"])
        if "undecided" in answer:
            self.recording.recorder.refuse(unsupported(answer["undecided"]))
        return _Program(self.recording, answer["program"], number, self.gpu, set(answer["entries"]))

    def _fail(self, name: str, message: str) -> NoReturn:
        """Fails as torch does, which the candidate may catch."""
        said = f"Error building extension '{name}': {message}"
        self.recording.recorder.notes.append(said[:500])
        raise RuntimeError(said)


class _Module(ModuleType):
    def __init__(self, name: str, program: _Program) -> None:
        super().__init__(name)
        self._program = program

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._program.entries:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        return lambda *arguments, **keywords: self._program.call(name, arguments, keywords)


class _Program:
    """The capture program of one extension, which answers one request after the other."""

    def __init__(self, recording: Recording, path: str, number: int, gpu: Mapping[str, Any], entries: set[str]) -> None:
        self.recording, self.path, self.number, self.gpu, self.entries = recording, path, number, gpu, entries
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def recorder(self) -> Recorder:
        return self.recording.recorder

    def call(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        buffers: list[torch.Tensor] = []
        positional = [self._request(value, buffers) for value in arguments]
        named = {key: self._request(value, buffers) for key, value in keywords.items()}
        asked = {
            "entry": f"{self.number}:{name}",
            "arguments": positional,
            "keywords": named,
            "buffers": [
                {"base": self.recorder.base(self.recorder.number(item)), "bytes": item.untyped_storage().nbytes()}
                for item in buffers
            ],
            "scratch": {"base": self.recorder.base(len(self.recorder.memory) + 1), "gap": 1 << 21},
            "gpu": self.gpu,
            "kernels": [],
        }
        trace = self._answer(asked)
        if trace["outcome"] != "captured":
            self._fail(name, trace)
        results: list[torch.Tensor] = []
        value = self._returned(trace["returns"], trace["buffers"], dict(enumerate(buffers)), results)
        self.recorder.add(
            ExtensionCall(
                extension=self.number,
                function=name,
                arguments=tuple(map(self._value, arguments)),
                keywords={key: self._value(item) for key, item in keywords.items()},
                results=tuple(map(self.recorder.view, results)),
            )
        )
        return value

    def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if self._process is None:
            reading, writing = os.pipe()
            command = [self.path, "-", str(writing)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(writing,))
            os.close(writing)
            self._traces = os.fdopen(reading)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        line = self._traces.readline()
        if not line:
            code, self._process = self._process.wait(), None
            message = f"the host code of the extension ended with status {code}"
            self.recorder.refuse(Refusal("error", "host-crash", message))
        trace: dict[str, Any] = json.loads(line)
        return trace

    def _fail(self, name: str, trace: Mapping[str, Any]) -> None:
        """Raises what Python would see."""
        if trace["outcome"] == "error" and trace["what"] == "arguments":
            raise TypeError(f"{name}(): incompatible function arguments: {trace['message']}")
        if trace["outcome"] == "error":
            raise RuntimeError(trace["message"])
        self.recorder.refuse(Refusal(trace["outcome"], trace["what"], trace["message"]))

    def _request(self, value: Any, buffers: list[torch.Tensor]) -> dict[str, Any]:
        match value:
            case torch.Tensor():
                return self._tensor(value, buffers)
            case None:
                return {"none": None}
            case bool():
                return {"bool": value}
            case int():
                return {"int": value}
            case float():
                return {"float": value}
            case str():
                return {"string": value}
            case torch.dtype():
                return {"dtype": str(value).removeprefix("torch.")}
            case list() | tuple():
                return {"list": [self._request(item, buffers) for item in value]}
        self.recorder.refuse(unsupported(f"{type(value).__name__} as an argument of an extension"))
        raise AssertionError

    def _tensor(self, tensor: torch.Tensor, buffers: list[torch.Tensor]) -> dict[str, Any]:
        if tensor.device.type != "cuda":
            self.recorder.refuse(unsupported("a tensor on the CPU as an argument of an extension"))
        number = self.recorder.number(tensor)
        known = [self.recorder.number(item) for item in buffers]
        if number not in known:
            buffers.append(tensor)
            known.append(number)
        window = {"shape": list(tensor.shape), "stride": list(tensor.stride())}
        place = {"buffer": known.index(number), "offset": tensor.storage_offset() * tensor.element_size()}
        return {"tensor": {**place, **window, "dtype": str(tensor.dtype).removeprefix("torch.")}}

    def _value(self, value: Any) -> Value:
        match value:
            case torch.Tensor():
                return self.recorder.view(value)
            case torch.dtype():
                return ElementType(name=dtype_name(value))
            case list() | tuple():
                return Listed(items=tuple(map(self._value, value)))  # type: ignore[arg-type]
        return Scalar(value=value)

    def _returned(
        self,
        value: Mapping[str, Any],
        traced: Sequence[Any],
        bases: dict[int, torch.Tensor],
        results: list[torch.Tensor],
    ) -> Any:
        """What the function returned, as Python sees it."""
        [(kind, content)] = value.items()
        match kind:
            case "tensor":
                results.append(self._result(content, traced, bases))
                return results[-1]
            case "list":
                return [self._returned(item, traced, bases, results) for item in content]
            case "tuple":
                return tuple(self._returned(item, traced, bases, results) for item in content)
            case "dict":
                return {key: self._returned(item, traced, bases, results) for key, item in content.items()}
        return content

    def _result(self, view: Mapping[str, Any], traced: Sequence[Any], bases: dict[int, torch.Tensor]) -> torch.Tensor:
        dtype = getattr(torch, view["dtype"])
        if view.get("host"):
            data = torch.frombuffer(bytearray.fromhex(view["data"]), dtype=dtype)
            return data.as_strided(view["shape"], view["stride"])
        number = view["buffer"]
        if number not in bases:
            bases[number] = torch.empty(traced[number]["bytes"], dtype=torch.uint8, device="cuda")
        base = bases[number] if bases[number].dtype == dtype else _flat(bases[number]).view(dtype)
        return base.as_strided(view["shape"], view["stride"], view["offset"] // dtype.itemsize)


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """The whole memory of a tensor as one row of its elements."""
    return tensor.as_strided([tensor.untyped_storage().nbytes() // tensor.element_size()], [1], 0)


def _listed(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
