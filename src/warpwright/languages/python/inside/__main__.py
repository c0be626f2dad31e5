"""Runs in the sandbox: imports a candidate, constructs it, makes calls on tensors without data, and sends the records.

`python -m warpwright.languages.python.inside ASKING ANSWERING`: questions go out on one descriptor and answers come
back on the other. The order is a line on standard input; each call's answer is a line on ASKING.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any


def main() -> None:
    asking, answering = os.fdopen(int(sys.argv[1]), "w"), os.fdopen(int(sys.argv[2]))

    def send(message: Mapping[str, Any]) -> None:
        asking.write(json.dumps(message) + "\n")
        asking.flush()

    def ask(question: Mapping[str, Any]) -> dict[str, Any]:
        send(question)
        answer: dict[str, Any] = json.loads(answering.readline())
        return answer

    from warpwright.languages.python.inside.session import Session

    Session(json.loads(sys.stdin.readline()), send, ask).run()
    asking.close()
    # Threads of the candidate need not end.
    os._exit(0)


main()
