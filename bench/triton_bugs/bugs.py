"""Sixty changes to right kernels, five of each of twelve kinds. Each replaces one piece of a kernel's text."""

from __future__ import annotations

from dataclasses import dataclass

from triton_bugs.specimens import SPECIMENS


@dataclass(frozen=True)
class Bug:
    kind: str
    kernel: str
    old: str
    new: str

    def text(self) -> str:
        """The kernel with the bug: the first place after the kernel's head that reads so."""
        whole = SPECIMENS[self.kernel].text()
        head = whole.index(f"def {self.kernel}(")
        at = whole.index(self.old, head)
        return whole[:at] + self.new + whole[at + len(self.old) :]


_PLANTED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "mask dropped": (
        ("add", "* BLOCK + tl.arange(0, BLOCK)\n    mask = i < n", "* BLOCK + tl.arange(0, BLOCK)\n    mask = i >= 0"),
        ("softmax", "values / tl.sum(values, 0), mask=mask)", "values / tl.sum(values, 0))"),
        ("rope", "second * c + first * s, mask=mask)", "second * c + first * s)"),
        ("attention", "acc / total[:, None], mask=rm[:, None] < length)", "acc / total[:, None])"),
        ("transpose", "mask=(rn[:, None] < N) & (rm[None, :] < M))", "mask=rm[None, :] < M)"),
    ),
    "tail": (
        ("softmax", 'other=-float("inf")', "other=0.0"),
        ("layer_norm", "tl.where(i < n, value - centre, 0.0)", "value - centre"),
        ("cross_entropy", 'other=-float("inf")', "other=0.0"),
        ("top_two", 'other=-float("inf")', "other=0.0"),
        ("attention", 'score = tl.where(rn[None, :] < length, score, -float("inf"))', "score = score * 1.0"),
    ),
    "wrong stride": (
        ("softmax", "x + row * stride + i", "x + row * BLOCK + i"),
        ("matmul", "rk[:, None] * sb + rn[None, :]", "rk[:, None] * sa + rn[None, :]"),
        ("transpose", "out + rn[:, None] * M + rm[None, :]", "out + rn[:, None] * N + rm[None, :]"),
        ("rope", "cos + token * half + i", "cos + token * BLOCK + i"),
        ("column_sums", "x + rm[:, None] * N", "x + rm[:, None] * M"),
    ),
    "missing atomic": (
        ("histogram", "tl.atomic_add(out + value, 1, mask=(value >= 0) & (value < BINS))",
         "tl.store(out + value, tl.load(out + value, mask=value >= 0) + 1, mask=(value >= 0) & (value < BINS))"),
        ("total", "tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))",
         "tl.store(out, tl.load(out) + tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))"),
        ("matmul_split", "tl.atomic_add(c", "tl.store(c"),
        ("layer_norm_grad", "while tl.atomic_cas(lock + group, 0, 1) == 1:\n        pass", "tl.debug_barrier()"),
        ("layer_norm_grad", "tl.atomic_xchg(lock + group, 0)", "tl.store(lock + group, 0)"),
    ),
    "race of two programs": (
        ("add", "tl.program_id(0) * BLOCK", "tl.program_id(0) * (BLOCK // 2)"),
        ("swap_pairs", "tl.store(x + 2 * i, second, mask=mask)",
         "tl.store(x + 2 * i + 64, second, mask=mask & (2 * i + 64 < n))"),
        ("layer_norm", "tl.store(mean + row, centre)", "tl.store(mean, centre)"),
        ("running_sum", "out + row * n + i", "out + (row // 2) * n + i"),
        ("attention", "tl.store(out + head + rm", "tl.store(out + rm"),
    ),
    "wrong reduction axis": (
        ("attention", "tl.max(score, 1)", "tl.max(score, 0)"),
        ("attention", "tl.sum(p, 1)", "tl.sum(p, 0)"),
        ("column_sums", "tl.store(out + rn, tl.sum(total, 0), mask=rn < N)",
         "tl.store(out + tl.program_id(0) * BN + tl.arange(0, BM), tl.sum(total, 1), mask=tl.arange(0, BM) < N)"),
        ("running_sum", "tl.cumsum(value, 0)", "tl.cumsum(value, 0, reverse=True)"),
        ("top_two", "tl.argmax(data, 0)", "tl.argmin(data, 0)"),
    ),
    "uninitialised accumulator": (
        ("matmul", "total = tl.zeros((BM, BN), dtype=tl.float32)",
         "total = tl.load(c + rm[:, None] * sc + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N), other=0.0)"),
        ("column_sums", "total = tl.zeros((BM, BN), dtype=tl.float32)",
         "total = tl.zeros((BM, BN), dtype=tl.float32) + tl.load(out + rn, mask=rn < N, other=0.0)[None, :] / BM"),
        ("layer_norm_grad", "if tl.load(seen + group) != 0:", "if tl.load(seen + group) == 0:"),
        ("running_sum", "before = 0.0", "before = tl.load(out + row * n)"),
        ("cross_entropy", "total = 0.0", "total = tl.load(loss + row)"),
    ),
    "fp16 accumulation": (
        ("matmul", "total = tl.dot(x, y, total, out_dtype=tl.float32)",
         "total = (total + tl.dot(x, y, out_dtype=tl.float16)).to(tl.float16).to(tl.float32)"),
        ("layer_norm", "total += tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)",
         "total = (total + tl.load(x + row * n + i, mask=i < n, other=0.0)).to(tl.float16).to(tl.float32)"),
        ("column_sums", "tl.sum(total, 0)", "tl.sum(total.to(tl.float16), 0)"),
        ("running_sum", "before += tl.sum(value, 0)", "before += tl.sum(value.to(tl.bfloat16), 0)"),
        ("softmax", "tl.sum(values, 0), mask", "tl.sum(values.to(tl.float16), 0), mask"),
    ),
    "off-by-one block": (
        ("add", "mask = i < n", "mask = i <= n"),
        ("running_sum", "range(0, n, BLOCK)", "range(0, n - 1, BLOCK - 1)"),
        ("matmul", "range(0, K, BK)", "range(0, K - BK, BK)"),
        ("column_sums", "range(0, M, BM)", "range(BM, M, BM)"),
        ("scaled_tiles", "range(0, N, BN)", "range(0, N - BN, BN)"),
    ),
    "wrong pointer increment": (
        ("matmul", "left += BK", "left += BK + 1"),
        ("matmul", "right += BK * sb", "right += BK"),
        ("layer_norm", "i = start + tl.arange(0, BLOCK)", "i = start * 2 + tl.arange(0, BLOCK)"),
        ("matmul_split", "rk = k + tl.arange(0, BK)", "rk = k // SPLIT + tl.arange(0, BK)"),
        ("grouped_gemm", "tile += PROGRAMS", "tile += PROGRAMS + 1"),
    ),
    "missing boundary for K": (
        ("matmul", "(rm[:, None] < M) & (rk[None, :] < K - k)", "rm[:, None] < M"),
        ("matmul", "(rk[:, None] < K - k) & (rn[None, :] < N)", "rn[None, :] < N"),
        ("matmul_split", "(rm[:, None] < M) & (rk[None, :] < K)", "rm[:, None] < M"),
        ("grouped_gemm", "(rm[:, None] < m) & (rk[None, :] < K)", "rm[:, None] < m"),
        ("grouped_gemm", "(rk[:, None] < K) & (rn[None, :] < N)", "rn[None, :] < N"),
    ),
    "integer overflow of offsets": (
        ("strided_copy", "tl.program_id(0).to(tl.int64)", "tl.program_id(0)"),
        ("strided_copy", "x + row * stride", "x + (row * stride).to(tl.int32)"),
        ("histogram", "value = tl.load(x + i", "value = tl.load(x + (i * 16777216) // 16777216"),
        ("add", "tl.store(out + i", "tl.store(out + (i.to(tl.int8)).to(tl.int32)"),
        ("transpose", "out + rn[:, None] * M + rm[None, :]", "out + (rn[:, None] * M + rm[None, :]).to(tl.int8)"),
    ),
}  # fmt: skip

BUGS = [Bug(kind, *planted) for kind, row in _PLANTED.items() for planted in row]
