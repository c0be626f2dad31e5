"""TTIR as text: what is read, and that any other text is undecided and nothing else."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwright.core.errors import Undecided
from warpwright.ttir.memory.allocations import Memory, buffer
from warpwright.ttir.running import Launch, run
from warpwright.ttir.syntax.parsing import parse
from warpwright.ttir.syntax.types import Type, parse_type

# Lines as Triton prints them.
TEXT = """#loc = loc("/a/kernel.py":5:1)
#loc1 = loc("/p/triton/language/standard.py":9:1)
#loc3 = loc(callsite(#loc1 at #loc2))
module {
  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32) {
    %zero = arith.constant 0 : i32 loc(#loc)
    %cst = arith.constant dense<0xFF800000> : tensor<8xf32> loc(#loc)
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32> loc(#loc2)
    %m = tt.splat %n : i32 -> tensor<8xi32> loc(#loc2)
    %c = arith.cmpi slt, %i, %m : tensor<8xi32> loc(#loc2)
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc(#loc2)
    %q = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc(#loc2)
    %v = tt.load %q, %c, %cst {cachePolicy = #tt.cache_policy<eviction_policy = evict_last>} : tensor<8x!tt.ptr<f32>>
    %r:2 = "tt.reduce"(%v, %i) <{axis = 0 : i32}> ({
    ^bb0(%a: f32 loc(#loc1), %b: i32 loc(#loc1), %d: f32 loc(#loc1), %e: i32 loc(#loc1)):
      %g = arith.cmpf ogt, %a, %d : f32 loc(#loc3)
      %h = arith.select %g, %a, %d : f32 loc(#loc3)
      %j = arith.select %g, %b, %e : i32 loc(#loc3)
      tt.reduce.return %h, %j : f32, i32 loc(#loc3)
    }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32) loc(#loc3)
    %s = scf.for %k = %zero to %r#1 step %n iter_args(%t = %r#0) -> (f32)  : i32 {
      %u = arith.addf %t, %t : f32 loc(#loc2)
      scf.yield %u : f32 loc(#loc2)
    } {tt.num_stages = 3 : i32} loc(#loc2)
    tt.store %x, %s : !tt.ptr<f32> loc(#loc2)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/a/kernel.py":7:5)
"""


def test_a_module() -> None:
    function = parse(TEXT).entry()
    (block,) = function.body
    names = [operation.name for operation in block.operations]
    assert names[:3] == ["arith.constant", "arith.constant", "tt.make_range"]
    assert function.parameters == [("%x", Type("ptr", (), "f32")), ("%n", Type("i32"))]
    assert function.hints["%x"] == {"tt.divisibility": "16 : i32"}
    reduce = next(operation for operation in block.operations if operation.name == "tt.reduce")
    assert reduce.results == ["%r#0", "%r#1"]
    assert reduce.given == [Type("f32"), Type("i32")]
    assert len(reduce.regions[0][0].parameters) == 4


def test_lines_are_those_of_the_author_not_of_the_library() -> None:
    (block,) = parse(TEXT).entry().body
    reduce = next(operation for operation in block.operations if operation.name == "tt.reduce")
    assert reduce.line == ("/a/kernel.py", 7)
    assert block.operations[0].line == ("/a/kernel.py", 5)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f32", Type("f32")),
        ("tensor<64x32xbf16>", Type("bf16", (64, 32))),
        ("!tt.ptr<f16>", Type("ptr", (), "f16")),
        ("!tt.ptr<!tt.ptr<f32>>", Type("ptr", (), "ptr")),
        ("tensor<4x!tt.ptr<i64>>", Type("ptr", (4,), "i64")),
        ("!tt.tensordesc<16x32xf8E4M3FN>", Type("desc", (16, 32), "f8E4M3FN")),
    ],
)
def test_types(text: str, kind: Type) -> None:
    assert parse_type(text) == kind


@pytest.mark.parametrize("text", ["tensor<4x?xf32>", "tensor<2097152xf32>", "!other<3>", "", "tensor<>"])
def test_other_types_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown type|a tensor of"):
        parse_type(text)


def _runs_or_is_undecided(text: str) -> None:
    with contextlib.suppress(Undecided):
        module = parse(text)
        run(Launch(module=module, grid=(2, 1, 1), arguments=[1 << 40, 8]), Memory([_floats()]))


def _floats() -> object:
    import numpy as np

    return buffer("x", 1 << 40, np.arange(8, dtype=np.float32))


def test_the_module_runs() -> None:
    _runs_or_is_undecided(TEXT)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(TEXT)), st.integers(0, 60), st.text('%()<>{}[]:=,^# ix0123\n"->', max_size=6))
def test_damaged_text_runs_or_is_undecided(at: int, cut: int, put: str) -> None:
    _runs_or_is_undecided(TEXT[:at] + put + TEXT[at + cut :])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_lines_in_another_order_run_or_are_undecided(data: st.DataObject) -> None:
    lines = TEXT.splitlines()
    one, other = (data.draw(st.integers(4, len(lines) - 3)) for _ in range(2))
    lines[one], lines[other] = lines[other], lines[one]
    _runs_or_is_undecided("\n".join(lines) + "\n")


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_undecided(text: str) -> None:
    with contextlib.suppress(Undecided):
        parse(text)
    with contextlib.suppress(Undecided):
        parse(f"module {{\ntt.func public @k(%n: i32) {{\n{text}\n}}\n}}\n")
