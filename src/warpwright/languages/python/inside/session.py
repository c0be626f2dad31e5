"""One process: the candidate is imported and constructed once, and called on every case."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode, UnsupportedOperatorException
from torch.utils._pytree import tree_leaves

from warpwright.core.codec import encode
from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import Constant, View
from warpwright.languages.python.inside import device, modules, triton_launches
from warpwright.languages.python.inside.dependence import record_of
from warpwright.languages.python.inside.extensions import Ask, Extensions
from warpwright.languages.python.inside.functions import Functions
from warpwright.languages.python.inside.outcomes import Refusal, unsupported
from warpwright.languages.python.inside.recorder import Recorder
from warpwright.languages.python.inside.tensors import Recording
from warpwright.languages.python.record import Answer

CANDIDATE = "candidate.py"


class Session:
    """The order says what to call; every call is answered with what it did."""

    def __init__(self, order: Mapping[str, Any], send: Callable[[Mapping[str, Any]], None], ask: Ask) -> None:
        self.order, self.send = order, send
        ctypes.CDLL(order["guard"])
        self.recorder = Recorder(order["space"], order["first"] + len(order["state"]))
        self.recording = Recording(self.recorder)
        device.install(self.recorder, order["gpu"])
        Extensions(self.recording, ask, order["gpu"]).install()
        nn.Module._apply = modules.converted  # type: ignore[method-assign]
        self._functions = Functions(self.recording)

    def run(self) -> None:
        fake = FakeTensorMode(allow_non_fake_inputs=True)
        with fake, self.recording, self._functions, torch.no_grad():
            made = self._answered(self._made)
            if isinstance(made, Answer):
                self.send(encode(made))
                return
            for number, call in enumerate(self.order["calls"]):
                self.recorder.begin(number)
                found = self._answered(partial(self._called, made, call))
                self.send(encode(found))
        kernels = {key: encode(kernel) for key, kernel in self.recorder.kernels.items()}
        self.send({"kernels": kernels, "notes": list(dict.fromkeys(self.recorder.notes))})

    def _answered(self, action: Callable[[], Any]) -> Any:
        """The result of an action, or the answer that says how it ended."""
        try:
            result = action()
        except Refusal as refusal:
            return self._ended(refusal)
        except SystemExit as error:
            return self._failure("host-exit", f"it ends the process with status {error.code}", error)
        except BaseException as error:  # whatever the candidate raises
            message = f"{type(error).__name__}: {error}"
            if _is_gap(error):
                return self._ended(unsupported(message[:300]))
            return self._failure("exception", message, error)
        return self._ended(self.recorder.refusal) if self.recorder.refusal else result

    def _ended(self, refusal: Refusal) -> Answer:
        line = _line(refusal)
        return Answer(outcome=refusal.outcome, what=refusal.what, message=refusal.message, line=line)

    def _failure(self, what: str, message: str, error: BaseException) -> Answer:
        if self.recorder.refusal:
            return self._ended(self.recorder.refusal)
        return Answer(outcome="error", what=what, message=message[:2000], line=_line(error))

    # The candidate

    def _made(self) -> Callable[..., Any]:
        """The function to call with the inputs of a case."""
        state = self.order["state"]
        self._state = {item["name"]: self._argument(item) for item in state}
        reference = self._reference()
        if "triton" in Path(CANDIDATE).read_text(errors="replace"):
            triton_launches.install(self.recorder, self.order["gpu"])
        module = _imported(Path(CANDIDATE))
        form, entry = self.order["form"], self.order["entry"]
        called = getattr(module, entry)
        if form == "module":
            return self._constructed(called, reference)
        for position, tensor in enumerate(self._state.values()):
            self.recorder.held(tensor, self.order["first"] + position, private=False)
        held = tuple(self._state.values())
        if form == "submission":
            return lambda *inputs: called((*inputs, *held))
        return lambda *inputs: called(*inputs, *held)

    def _reference(self) -> dict[str, modules.Origin]:
        """The state of the reference, constructed from the seed."""
        if not self.order["reference"]:
            return {}
        self._problem = _executed(self.order["reference"])
        made = self._problem[self.order["reference_entry"]](*self.order["init"], **self.order["init_named"])
        found = modules.state_of(made, self.recording)
        self.recording.restart_random_numbers()
        return found

    def _constructed(self, kind: Any, reference: Mapping[str, modules.Origin]) -> Callable[..., Any]:
        given = list(self.order["init"]), self.order["init_named"]
        if self.order["reference"] and "get_init_inputs" in self._problem:
            given = [*self._problem["get_init_inputs"]()], {}
        self.recording.restart_random_numbers()
        module = kind(*given[0], **given[1])
        if not isinstance(module, nn.Module):
            return module  # type: ignore[no-any-return]
        names = list(self._state)
        found = modules.matched(module, names, reference, self.recording)
        positions = {name: self.order["first"] + number for number, name in enumerate(names)}
        modules.bind(module, found, self._state, positions, self.recorder)
        return module

    def _called(self, made: Callable[..., Any], call: Sequence[Mapping[str, Any]]) -> Answer:
        inputs, position = [], 0
        for item in call:
            value = self._argument(item)
            for tensor in tree_leaves(value):
                if isinstance(tensor, torch.Tensor):
                    self.recorder.given(tensor, position)
                    position += 1
            inputs.append(value)
        returned = made(*inputs)
        tensors = [item for item in tree_leaves(returned) if isinstance(item, torch.Tensor)]
        record = record_of(self.recorder, [self._result(item) for item in tensors])
        return Answer(outcome="captured", record=record)

    def _result(self, tensor: torch.Tensor) -> View | Constant:
        return self.recording.operand(tensor) if tensor.device.type == "cpu" else self.recorder.view(tensor)

    def _argument(self, item: Mapping[str, Any]) -> Any:
        match item["kind"]:
            case "tensor":
                dtype = getattr(torch, dtype_named(item["dtype"]).torch)
                return torch.empty_strided(item["shape"], item["stride"], dtype=dtype, device="cuda")
            case "list":
                return [self._argument(entry) for entry in item["items"]]
        return item["value"]


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def _executed(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "reference"}
    exec(compile(source, "reference.py", "exec"), names)
    return names


def _is_gap(error: BaseException) -> bool:
    """Whether an exception may come from what this process lacks, such as a package or a real device."""
    if isinstance(error, ImportError | NotImplementedError | OSError | UnsupportedOperatorException):
        return True
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, AttributeError | AssertionError) and not innermost.endswith(CANDIDATE)


def _line(error: BaseException) -> int | None:
    """The line of the candidate that was running."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename.endswith(CANDIDATE)), None)
