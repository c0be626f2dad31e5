"""Arguments, grids and expected results of each kernel: sizes around the blocks, and values that hurt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from triton_bugs.checking import Call

_FOLDER = Path(__file__).with_name("kernels")


@dataclass(frozen=True)
class Specimen:
    file: str
    kernel: str
    calls: Callable[[], list[Call]]

    def text(self) -> str:
        return (_FOLDER / f"{self.file}.py").read_text(encoding="utf-8")


def _normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _blocks(extent: int, block: int) -> int:
    return -(-extent // block)


def _add() -> list[Call]:
    calls = []
    for n in (255, 256, 257, 1000):
        x, y = _normal(n), _normal(n, seed=1)
        arguments = {"x": x, "y": y, "out": np.zeros_like(x), "n": n, "BLOCK": 256}
        calls.append(Call(grid=(_blocks(n, 256), 1, 1), arguments=arguments, expected={"out": x + y}, fresh=("out",)))
    return calls


def _softmax() -> list[Call]:
    calls = []
    for rows, n in ((3, 128), (5, 100), (2, 65)):
        x = _normal(rows, n) * 20 - 200
        right = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        arguments = {"x": x, "out": np.zeros_like(x), "n": n, "stride": n, "BLOCK": 128}
        right /= right.sum(1, keepdims=True)
        calls.append(Call(grid=(rows, 1, 1), arguments=arguments, expected={"out": right}, fresh=("out",)))
    return calls


def _layer_norm() -> list[Call]:
    calls = []
    for rows, n in ((3, 256), (4, 300), (2, 127)):
        x, weight, bias = _normal(rows, n) * 3 + 100, _normal(n, seed=1), _normal(n, seed=2)
        wide = x.astype(np.float64)
        mean, rstd = wide.mean(1), 1 / np.sqrt(wide.var(1) + 1e-5)
        right = (wide - mean[:, None]) * rstd[:, None] * weight + bias
        outputs = {"out": np.zeros_like(x), "mean": np.zeros(rows, np.float32), "rstd": np.zeros(rows, np.float32)}
        arguments = {"x": x, "weight": weight, "bias": bias, **outputs, "n": n, "eps": 1e-5, "BLOCK": 128}
        expected = {"out": right, "mean": mean, "rstd": rstd}
        calls.append(Call(grid=(rows, 1, 1), arguments=arguments, expected=expected, fresh=tuple(outputs)))
    return calls


def _layer_norm_grad() -> list[Call]:
    rows, n, groups = 9, 100, 3
    x, grad, weight = _normal(rows, n), _normal(rows, n, seed=1), _normal(n, seed=2)
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    normal = (x - mean[:, None]) * rstd[:, None]
    scaled = grad * weight
    dx = (scaled - normal * (normal * scaled).mean(1, keepdims=True) - scaled.mean(1, keepdims=True)) * rstd[:, None]
    dw = np.stack([(grad * normal)[group::groups].sum(0) for group in range(groups)])
    ints = {"lock": np.zeros(groups, np.int32), "seen": np.zeros(groups, np.int32)}
    outputs = {"dx": np.zeros_like(x), "dw": np.zeros_like(dw)}
    arguments = {"grad": grad, "x": x, "weight": weight, "mean": mean, "rstd": rstd, **outputs, **ints}
    arguments |= {"n": n, "GROUPS": groups, "BLOCK": 128}
    expected = {"dx": dx.astype(np.float64), "dw": dw.astype(np.float64)}
    return [Call(grid=(rows, 1, 1), arguments=arguments, expected=expected, fresh=("dx", "dw"))]


def _cross_entropy() -> list[Call]:
    calls = []
    for rows, n in ((3, 200), (2, 128)):
        logits = _normal(rows, n) * 30 - 300
        labels = np.arange(rows, dtype=np.int64) * 41 % n
        wide = logits.astype(np.float64)
        p = np.exp(wide - wide.max(1, keepdims=True))
        total = p.sum(1)
        loss = np.log(total) + wide.max(1) - wide[np.arange(rows), labels]
        p /= total[:, None]
        p[np.arange(rows), labels] -= 1
        outputs = {"loss": np.zeros(rows, np.float32), "grad": np.zeros_like(logits)}
        arguments = {"logits": logits, "labels": labels, **outputs, "n": n, "BLOCK": 128}
        expected = {"loss": loss, "grad": p}
        calls.append(Call(grid=(rows, 1, 1), arguments=arguments, expected=expected, fresh=("loss", "grad")))
    return calls


def _running_sum() -> list[Call]:
    calls = []
    for rows, n in ((3, 200), (2, 64)):
        x = _normal(rows, n)
        arguments = {"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 64}
        right = x.astype(np.float64).cumsum(1)
        calls.append(Call(grid=(rows, 1, 1), arguments=arguments, expected={"out": right}, fresh=("out",)))
    return calls


def _top_two() -> list[Call]:
    x = _normal(5, 100) - 5
    order = np.argsort(-x, axis=1)[:, :2].astype(np.int32)
    outputs = {"values": np.zeros((5, 2), np.float32), "places": np.zeros((5, 2), np.int32)}
    arguments = {"x": x, **outputs, "n": 100, "BLOCK": 128}
    expected = {"values": np.take_along_axis(x, order, 1), "places": order}
    return [Call(grid=(5, 1, 1), arguments=arguments, expected=expected, fresh=tuple(outputs))]


def _matmul() -> list[Call]:
    calls = []
    for m, n, k in ((64, 64, 64), (70, 33, 47), (31, 65, 300)):
        a, b = (_normal(m, k) * 4 + 3).astype(np.float16), (_normal(k, n, seed=1) * 4 + 3).astype(np.float16)
        right = a.astype(np.float64) @ b.astype(np.float64)
        arguments = {"a": a, "b": b, "c": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k, "sa": k, "sb": n}
        arguments |= {"sc": n, "BM": 32, "BN": 32, "BK": 32}
        grid = (_blocks(m, 32), _blocks(n, 32), 1)
        calls.append(Call(grid=grid, arguments=arguments, expected={"c": right}, fresh=("c",)))
    return calls


def _matmul_split() -> list[Call]:
    m, n, k = 40, 33, 100
    a, b = _normal(m, k), _normal(k, n, seed=1)
    arguments = {"a": a, "b": b, "c": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k, "SPLIT": 3}
    arguments |= {"BM": 32, "BN": 32, "BK": 16}
    return [Call(grid=(2, 2, 3), arguments=arguments, expected={"c": a.astype(np.float64) @ b})]


def _grouped_gemm() -> list[Call]:
    rows, n, k = np.array([20, 5, 33], np.int32), 24, 40
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(np.int32)
    a, b = _normal(int(rows.sum()), k), _normal(3, k, n, seed=1)
    parts = [a[start : start + m] @ b[g] for g, (m, start) in enumerate(zip(rows, starts, strict=True))]
    arguments = {"a": a, "b": b, "c": np.zeros((len(a), n), np.float32), "rows": rows, "starts": starts}
    arguments |= {"groups": 3, "N": n, "K": k, "PROGRAMS": 4, "BM": 16, "BN": 16}
    right = np.concatenate(parts).astype(np.float64)
    return [Call(grid=(4, 1, 1), arguments=arguments, expected={"c": right}, fresh=("c",))]


def _attention() -> list[Call]:
    calls = []
    for length, causal in ((64, False), (50, False), (70, True)):
        heads, d = 2, 16
        q, k, v = ((_normal(heads, length, d, seed=seed) * 2).astype(np.float16) for seed in range(3))
        score = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.25
        if causal:
            score = np.where(np.tril(np.ones((length, length), bool)), score, -np.inf)
        p = np.exp(score - score.max(-1, keepdims=True))
        right = p / p.sum(-1, keepdims=True) @ v.astype(np.float64)
        arguments = {"q": q, "k": k, "v": v, "out": np.zeros((heads, length, d), np.float32), "length": length}
        arguments |= {"scale": 0.25, "D": d, "BM": 32, "BN": 32, "CAUSAL": causal}
        grid = (_blocks(length, 32), heads, 1)
        calls.append(Call(grid=grid, arguments=arguments, expected={"out": right}, fresh=("out",), tolerance=4e-3))
    return calls


def _transpose() -> list[Call]:
    calls = []
    for m, n in ((32, 64), (33, 50)):
        x = _normal(m, n)
        arguments = {"x": x, "out": np.zeros((n, m), np.float32), "M": m, "N": n, "BM": 32, "BN": 16}
        grid = (_blocks(m, 32), _blocks(n, 16), 1)
        calls.append(Call(grid=grid, arguments=arguments, expected={"out": x.T}, fresh=("out",)))
    return calls


def _column_sums() -> list[Call]:
    calls = []
    for m, n in ((32, 64), (77, 50)):
        x = _normal(m, n)
        arguments = {"x": x, "out": np.zeros(n, np.float32), "M": m, "N": n, "BM": 16, "BN": 32}
        right = x.astype(np.float64).sum(0)
        grid = (_blocks(n, 32), 1, 1)
        calls.append(Call(grid=grid, arguments=arguments, expected={"out": right}, fresh=("out",)))
    return calls


def _rope() -> list[Call]:
    tokens, heads, half = 5, 3, 20
    x, angle = _normal(tokens, heads, 2 * half), _normal(tokens, half, seed=1)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = x[..., :half], x[..., half:]
    c, s = cos[:, None], sin[:, None]
    right = np.concatenate([first * c - second * s, second * c + first * s], -1)
    arguments = {"x": x, "cos": cos, "sin": sin, "out": np.zeros_like(x), "heads": heads, "half": half, "BLOCK": 32}
    return [Call(grid=(tokens, heads, 1), arguments=arguments, expected={"out": right}, fresh=("out",))]


def _philox(seed: int, count: int) -> np.ndarray:
    """The first output of Philox 4x32-10 for the counters 0 to count, as Triton's `tl.rand` scales it."""
    low = np.uint64(0xFFFFFFFF)
    c = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [second >> np.uint64(32) ^ c[1] ^ k0, second & low, first >> np.uint64(32) ^ c[3] ^ k1, first & low]
        k0, k1 = k0 + np.uint64(0x9E3779B9) & low, k1 + np.uint64(0xBB67AE85) & low
    drawn = c[0].astype(np.uint32).view(np.int32)
    return np.where(drawn < 0, -drawn - 1, drawn).astype(np.float32) * np.float32(4.6566127342e-10)


def _dropout() -> list[Call]:
    x = _normal(300)
    right = np.where(_philox(1234, 300) > 0.3, x.astype(np.float64) / 0.7, 0.0)
    arguments = {"x": x, "out": np.zeros_like(x), "n": 300, "p": 0.3, "seed": 1234, "BLOCK": 128}
    return [Call(grid=(3, 1, 1), arguments=arguments, expected={"out": right}, fresh=("out",))]


def _histogram() -> list[Call]:
    x = np.random.default_rng(0).integers(0, 12, 500).astype(np.int32)
    right = np.bincount(x, minlength=12).astype(np.int32)
    arguments = {"x": x, "out": np.zeros(12, np.int32), "n": 500, "BINS": 12, "BLOCK": 128}
    return [Call(grid=(4, 1, 1), arguments=arguments, expected={"out": right})]


def _total() -> list[Call]:
    x = _normal(500) + 1
    arguments = {"x": x, "out": np.zeros(1, np.float32), "n": 500, "BLOCK": 128}
    right = np.array([x.astype(np.float64).sum()])
    return [Call(grid=(4, 1, 1), arguments=arguments, expected={"out": right})]


def _strided_copy() -> list[Call]:
    x = _normal(6, 40)
    arguments = {"x": x, "out": np.zeros((6, 30), np.float32), "rows": 6, "columns": 30, "stride": 40, "BLOCK": 32}
    plain = Call(grid=(6, 1, 1), arguments=arguments, expected={"out": x[:, :30]}, fresh=("out",))
    far = arguments | {"x": x[:1], "stride": 1 << 29}
    huge = Call(grid=(6, 1, 1), arguments=far, expected={}, huge={"x": ((5 << 29) + 40) * 4})
    return [plain, huge]


def _swap_pairs() -> list[Call]:
    calls = []
    for n in (200, 64):
        x = _normal(n)
        right = x.reshape(-1, 2)[:, ::-1].reshape(-1)
        calls.append(Call(grid=(4, 1, 1), arguments={"x": x, "n": n, "BLOCK": 32}, expected={"x": right}))
    return calls


def _scaled_tiles() -> list[Call]:
    x = _normal(40, 36)
    arguments = {"x": x, "out": np.zeros_like(x), "M": 40, "N": 36, "BM": 16, "BN": 16}
    return [Call(grid=(3, 1, 1), arguments=arguments, expected={"out": x * 2}, fresh=("out",))]


SPECIMENS = {
    **{
        name: Specimen("rows", name, calls)
        for name, calls in {
            "add": _add,
            "softmax": _softmax,
            "layer_norm": _layer_norm,
            "layer_norm_grad": _layer_norm_grad,
            "cross_entropy": _cross_entropy,
            "running_sum": _running_sum,
            "top_two": _top_two,
        }.items()
    },
    **{
        name: Specimen("tiles", name, calls)
        for name, calls in {
            "matmul": _matmul,
            "matmul_split": _matmul_split,
            "grouped_gemm": _grouped_gemm,
            "attention": _attention,
            "transpose": _transpose,
            "column_sums": _column_sums,
        }.items()
    },
    **{
        name: Specimen("points", name, calls)
        for name, calls in {
            "rope": _rope,
            "dropout": _dropout,
            "histogram": _histogram,
            "total": _total,
            "strided_copy": _strided_copy,
            "swap_pairs": _swap_pairs,
            "scaled_tiles": _scaled_tiles,
        }.items()
    },
}
