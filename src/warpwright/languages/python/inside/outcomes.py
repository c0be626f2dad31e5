"""How a call of the candidate's Python code can end besides returning."""

from __future__ import annotations


class Refusal(BaseException):
    """Ends a call that no record can replace. Python's `except Exception` does not catch it."""

    def __init__(self, outcome: str, what: str, message: str = "") -> None:
        self.outcome, self.what, self.message = outcome, what, message
        super().__init__(message or what)


def unsupported(what: str) -> Refusal:
    return Refusal("unsupported", what)


def reads_device_data(what: str) -> Refusal:
    return Refusal("reads_device_data", what)


def keeps_state(message: str) -> Refusal:
    return Refusal("error", "stateful-host-code", message)
