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

from warpwright.core.errors import ModelFailed


class AttemptFailed(ModelFailed):
    """`wait_s` is what the server asked for. `cost_usd` is None where it was sent and may have been billed."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        wait_s: float | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(kind, message, retryable=retryable)
        self.wait_s, self.cost_usd = wait_s, cost_usd
