"""The error budget: every honest computation passes; a lower precision or another formula does not."""

import contextlib
from dataclasses import replace

import pytest
import torch

from warpwright.core.errors import TaskError
from warpwright.core.task import Case, Direction, Draw, Output, Reference, Role, Task, TensorArg, Tolerance
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.truth.expected import expectations, scenario
from warpwright.oracle.truth.jitter import Jitter, to_tf32

MATMUL = Task(
    name="matmul",
    arguments=(TensorArg(name="a", shape=("M", "K")), TensorArg(name="b", shape=("K", "N"))),
    outputs=(Output(name="c", shape=("M", "N")),),
    cases=(),
    reference=Reference(source="def forward(a, b):\n    return a @ b\n"),
)
NORM = Task(
    name="norm",
    arguments=(TensorArg(name="x", shape=("R", "D")),),
    outputs=(Output(name="y", shape=("R", "D")),),
    cases=(),
    reference=Reference(
        source="""
def forward(x):
    x = x.float()
    return (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + 1e-3).sqrt()
"""
    ),
)


def prepared(task, distribution="normal", dtype="fp32", seed=0, **dims):
    draw = Draw(case=Case(name="c", role=Role.CHECK, dims=dims, dtype=dtype), distribution=distribution, seed=seed)
    given = scenario(task, draw)
    return given, expectations(task, draw, given)


def one_after_another(a, b):
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        total += a[:, k : k + 1] * b[k : k + 1]
    return total


@pytest.mark.parametrize("distribution", ["normal", "large_mean", "tiny", "huge", "outliers"])
@pytest.mark.parametrize("depth", [5, 64, 1000, 4096])
def test_fp32_products_pass_in_any_order(distribution, depth):
    given, expected = prepared(MATMUL, distribution, M=17, K=depth, N=13)
    a, b = given.arguments
    halves = a[:, : depth // 2] @ b[: depth // 2] + a[:, depth // 2 :] @ b[depth // 2 :]
    for result in (a @ b, one_after_another(a, b), halves, (a.double() @ b.double()).float()):
        assert check_results(expected, [result]) is None


@pytest.mark.parametrize("depth", [5, 64, 1000, 4096])
def test_fp32_through_a_narrower_type_is_refuted(depth):
    given, expected = prepared(MATMUL, M=17, K=depth, N=13)
    a, b = given.arguments
    assert check_results(expected, [to_tf32(a) @ to_tf32(b)]) is not None
    assert check_results(expected, [(a.bfloat16().float() @ b.bfloat16().float())]) is not None
    assert check_results(expected, [(a.half().float() @ b.half().float())]) is not None


def test_tf32_passes_where_the_task_allows_it_and_bf16_does_not():
    task = replace(MATMUL, tolerance=Tolerance(tf32=True))
    given, expected = prepared(task, M=17, K=1000, N=13)
    a, b = given.arguments
    assert check_results(expected, [to_tf32(a) @ to_tf32(b)]) is None
    assert check_results(expected, [(a.bfloat16().float() @ b.bfloat16().float())]) is not None


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_sixteen_bits_with_fp32_accumulation_pass_and_narrow_accumulation_does_not(dtype):
    given, expected = prepared(MATMUL, dtype=dtype, M=17, K=2048, N=13)
    a, b = given.arguments
    assert check_results(expected, [(a.float() @ b.float()).to(a.dtype)]) is None
    total = torch.zeros(17, 13, dtype=a.dtype)
    for k in range(2048):
        total += a[:, k : k + 1] * b[k : k + 1]
    assert check_results(expected, [total]) is not None


def test_one_pass_variance_passes_and_a_dropped_epsilon_does_not():
    given, expected = prepared(NORM, "tiny", R=8, D=257)
    x = given.arguments[0]
    mean = x.mean(-1, True)
    one_pass = (x.square().mean(-1, True) - mean.square()) * (257 / 256)
    assert check_results(expected, [(x - mean) * torch.rsqrt(one_pass + 1e-3)]) is None
    assert check_results(expected, [(x - mean) * torch.rsqrt(one_pass)]) is not None
    biased = x.var(-1, keepdim=True, correction=0)
    assert check_results(expected, [(x - mean) * torch.rsqrt(biased + 1e-3)]) is not None


def test_a_budget_that_is_not_finite_is_a_task_error():
    task = replace(
        NORM, reference=Reference(source="def forward(x):\n    return (x * 1e30 * 1e30).mean(-1, True) * 1e-60 + x\n")
    )
    with pytest.raises(TaskError, match="no error budget"):
        prepared(task, R=2, D=3)


def test_wrong_declarations_are_named():
    wrong_shape = replace(NORM, outputs=(Output(name="y", shape=("R",)),))
    with pytest.raises(TaskError, match=r"y has shape \(2, 3\); the task declares \(2,\)"):
        prepared(wrong_shape, R=2, D=3)
    with pytest.raises(TaskError, match="returns 1 tensors; the task declares y, z"):
        prepared(replace(NORM, outputs=(*NORM.outputs, Output(name="z", shape=("R",)))), R=2, D=3)


def test_gradients_are_those_of_the_formula_in_double():
    task = replace(MATMUL, direction=Direction.BACKWARD)
    given, expected = prepared(task, M=4, K=5, N=3)
    a, b = (value.double() for value in given.arguments)
    grad = given.gradients[0].double()
    assert torch.equal(expected[0].value, grad @ b.t())
    assert torch.equal(expected[1].value, a.t() @ grad)


def test_a_lifted_reference_keeps_no_narrow_type():
    source = (
        "import torch\ndef forward(x):\n    return x.to(torch.bfloat16).float() + torch.zeros(1, dtype=torch.half)\n"
    )
    given, expected = prepared(replace(NORM, reference=Reference(source=source)), R=2, D=3)
    assert torch.equal(expected[0].value, given.arguments[0].double())


SUM = replace(
    NORM,
    outputs=(Output(name="y", shape=("R",)),),
    reference=Reference(source="def forward(x):\n    return x.float().exp().sum(-1).log()\n"),
)


@pytest.mark.parametrize("distribution", ["normal", "sparse", "ties", "constant", "zeros"])
def test_equal_terms_may_be_added_sequentially(distribution):
    given, expected = prepared(SUM, distribution, R=6, D=4099)
    terms = given.arguments[0].exp()
    total = torch.zeros(6)
    for k in range(terms.shape[1]):
        total += terms[:, k]
    assert check_results(expected, [total.log()]) is None


IMAGES = Task(
    name="batch_norm",
    arguments=(TensorArg(name="x", shape=("N", "C", "P", "P")), TensorArg(name="b", shape=("C",), init="bias")),
    outputs=(Output(name="y", shape=("N", "C", "P", "P")),),
    cases=(),
    reference=Reference(
        source="""
import torch.nn.functional as F
def forward(x, b):
    return F.batch_norm(x, None, None, None, b, training=True)
"""
    ),
)


@pytest.mark.parametrize("seed", [0, 18])  # the second was refused while the statistics were one operation
def test_statistics_of_a_batch_may_be_kept_in_fp32(seed):
    """Torch on a CPU keeps them in fp64, which no kernel must do. For zeros only the mean remains."""
    given, expected = prepared(IMAGES, "sparse", seed=seed, N=2, C=64, P=7)
    x, shift = given.arguments[0], given.arguments[1].view(-1, 1, 1)
    mean = x.double().mean((0, 2, 3), keepdim=True).float()
    scale = torch.rsqrt((x - mean).square().mean((0, 2, 3), keepdim=True) + 1e-5)
    assert check_results(expected, [(x - mean) * scale + shift]) is None
    assert check_results(expected, [(x - mean * 1.001) * scale + shift]) is not None


def test_running_statistics_of_a_batch_move_as_they_do_in_torch():
    x, runs = torch.randn(8, 3), []
    for mode in (contextlib.nullcontext(), Jitter(seed=1)):
        mean, variance = torch.zeros(3), torch.ones(3)
        with mode:
            torch.nn.functional.batch_norm(x, mean, variance, training=True)
        runs.append((mean, variance))
    assert all(torch.allclose(*pair) for pair in zip(*runs, strict=True))
    assert not torch.equal(runs[0][0], torch.zeros(3))
