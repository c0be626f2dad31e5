"""The sources of extensions as parts of one CUDA C++ file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpwright.languages.python.record import Extension

HEAD = "#include <torch/extension.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)


def prefix(number: int) -> str:
    """What the names of an extension's functions begin with among all entry points."""
    return f"{number}:"


def text_of(extension: Extension, number: int, python: str) -> str:
    """A file with one extension."""
    return HEAD + part_of(extension, number, python)


def combined(extensions: Mapping[int, Extension], python: str) -> str:
    """A file with several extensions, each in a namespace of its own if there are others."""
    if len(extensions) == 1:
        [(number, extension)] = extensions.items()
        return text_of(extension, number, python)
    includes = [line for extension in extensions.values() for text in extension.sources for line in _includes(text)]
    parts = [
        f"namespace extension_{number} {{\n{_INCLUDE.sub('', part_of(extension, number, python))}}}\n"
        for number, extension in extensions.items()
    ]
    return "".join([HEAD, *(f"{line}\n" for line in dict.fromkeys(includes)), *parts])


def part_of(extension: Extension, number: int, python: str) -> str:
    """The sources of an extension and the binding of its functions. Its lines have the numbers of the Python file."""
    bound = "".join(f'    m.def("{name}", &{name});\n' for name in extension.functions)
    binding = f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{bound}}}\n" if bound else ""
    return "".join([_head(number), *(_placed(text, python) for text in extension.sources), binding])


def _head(number: int) -> str:
    name = f"#undef TORCH_EXTENSION_NAME\n#define TORCH_EXTENSION_NAME extension_{number}\n"
    macro = f'#define PYBIND11_MODULE(NAME, VARIABLE, ...) WARPWRIGHT_EXTENSION(NAME, "{prefix(number)}", VARIABLE)\n'
    return f"{name}#ifdef WARPWRIGHT_CAPTURE\n#undef PYBIND11_MODULE\n{macro}#endif\n"


def _placed(text: str, python: str) -> str:
    start = python.find(text) if text.strip() else -1
    line = f'#line {python.count(chr(10), 0, start) + 1} "kernel.cu"\n' if start >= 0 else ""
    return line + text + ("" if text.endswith("\n") else "\n")


def _includes(text: str) -> list[str]:
    return [line.strip() for line in _INCLUDE.findall(text)]
