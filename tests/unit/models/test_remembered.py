"""A request that was answered before is not paid for again."""

from __future__ import annotations

import pytest

from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Reply, Request
from warpwright.core.records.search import Call
from warpwright.models.recordings.remembered import Remembered


class Fresh:
    name = "fresh"

    def complete(self, request: Request) -> Reply:
        return Reply(text="new", model=self.name)


def call(prompt: str, reply: str | None) -> Call:
    return Call(
        id=prompt, brief=1, purpose="translate", model="old", prompt=prompt, reply=reply, usage={"input": 3},
        cost_usd=0.5, seconds=2.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "purpose", "text"),
    [("a", "translate", "kept"), ("a", "repair", "new"), ("b", "translate", "new"), ("c", "translate", "new")],
)
def test_only_the_same_question_has_the_recorded_answer(prompt: str, purpose: str, text: str) -> None:
    model = Remembered(Fresh(), [call("a", "kept"), call("c", None)])
    assert model.complete(Request(prompt=prompt, purpose=purpose)).text == text


def test_the_recorded_answer_keeps_its_price() -> None:
    reply = Remembered(Fresh(), [call("a", "kept")]).complete(Request(prompt="a", purpose="translate"))
    assert (reply.model, reply.cost_usd, reply.seconds, dict(reply.usage)) == ("old", 0.5, 2.0, {"input": 3})


def test_failures_pass_through() -> None:
    class Down(Fresh):
        def complete(self, request: Request) -> Reply:
            raise ModelFailed("unreachable", "down")

    with pytest.raises(ModelFailed, match="down"):
        Remembered(Down(), []).complete(Request(prompt="a", purpose="translate"))
