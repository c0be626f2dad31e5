"""JSON for programs. Every document names its schema; a change that breaks readers gets a new number."""

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
    """One document on stdout, such as {"schema": "warpwright.doctor/1", ...}."""
    document = {"schema": f"warpwright.{schema}", **encode(content)}
    write(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def write(text: str) -> None:
    """Text for a program or a file, as it is."""
    if sys.stdout is None:  # closed by whoever started us
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def visible(text: str) -> str:
    """Sources and compilers may say anything; what moves the cursor or turns lines around could forge a verdict."""
    return "".join(
        letter if unicodedata.category(letter)[0] != "C" or letter in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


def silence_stdout() -> None:
    """A reader that has gone away (`| head`) must not change the verdict, so what follows is written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
