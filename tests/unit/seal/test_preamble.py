"""Headers cut to what a text asks for: which pieces come along, and that nvcc's own cubin comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.candidate import Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.device import nvcc as device
from warpwright.seal.device import phases, preamble
from warpwright.seal.device.header_slices import Cut, cut
from warpwright.seal.device.preamble import Preamble

from .conftest import Sealer

needs_nvcc = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")

HEADERS = """# 1 "/usr/include/things" 3
namespace std {
typedef unsigned long size_t;
template <typename T, typename D = T> struct holder { T value; };
template <typename T> void swap(holder<T>& a, holder<T>& b) { T c = a.value; }
template <typename T> void swap(T& a, T& b) { T c = a; a = b; b = c; }
enum class color { red, green };
static_assert(sizeof(size_t) == 8);
inline namespace literals { unsigned long long operator""_kg(unsigned long long n) { return n; } }
template <typename T> concept small = requires(T t) { { t.size() } -> small_enough; } && sizeof(T) < 8;
template <typename T> requires small<T> T half_of(T t) { return t; }
}
extern "C" { int puts(const char*); typedef int (*handler)(int); extern int errno_value, errno_other; }
struct point { int x, y; } origin;
point operator+(const point& a, const point& b);
point moved(point from, unsigned long by);
constexpr int first = 1, second = 2;
"""


@pytest.fixture
def preambles(tmp_path: Path) -> Preamble:
    preamble.write(tmp_path, HEADERS, "", "/ours/")
    return preamble.read(tmp_path)


def _names(pieces: Cut) -> set[str]:
    return {name for piece in pieces.pieces for name in piece.names}


def test_each_declaration_is_known_by_its_names() -> None:
    expected = {"size_t", "holder", "swap", "color", "red", "green", "small", "half_of", "puts", "handler", "point"}
    more = {"errno_value", "errno_other", "origin", "moved", "first", "second", '""_kg'}
    assert _names(cut(HEADERS)) == expected | more


def test_a_text_gets_what_it_asks_for_and_no_more(preambles: Preamble) -> None:
    text = preambles.before("int main() { return second; }")
    assert "second = 2" in text
    assert "puts" not in text
    assert "struct holder" not in text
    assert "static_assert" not in text


def test_what_is_asked_for_asks_for_more(preambles: Preamble) -> None:
    text = preambles.before("auto h = half_of(x);")
    assert "concept small" in text
    assert "requires small<T> T half_of" in text


def test_a_function_on_a_type_that_nobody_has_stays_away(preambles: Preamble) -> None:
    without, with_type = preambles.before("swap(a, b);"), preambles.before("holder<int> a, b; swap(a, b);")
    assert without.count("void swap") == 1
    assert with_type.count("void swap") == 2
    assert "operator+" not in without
    assert "operator+" in preambles.before("point p = q + r;")


USINGS = """namespace std {
inline namespace v2 { struct grip { }; void drop(grip& a); }
namespace inner { struct token { }; struct badge { }; }
using inner::token;
namespace inner {
void swap(token& a, token& b);
void swap(badge& a, badge& b);
void keep(token& a);
int (watch)(int a);
int watch(token& a);
}
using inner::swap;
using inner::keep;
using inner::watch;
template <typename T> void swap(T& a, T& b) { }
}
namespace more { using ::std::keep; using std::v2::drop; using std::swap; }
namespace later { using more::keep; }
"""
USING = {
    name: f"using {name};" for name in ("inner::swap", "inner::keep", "::std::keep", "more::keep", "std::v2::drop")
}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("swap(a, b);", set()),
        ("swap(a, b); token c;", {"inner::swap"}),
        ("swap(a, b); badge c;", {"inner::swap"}),
        ("keep(a);", set()),
        ("keep(a); token c;", {"inner::keep", "::std::keep", "more::keep"}),
        ("drop(a);", set()),
        ("drop(a); grip c;", {"std::v2::drop"}),
    ],
)
def test_a_using_declaration_comes_with_something_that_it_names(tmp_path: Path, text: str, there: set[str]) -> None:
    preamble.write(tmp_path, USINGS, "", "/ours/")
    before = preamble.read(tmp_path).before(text)
    assert {name for name, declaration in USING.items() if declaration in before} == there
    assert "using std::swap;" in before or "swap" not in text
    (tmp_path / "before.cpp").write_text(before)
    toolchain.must_compile([str(toolchain.host_compiler()), "-fsyntax-only", "before.cpp"], tmp_path)


def test_what_a_using_declaration_names_may_be_something_not_understood(tmp_path: Path) -> None:
    preamble.write(tmp_path, USINGS, "", "/ours/")
    assert "using inner::watch;" in preamble.read(tmp_path).before("watch")


@pytest.mark.parametrize("text", ["12_kg", "1'200.5_kg", '"twelve"_kg', r"""'\''_kg""", 'f("_kg")_kg + 3_kg'])
def test_a_literal_asks_for_its_operator(preambles: Preamble, text: str) -> None:
    assert 'operator""_kg' in preambles.before(f"auto weight = {text};")


@pytest.mark.parametrize("text", ["int _kg = 1;", 'asm("" : "_kg"(a))', "x_12_kg", r'"\"_kg"', '"a\n_kg'])
def test_what_is_no_suffix_asks_for_no_literal(preambles: Preamble, text: str) -> None:
    assert 'operator""_kg' not in preambles.before(text)


def test_scopes_are_opened_and_closed(preambles: Preamble) -> None:
    for text in ("red", "puts", "errno_other", "moved", ""):
        before = preambles.before(text)
        assert before.count("{") == before.count("}")
        assert "namespace std" in before, "an empty namespace can still be named"


@pytest.mark.parametrize(
    "declaration",
    [
        "typedef struct { int a; } thing, *thing_pointer;",
        "typedef enum thing { A, B = 3 } thing;",
        "struct __attribute__((aligned(8))) thing { };",
        "template <> struct thing<int> : base<int> { };",
        "template <class T = void> inline T thing(T a) noexcept { return a; }",
        "template <class T> T thing<T>::member() { return {}; }",
        "template <class T> thing(T) -> thing<T>;",
        "using thing = int;",
        "using other::thing;",
        "extern __attribute__((device)) int thing(int a, ...) noexcept(true);",
        "template <class T> using thing [[deprecated]] = T;",
        'extern "C" int thing[4];',
        "namespace thing = other;",
    ],
)
def test_the_name_is_found(declaration: str) -> None:
    pieces = cut(f"{declaration} int after;").pieces
    assert "thing" in pieces[0].names
    assert pieces[-1].names == {"after"}


@pytest.mark.parametrize("declaration", ["using namespace std::literals;", "using std::swap, std::size_t;"])
def test_what_is_not_understood_is_always_there(declaration: str) -> None:
    (piece,) = cut(declaration).pieces
    assert piece.kind == "always"


@given(st.text(st.sampled_from("ab<>(){}[];:=,\"'#*& \n") | st.sampled_from("xyz"), max_size=60))
def test_any_text_can_be_cut(text: str) -> None:
    assert isinstance(cut(text), Cut)


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("#include <torch/extension.h>\nint a;", True),
        ("// a\n/* b\n c */ #include <vector>\n#include <ATen/ATen.h> // all\n#define X", True),
        ("#define X 1\n#include <torch/extension.h>\n", False),
        ("#undef __CUDA_NO_HALF_OPERATORS__\n#include <torch/extension.h>\n", False),
        ("#include <cuda_runtime.h>\nint a;", False),
        ("#if 0\n#include <torch/extension.h>\n#endif\n", False),
        ("// a \\\n#include <torch/extension.h>\nint a;", False),
        ("/* #include <torch/extension.h> */ int a;", False),
        ("int a;\n#include <torch/extension.h>\n", False),
    ],
)
def test_only_a_plain_beginning_may_be_cut(source: str, plain: bool) -> None:
    assert phases.has_plain_beginning(source) is plain


@needs_nvcc
@pytest.mark.parametrize("words", ["", "// half\n"], ids=["lean", "whole"])
def test_the_short_way_gives_nvccs_own_cubin(tmp_path: Path, store: Store, source: object, words: str) -> None:
    assert callable(source)
    found = []
    for name, kept in (("short", store), ("nvcc", None)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "kernel.cu").write_text(source() + words)
        found.append(device.compile_device(folder, Flags(), kept))
    short, whole = found
    assert short is not None
    assert whole is not None
    assert short.cubin == whole.cubin
    assert short.kernels == whole.kernels


@needs_nvcc
def test_macros_of_the_candidate_go_the_long_way() -> None:
    nvcc = toolchain.nvcc()
    assert nvcc is not None
    assert device.shortened(nvcc, Flags(), ()) is not None
    assert device.shortened(nvcc, Flags(extra=("-UX",)), ()) is None


# No word of this asks for the type that the function takes.
UNASKED = "#include <exception>\nstatic void again() { std::rethrow_exception({}); }"
LITERAL = 'using namespace std::string_literals;\nstatic std::string name() { return "scale"s; }'


@needs_nvcc
@pytest.mark.parametrize(("before", "compiles"), [("", True), (LITERAL, True), (UNASKED, False)])
def test_how_far_the_short_way_goes(tmp_path: Path, store: Store, source: object, before: str, compiles: bool) -> None:
    assert callable(source)
    nvcc = toolchain.nvcc()
    assert nvcc is not None
    (tmp_path / "kernel.cu").write_text(source(before=before))
    steps = device.shortened(nvcc, Flags(), ())
    assert steps is not None
    done = phases.compiled(tmp_path, steps, phases.headers(store, steps), device.LIMITS)
    assert (done.returncode == 0) is compiles, done.stderr


@needs_nvcc
def test_what_the_short_way_cannot_compile_is_compiled_by_nvcc(sealing: Sealer) -> None:
    sealed = sealing(before=UNASKED)
    assert isinstance(sealed, Sealed), sealed
