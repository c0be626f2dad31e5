"""Reads a Job from stdin and writes an Answer to stdout. Output of the user's file goes to stderr."""

from __future__ import annotations

import os
import sys
import traceback

from warpwright.core.codec import dumps, loads
from warpwright.tasks.probing.child.answering import answer
from warpwright.tasks.probing.seen import Job


def main() -> None:
    channel = os.dup(1)
    os.dup2(2, 1)
    try:
        _be_single_threaded()
        text = dumps(answer(loads(Job, sys.stdin.read())))
    except BaseException:
        traceback.print_exc()
        sys.stderr.write(f"warpwright-child-failed: {traceback.format_exc().strip().splitlines()[-1]}\n")
        raise SystemExit(1) from None
    with os.fdopen(channel, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os._exit(0)  # threads left by the user's file must not delay the exit


def _be_single_threaded() -> None:
    """Limits torch, also where it was imported before this process knew its environment."""
    import torch

    torch.set_num_threads(1)


if __name__ == "__main__":
    main()
