"""What one attempt that came to nothing says, beyond why.

kind         meaning                                                            tried again
key          no key, a wrong one, or an account without credit                  no
model        no such model, or it cannot be asked this way                      no
refused      the model, or a filter before or after it, would not answer        no
truncated    the answer was cut off                                             no
malformed    what came back is no answer                                        no
timeout      no answer in time                                                  yes
server       the server failed (tried again) or rejected the request (not)
rate         too many requests or tokens in too short a time                    yes
budget       the call might have passed the budget, and was not sent            while others are in flight
unreachable  no connection, or it broke; nobody there to answer                 yes, for servers
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An attempt that came to nothing, as data. `cost_usd` is None where it was sent and may have been billed."""

    kind: str
    message: str
    retryable: bool = False
    cost_usd: float | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Reply):
    """A reply that was not the first attempt, with the attempts before it that were, or may have been, billed."""

    earlier: tuple[Failure, ...] = ()

    @property
    def alone(self) -> Reply:
        """The reply without what came before it."""
        return Reply(
            text=self.text,
            model=self.model,
            usage=self.usage,
            cost_usd=self.cost_usd,
            parsed=self.parsed,
            seconds=self.seconds,
        )


class AttemptFailed(ModelFailed):
    """`wait_s` is what the server asked for. `cost_usd` is None where it was sent and may have been billed; `earlier`
    are the attempts before this one that were, or may have been."""

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
    """What is known of a failure, without what came before it."""
    told = Failure(kind=error.kind, message=str(error), retryable=error.retryable, seconds=seconds)
    return replace(told, cost_usd=error.cost_usd, usage=error.usage) if isinstance(error, AttemptFailed) else told


def billed(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Those that belong into an account: what is known to have cost nothing does not."""
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
    """The attempts before an answer, or before the last failure, that were or may have been billed."""
    return outcome.earlier if isinstance(outcome, Answered | AttemptFailed) else ()
