"""A fingerprint sees through names, comments and white space, and through nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.languages.cuda.fingerprint import fingerprint

SOURCE = """#include <torch/extension.h>
#define THREADS 256
template <typename scalar> __global__ void __launch_bounds__(THREADS) scale_rows(const scalar* __restrict__ input, float* output, int count) {
  // every thread takes one element
  int place = blockIdx.x * THREADS + threadIdx.x;
  float limit = INFINITY;
  if (place < count) output[place] = expf(input[place]) * limit;
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  scale_rows<float><<<x.size(0), THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""  # noqa: E501
NAMES = ("THREADS", "scalar", "scale_rows", "input", "output", "count", "place", "limit", "y")
CHANGES = {
    "another function": ("expf", "logf"),
    "another constant of the language": ("INFINITY", "NAN"),
    "another number": ("256", "128"),
    "another operator": (" * limit", " + limit"),
    "another method": ("x.size(0)", "x.size(1)"),
    "another exported name": ('m.def("forward"', 'm.def("backward"'),
    "another built-in": ("blockIdx.x *", "blockIdx.y *"),
    "one name for two": ("output[place] = expf(input[place])", "output[place] = expf(output[place])"),
    "another directive": ("#define THREADS 256", "#define THREADS 256\n#pragma once"),
}


def renamed(source, names):
    for number, name in enumerate(names):
        source = re.sub(rf"\b{name}\b", f"other_{number}", source)
    return source


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_source_does_not_matter(name):
    assert fingerprint(renamed(SOURCE, [name])) == fingerprint(SOURCE)


def test_comments_and_white_space_do_not_matter():
    other = SOURCE.replace("// every thread takes one element", "/* something\n else */").replace("  ", "\t\n ")
    assert fingerprint(other) == fingerprint(SOURCE)


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_the_meaning_changes_the_fingerprint(change):
    before, after = CHANGES[change]
    assert before in SOURCE
    assert fingerprint(SOURCE.replace(before, after)) != fingerprint(SOURCE)


def test_swapped_names_are_seen():
    swapped = SOURCE.replace(
        "const scalar* __restrict__ input, float* output", "const scalar* __restrict__ output, float* input"
    )
    assert fingerprint(swapped) != fingerprint(SOURCE)


def test_text_in_a_string_is_no_name_and_no_comment():
    assert fingerprint('f("a // b");') != fingerprint('f("a // c");')


@given(st.text(max_size=200))
def test_any_text_has_a_fingerprint_that_stays_the_same(text):
    assert re.fullmatch("[0-9a-f]{20}", fingerprint(text))
    assert fingerprint(text) == fingerprint(text)


@given(st.lists(st.sampled_from(["int a = 1;", "return b;", "x[i] += y;", "if (n) {", "}", "f(a, b);"]), max_size=12))
def test_a_comment_between_any_two_lines_does_not_matter(lines):
    assert fingerprint("\n".join(lines)) == fingerprint("\n// word = 3;\n".join(lines))
