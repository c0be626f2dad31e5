"""The room languages: one package for each language of candidates. A package put here is a language.

registry.py  the frontend of a candidate, of a name, of a file; candidates read from files
frontend.py  what a language gives, and what happens where it gives less
words.py     what prompts and messages say of a language
sealing.py   candidates sealed, whatever their languages
cuda/        CUDA C++ in the form of a torch extension
python/      Python files with C++ extensions and operations of torch
"""

from warpwright.languages.frontend import Frontend, Traits, Value
from warpwright.languages.registry import (
    file_endings,
    file_name,
    files_in,
    for_file,
    frontends,
    named,
    of,
    read,
    with_options,
)
from warpwright.languages.sealing import seal, seal_many
from warpwright.languages.words import Words

__all__ = [
    "Frontend", "Traits", "Value", "Words", "file_endings", "file_name", "files_in", "for_file", "frontends", "named",
    "of", "read", "seal", "seal_many", "with_options",
]  # fmt: skip
