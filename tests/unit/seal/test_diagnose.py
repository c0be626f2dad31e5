"""Compilers' complaints as facts, and whose fault each is. The texts are what nvcc 13 and g++ 12 print."""

from __future__ import annotations

import pytest

from warpwright.core.records.evidence import Verdict
from warpwright.sandbox.run import Finished
from warpwright.seal.device.diagnose import (
    Diagnostic,
    assembler_complaint,
    compile_refusal,
    diagnostics,
    missing_from_headers,
)

SOURCE = "#include <torch/extension.h>\nint f() {\n  return foo;\n}\n"
NVCC = """kernel.cu(3): error: identifier "foo" is undefined
    return foo;
           ^

kernel.cu(4): error: expected a ";"
1 error detected in the compilation of "kernel.cu".
"""
FAILED = Finished(returncode=1, signal=None, stdout=b"", stderr=b"", seconds=0.1, reason=None)


def test_nvcc_errors_have_line_column_and_text() -> None:
    first, second = diagnostics(NVCC, SOURCE)
    assert first == Diagnostic(
        message='identifier "foo" is undefined', file="kernel.cu", line=3, column=10, text="return foo;"
    )
    assert (second.line, second.column, second.message) == (4, None, 'expected a ";"')


def test_host_compiler_errors_have_the_users_lines() -> None:
    (found,) = diagnostics("kernel.cu:3:10: error: 'foo' was not declared in this scope\n", SOURCE)
    assert (found.line, found.column, found.text) == (3, 10, "return foo;")


def test_assembler_errors_have_no_line_of_ours() -> None:
    (found,) = diagnostics("ptxas /tmp/x.ptx, line 25; error   : Not a name of any known instruction: 'foo'\n", SOURCE)
    assert (found.line, found.message) == (None, "Not a name of any known instruction: 'foo'")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ('cannot open source file "ATen/native/Foo.h"', "ATen/native/Foo.h"),
        ("torch/nope.h: No such file or directory", "torch/nope.h"),
        ('namespace "at" has no member "scaled_dot_product_attention"', "at::scaled_dot_product_attention"),
        ('class "at::Tensor" has no member "masked_select"', "at::Tensor::masked_select"),
        ("'einsum' is not a member of 'torch'", "torch::einsum"),
        ("'class at::Tensor' has no member named 'masked_select'", "at::Tensor::masked_select"),
        ('identifier "cudnnCreate" is undefined', "cudnnCreate"),
        ('identifier "AT_DISPATCH_FLOATING_TYPES_AND4" is undefined', "AT_DISPATCH_FLOATING_TYPES_AND4"),
        ('no instance of overloaded function "at::zeros" matches the argument list', "this use of at::zeros"),
        ('namespace "cub" has no member "BlockMergeSort"', "cub::BlockMergeSort"),
    ],
)
def test_gaps_of_our_headers_are_named(message: str, name: str) -> None:
    assert missing_from_headers(Diagnostic(message=message)) == name


@pytest.mark.parametrize(
    "message",
    [
        'identifier "foo" is undefined',
        'cannot open source file "my_helpers.h"',
        'namespace "torch" has no member "emtpy"',
        'class "at::Tensor" has no member "numle"',
        'expected a ";"',
        "'foo' was not declared in this scope",
        'class "Mine" has no member "data_ptr"',
    ],
)
def test_slips_of_the_candidate_are_not_ours(message: str) -> None:
    assert missing_from_headers(Diagnostic(message=message)) is None


def test_an_error_refutes_with_all_its_facts() -> None:
    refusal = compile_refusal(FAILED, NVCC, SOURCE).refusal
    assert refusal.verdict is Verdict.REFUTED
    assert refusal.counterexample is not None
    assert (refusal.counterexample.kind, refusal.counterexample.line) == ("compile", 3)
    assert [error["line"] for error in refusal.counterexample.facts["errors"]] == [3, 4]


def test_a_gap_is_undecided_only_where_it_is_the_first_error() -> None:
    gap = 'kernel.cu(1): error: namespace "at" has no member "einsum"\n'
    assert compile_refusal(FAILED, gap + NVCC, SOURCE).refusal.reason == "unsupported: at::einsum"
    assert compile_refusal(FAILED, NVCC + gap, SOURCE).refusal.verdict is Verdict.REFUTED


def test_a_limit_refutes() -> None:
    stopped = Finished(returncode=None, signal=9, stdout=b"", stderr=b"", seconds=60.0, reason="cpu time")
    refusal = compile_refusal(stopped, "", SOURCE).refusal
    assert refusal.counterexample is not None
    assert refusal.counterexample.kind == "compile-limit"
    assert refusal.counterexample.message == "compiling it went beyond the limit on cpu time, 60 s"


def test_what_could_not_be_started_passed_no_limit() -> None:
    stopped = Finished(returncode=None, signal=None, stdout=b"", stderr=b"", seconds=0.0, reason="nvcc: No such file")
    refusal = compile_refusal(stopped, "", SOURCE).refusal
    assert refusal.counterexample is not None
    assert refusal.counterexample.message == "compiling it could not be started: nvcc: No such file"


def test_what_the_hosts_assembler_refuses_is_told_apart() -> None:
    log = "/tmp/cc1.s: Assembler messages:\n/tmp/cc1.s:351: Error: file not found: /etc/passwd\n"
    assert assembler_complaint(log) == "file not found: /etc/passwd"
    assert assembler_complaint(NVCC) is None
