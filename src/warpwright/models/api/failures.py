"""Failed attempts as data.

kind         meaning                                                            tried again
key          no key, a wrong one, or an account without credit                  no
model        no such model, or it cannot be asked this way                      no
refused      the model, or a filter before or after it, would not answer        no
truncated    the answer was cut off                                             no
malformed    the response is not an answer                                      no
timeout      no answer in time                                                  yes
server       the server failed (tried again) or rejected the request (not)
rate         too many requests or tokens in too short a time                    yes
budget       the call might have passed the budget, and was not sent            while others are in flight
unreachable  no connection, or it broke; no server to answer                    yes, for servers
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt as data. `cost_usd` is None if it was sent and may have been billed."""

    kind: str
    message: str
    retryable: bool = False
    cost_usd: float | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Reply):
    """A reply after failed attempts, with those of them that were or may have been billed."""

    earlier: tuple[Failure, ...] = ()

    @property
    def alone(self) -> Reply:
        """The reply without the attempts before it."""
        return Reply(
            text=self.text,
            model=self.model,
            usage=self.usage,
            cost_usd=self.cost_usd,
            parsed=self.parsed,
            seconds=self.seconds,
        )


class AttemptFailed(ModelFailed):
    """A failed attempt. `wait_s` is the wait requested by the server; `cost_usd` is None if the attempt was sent and
    may have been billed; `earlier` holds the attempts before it that were or may have been billed.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        wait_s: float | None = None,
        cost_usd: float | None = None,
        usage: Mapping[str, int] | None = None,
        earlier: tuple[Failure, ...] = (),
    ) -> None:
        super().__init__(kind, message, retryable=retryable)
        self.wait_s, self.cost_usd, self.usage, self.earlier = wait_s, cost_usd, dict(usage or {}), earlier


def failure_of(error: ModelFailed, seconds: float | None = None) -> Failure:
    """Describes a failure, without the attempts before it."""
    told = Failure(kind=error.kind, message=str(error), retryable=error.retryable, seconds=seconds)
    return replace(told, cost_usd=error.cost_usd, usage=error.usage) if isinstance(error, AttemptFailed) else told


def billed(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Selects the failures that were or may have been billed."""
    return tuple(failure for failure in failures if failure.cost_usd != 0.0)


def answered(reply: Reply, earlier: tuple[Failure, ...]) -> Reply:
    if not earlier:
        return reply
    return Answered(
        text=reply.text,
        model=reply.model,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        parsed=reply.parsed,
        seconds=reply.seconds,
        earlier=earlier,
    )


def earlier(outcome: Reply | ModelFailed) -> tuple[Failure, ...]:
    """The attempts before an answer or before the last failure that were or may have been billed."""
    return outcome.earlier if isinstance(outcome, Answered | AttemptFailed) else ()
