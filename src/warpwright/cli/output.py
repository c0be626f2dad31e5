"""JSON for programs. Every document names its schema; an incompatible change gets a new number."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from typing import Annotated, Any

import typer

from warpwright.core.codec import encode

Json = Annotated[bool, typer.Option("--json", help="Print JSON with a versioned schema instead of text.")]


def emit(schema: str, /, **content: Any) -> None:
    """Prints one document on stdout, such as {"schema": "warpwright.doctor/1", ...}."""
    document = {"schema": f"warpwright.{schema}", **encode(content)}
    write(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def write(text: str) -> None:
    """Prints text unchanged, for a program or a file."""
    if sys.stdout is None:  # closed by the parent process
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def visible(text: str) -> str:
    """Escapes control characters of sources and compilers, which could forge a verdict on the terminal."""
    return "".join(
        letter if unicodedata.category(letter)[0] != "C" or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


def silence_stdout() -> None:
    """Discards output after the reader closed the pipe (`| head`), so that the exit code stays the verdict."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
