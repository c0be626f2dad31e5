"""Launches of small modules: results and findings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from warpwright.core.errors import Undecided
from warpwright.ttir.findings import Finding, Kind

Run = Callable[..., tuple[Finding, ...]]
FOUR = np.arange(4, dtype=np.float32)
COPY = """
%i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
%p = tt.get_program_id x : i32
%a = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
%b = tt.addptr %a, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
%v = tt.load %b : tensor<4x!tt.ptr<f32>>
%c = tt.splat %y : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
%d = tt.addptr %c, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
"""
POINTERS = "%x: !tt.ptr<f32>, %y: !tt.ptr<f32>"


def test_a_copy(launch: Run) -> None:
    out = np.zeros(4, np.float32)
    assert launch(COPY + "tt.store %d, %v : tensor<4x!tt.ptr<f32>>", POINTERS, FOUR, out) == ()
    assert (out == FOUR).all()


@pytest.mark.parametrize("reverse", [False, True])
def test_programs_that_write_the_same_value_do_not_race(launch: Run, reverse: bool) -> None:
    lines = COPY + "tt.store %d, %v : tensor<4x!tt.ptr<f32>>"
    assert launch(lines, POINTERS, FOUR, np.zeros(4, np.float32), grid=3, reverse=reverse) == ()


@pytest.mark.parametrize("reverse", [False, True])
def test_programs_that_write_different_values_race(launch: Run, reverse: bool) -> None:
    lines = (
        COPY
        + """
    %f = arith.sitofp %p : i32 to f32
    %s = tt.splat %f : f32 -> tensor<4xf32>
    tt.store %d, %s : tensor<4x!tt.ptr<f32>>"""
    )
    (found,) = launch(lines, POINTERS, FOUR, np.zeros(4, np.float32), grid=2, reverse=reverse)
    assert found.kind is Kind.RACE
    assert found.count == 4
    assert {found.program, found.other_program} == {(0, 0, 0), (1, 0, 0)}


def test_a_program_that_reads_what_another_writes_races(launch: Run) -> None:
    lines = """
    %p = tt.get_program_id x : i32
    %one = arith.constant 1 : i32
    %n = arith.addi %p, %one : i32
    %a = tt.addptr %x, %n : !tt.ptr<f32>, i32
    %v = tt.load %a : !tt.ptr<f32>
    %b = tt.addptr %x, %p : !tt.ptr<f32>, i32
    tt.store %b, %v : !tt.ptr<f32>"""
    found = launch(lines, "%x: !tt.ptr<f32>", np.arange(5, dtype=np.float32), grid=4)
    assert {one.kind for one in found} == {Kind.RACE}


def test_a_load_beyond_the_end_names_the_element_and_the_program(launch: Run) -> None:
    (found,) = launch(COPY + "tt.store %d, %v : tensor<4x!tt.ptr<f32>>", POINTERS, FOUR[:3], np.zeros(4, np.float32))
    assert found.kind is Kind.OUT_OF_BOUNDS
    assert "p0[3]" in found.message
    assert found.program == (0, 0, 0)


def test_lanes_that_are_off_touch_nothing_and_read_other(launch: Run) -> None:
    lines = COPY.replace("tt.load %b :", "tt.load %b, %m, %o :").replace(
        "%v =",
        "%t = arith.constant dense<2> : tensor<4xi32>\n%m = arith.cmpi slt, %i, %t : tensor<4xi32>\n"
        "%o = arith.constant dense<7.0> : tensor<4xf32>\n%v =",
    )
    out = np.zeros(4, np.float32)
    assert launch(lines + "tt.store %d, %v : tensor<4x!tt.ptr<f32>>", POINTERS, FOUR[:2], out) == ()
    assert out.tolist() == [0, 1, 7, 7]


def test_what_was_never_written_cannot_be_read(launch: Run) -> None:
    lines = COPY + "tt.store %d, %v : tensor<4x!tt.ptr<f32>>"
    (found,) = launch(lines, POINTERS, FOUR.copy(), np.zeros(4, np.float32), unwritten=0)
    assert found.kind is Kind.UNINITIALISED


def test_offsets_overflow_in_their_own_width(launch: Run) -> None:
    lines = """
    %big = arith.constant 2147483647 : i32
    %q = arith.addi %big, %n : i32
    %a = tt.addptr %x, %q : !tt.ptr<f32>, i32
    %v = tt.load %a : !tt.ptr<f32>"""
    (found,) = launch(lines, "%x: !tt.ptr<f32>, %n: i32", FOUR, 1)
    assert found.kind is Kind.OUT_OF_BOUNDS
    assert "[-2147483648]" in found.message


def test_a_promise_of_divisibility_is_checked(launch: Run) -> None:
    lines = "%v = arith.constant 1 : i32"
    (found,) = launch(lines, "%n: i32 {tt.divisibility = 16 : i32}", 24)
    assert found.kind is Kind.ASSUMPTION


def test_an_unknown_operation_is_undecided_and_named(launch: Run) -> None:
    with pytest.raises(Undecided, match=r"unsupported: tt\.invented"):
        launch("%v = tt.invented %n : i32", "%n: i32", 1)


def test_an_operation_with_operands_that_do_not_exist_is_undecided(launch: Run) -> None:
    with pytest.raises(Undecided, match=r"arith\.addi"):
        launch("%v = arith.addi %n, %nowhere : i32", "%n: i32", 1)


def test_loops_end_for_each_program_by_itself(launch: Run) -> None:
    lines = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p = tt.get_program_id x : i32
    %s = scf.for %i = %zero to %p step %one iter_args(%t = %zero) -> (i32) : i32 {
    %u = arith.addi %t, %i : i32
    scf.yield %u : i32
    }
    %a = tt.addptr %x, %p : !tt.ptr<i32>, i32
    tt.store %a, %s : !tt.ptr<i32>"""
    out = np.zeros(6, np.int32)
    assert launch(lines, "%x: !tt.ptr<i32>", out, grid=6) == ()
    assert out.tolist() == [0, 0, 1, 3, 6, 10]


def test_both_ways_of_a_branch_are_taken_by_their_programs(launch: Run) -> None:
    lines = """
    %two = arith.constant 2 : i32
    %p = tt.get_program_id x : i32
    %c = arith.cmpi slt, %p, %two : i32
    %v = scf.if %c -> (i32) {
    scf.yield %p : i32
    } else {
    %m = arith.muli %p, %two : i32
    scf.yield %m : i32
    }
    %a = tt.addptr %x, %p : !tt.ptr<i32>, i32
    tt.store %a, %v : !tt.ptr<i32>"""
    out = np.zeros(4, np.int32)
    assert launch(lines, "%x: !tt.ptr<i32>", out, grid=4) == ()
    assert out.tolist() == [0, 1, 4, 6]


def test_programs_that_return_early_do_nothing_more(launch: Run) -> None:
    lines = """
    %two = arith.constant 2 : i32
    %p = tt.get_program_id x : i32
    %c = arith.cmpi slt, %p, %two : i32
    cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
    tt.return
    ^bb2:
    %a = tt.addptr %x, %p : !tt.ptr<i32>, i32
    tt.store %a, %p : !tt.ptr<i32>"""
    out = np.zeros(4, np.int32)
    assert launch(lines, "%x: !tt.ptr<i32>", out, grid=4) == ()
    assert out.tolist() == [0, 0, 2, 3]


ATOMIC = """
%one = arith.constant 1 : i32
%true = arith.constant true
%p = tt.get_program_id x : i32
%old = tt.atomic_rmw add, acq_rel, gpu, %x, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
"""


def test_atomics_count_every_program(launch: Run) -> None:
    count = np.zeros(1, np.int32)
    assert launch(ATOMIC, "%x: !tt.ptr<i32>", count, grid=100) == ()
    assert count[0] == 100


def test_each_program_gets_its_own_ticket(launch: Run) -> None:
    lines = ATOMIC + "%a = tt.addptr %y, %old : !tt.ptr<i32>, i32\ntt.store %a, %p : !tt.ptr<i32>"
    tickets = np.full(5, -1, np.int32)
    assert launch(lines, "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>", np.zeros(1, np.int32), tickets, grid=5) == ()
    assert sorted(tickets.tolist()) == [0, 1, 2, 3, 4]


LAST = """
%z = arith.constant 0 : i32
%a = tt.addptr %y, %p : !tt.ptr<i32>, i32
%last = arith.constant 1 : i32
%c = arith.cmpi eq, %old, %last : i32
scf.if %c {
%b = tt.addptr %y, %z : !tt.ptr<i32>, i32
%v = tt.load %b : !tt.ptr<i32>
}
"""


def test_the_last_program_may_read_what_the_others_published(launch: Run) -> None:
    lines = ATOMIC.splitlines()
    lines.insert(-1, "%w = tt.addptr %y, %p : !tt.ptr<i32>, i32\ntt.store %w, %p : !tt.ptr<i32>")
    two = "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>"
    assert launch("\n".join(lines) + LAST, two, np.zeros(1, np.int32), np.zeros(2, np.int32), grid=2) == ()


def test_relaxed_atomics_publish_nothing(launch: Run) -> None:
    lines = ATOMIC.replace("acq_rel", "relaxed").splitlines()
    lines.insert(-1, "%w = tt.addptr %y, %p : !tt.ptr<i32>, i32\ntt.store %w, %p : !tt.ptr<i32>")
    two = "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>"
    found = launch("\n".join(lines) + LAST, two, np.zeros(1, np.int32), np.zeros(2, np.int32), grid=2)
    assert [one.kind for one in found] == [Kind.RACE]


def test_an_endless_wait_is_undecided(launch: Run) -> None:
    lines = """
    %zero = arith.constant 0 : i32
    scf.while : () -> () {
    %v = tt.load %x : !tt.ptr<i32>
    %c = arith.cmpi eq, %v, %zero : i32
    scf.condition(%c)
    } do {
    scf.yield
    }"""
    with pytest.raises(Undecided, match="too long"):
        launch(lines, "%x: !tt.ptr<i32>", np.zeros(1, np.int32))


@pytest.mark.parametrize(
    ("operation", "left", "right", "result"),
    [
        ("arith.divsi", -7, 2, -3),
        ("arith.remsi", -7, 2, -1),
        ("arith.floordivsi", -7, 2, -4),
        ("arith.divui", -1, 2, 2147483647),
        ("arith.remui", -1, 10, 5),
        ("arith.shrsi", -8, 1, -4),
        ("arith.shrui", -8, 1, 2147483644),
        ("arith.shli", 1, 31, -2147483648),
        ("arith.shli", 1, 32, 0),
        ("arith.muli", 65536, 65536, 0),
        ("arith.minui", -1, 3, 3),
        ("arith.maxsi", -1, 3, 3),
        ("tt.mulhiui", -1, -1, -2),
    ],
)
def test_integers(launch: Run, operation: str, left: int, right: int, result: int) -> None:
    out = np.zeros(1, np.int32)
    lines = f"%v = {operation} %a, %b : i32\ntt.store %x, %v : !tt.ptr<i32>"
    launch(lines, "%x: !tt.ptr<i32>, %a: i32, %b: i32", out, left, right)
    assert out[0] == result


@pytest.mark.parametrize(
    ("word", "left", "right", "result"),
    [("slt", -1, 1, 1), ("ult", -1, 1, 0), ("eq", 2, 2, 1), ("sge", 2, 3, 0), ("uge", -2, 3, 1), ("ne", 1, 2, 1)],
)
def test_comparisons_of_integers(launch: Run, word: str, left: int, right: int, result: int) -> None:
    out = np.zeros(1, np.int32)
    lines = f"%v = arith.cmpi {word}, %a, %b : i32\n%w = arith.extui %v : i1 to i32\ntt.store %x, %w : !tt.ptr<i32>"
    launch(lines, "%x: !tt.ptr<i32>, %a: i32, %b: i32", out, left, right)
    assert out[0] == result


@pytest.mark.parametrize(("word", "result"), [("oeq", 0), ("une", 1), ("olt", 0), ("ult", 1), ("uno", 1), ("ord", 0)])
def test_comparisons_with_nan(launch: Run, word: str, result: int) -> None:
    out = np.zeros(1, np.int32)
    lines = f"%v = arith.cmpf {word}, %a, %b : f32\n%w = arith.extui %v : i1 to i32\ntt.store %x, %w : !tt.ptr<i32>"
    launch(lines, "%x: !tt.ptr<i32>, %a: f32, %b: f32", out, float("nan"), 1.0)
    assert out[0] == result
