"""Commands in a warm worker: those that need torch start at once from the second time on."""

from __future__ import annotations

import sys

FLAG = "--no-worker"
_COMMANDS = ("check", "seal", "compose", "tasks")
_PRELOADED = (
    "torch",
    "torch.utils.flop_counter",
    "warpwright.cli.main",
    "warpwright.cli.screen",
    "warpwright.app.kernels.check",
    "warpwright.app.kernels.documents",
    "warpwright.emulate.examination",
    "warpwright.emulate.spot_checks",
    "warpwright.oracle.controls.fitness",
    "warpwright.tasks.probing.child.answering",
    "warpwright.verify.ladder",
)
"""What a worker imports before it listens: imports alone, which have no state that a verdict could depend on."""


def exit_code() -> int | None:
    """Runs this command in a worker; None if it is to run here. Then a worker starts for the next one."""
    wanted = FLAG not in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != FLAG]
    if not wanted or sys.argv[1:2] == [] or sys.argv[1] not in _COMMANDS or "--help" in sys.argv:
        return None
    from warpwright.worker import client

    caller = client.connected()
    if caller is not None:
        return client.run(caller, "warpwright.cli.main:run", (0, 1, 2))
    client.start(_PRELOADED)
    return None
