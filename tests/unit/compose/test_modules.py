"""Modules as users write them, of many kinds: each is composed or named with what is in the way; no bug turns up."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright.compose.survey import survey

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
"""
TAIL = """

def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
MODULES = {
    "transposed_convolution": (
        """\
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1)
    def forward(self, x):
        return torch.tanh(self.up(x))
""",
        "torch.rand(2, 8, 9, 9)",
    ),
    "adaptive_pool": (
        """\
    def forward(self, x):
        return F.adaptive_avg_pool2d(x, 1).flatten(1)
""",
        "torch.rand(4, 8, 12, 12)",
    ),
    "adaptive_pool_parts": (
        """\
    def forward(self, x):
        return F.adaptive_avg_pool2d(x, 3)
""",
        "torch.rand(4, 8, 12, 12)",
    ),
    "pool_with_ceil": (
        """\
    def forward(self, x):
        return F.max_pool2d(x, 3, 2, ceil_mode=True)
""",
        "torch.rand(4, 8, 13, 13)",
    ),
    "pool_and_places": (
        """\
    def forward(self, x):
        return F.max_pool2d(x, 2, return_indices=True)[1]
""",
        "torch.rand(4, 8, 12, 12)",
    ),
    "power_pool": (
        """\
    def forward(self, x):
        return F.lp_pool2d(x, 2.0, 2)
""",
        "torch.rand(4, 8, 12, 12)",
    ),
    "triplet_loss": (
        """\
    def forward(self, a, p, n):
        return F.triplet_margin_loss(a, p, n)
""",
        "torch.rand(16, 32), torch.rand(16, 32), torch.rand(16, 32)",
    ),
    "smooth_l1": (
        """\
    def forward(self, x, y):
        return F.smooth_l1_loss(x, y, beta=0.5)
""",
        "torch.rand(16, 33), torch.rand(16, 33)",
    ),
    "binary_cross_entropy": (
        """\
    def forward(self, x, y):
        return F.binary_cross_entropy_with_logits(x, y)
""",
        "torch.rand(16, 33), torch.rand(16, 33)",
    ),
    "negative_log_likelihood": (
        """\
    def forward(self, x, y):
        return F.nll_loss(F.log_softmax(x, 1), y)
""",
        "torch.rand(16, 33), torch.randint(0, 33, (16,))",
    ),
    "cosine_loss": (
        """\
    def forward(self, x, y):
        return 1 - F.cosine_similarity(x, y).mean()
""",
        "torch.rand(16, 33), torch.rand(16, 33)",
    ),
    "log_cumsum": (
        """\
    def forward(self, x):
        return torch.logcumsumexp(x, 1)
""",
        "torch.rand(8, 40)",
    ),
    "cummax": (
        """\
    def forward(self, x):
        return torch.cummax(x, 1)[0]
""",
        "torch.rand(8, 40)",
    ),
    "scan_of_difference": (
        """\
    def forward(self, x):
        return torch.cumsum(x[:, 1:] - x[:, :-1], 1)
""",
        "torch.rand(8, 41)",
    ),
    "masked_scan": (
        """\
    def forward(self, x, m):
        return torch.cumsum(x * m, 1)
""",
        "torch.rand(8, 41), torch.randint(0, 2, (8, 41)).bool()",
    ),
    "gathered_rows": (
        """\
    def forward(self, x, i):
        return torch.gather(x, 1, i).sum(1)
""",
        "torch.rand(8, 41), torch.randint(0, 41, (8, 5))",
    ),
    "picked_columns": (
        """\
    def forward(self, x, i):
        return x[:, i]
""",
        "torch.rand(8, 41), torch.randint(0, 41, (5,))",
    ),
    "embedding_bag": (
        """\
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 16)
    def forward(self, i):
        return self.table(i).mean(1)
""",
        "torch.randint(0, 50, (8, 7))",
    ),
    "one_hot": (
        """\
    def forward(self, i):
        return F.one_hot(i, 12).float()
""",
        "torch.randint(0, 12, (8, 7))",
    ),
    "roll_and_pad": (
        """\
    def forward(self, x):
        return F.pad(torch.roll(x, 3, 1), (2, 1))
""",
        "torch.rand(8, 41)",
    ),
    "reflected": (
        """\
    def forward(self, x):
        return F.pad(x, (2, 2, 2, 2), mode='reflect')
""",
        "torch.rand(2, 3, 9, 9)",
    ),
    "upsampled": (
        """\
    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode='nearest')
""",
        "torch.rand(2, 3, 9, 9)",
    ),
    "bilinear": (
        """\
    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode='bilinear')
""",
        "torch.rand(2, 3, 9, 9)",
    ),
    "depthwise_separable": (
        """\
    def __init__(self):
        super().__init__()
        self.depth = nn.Conv2d(8, 8, 3, groups=8)
        self.point = nn.Conv2d(8, 4, 1)
    def forward(self, x):
        return F.gelu(self.point(F.hardswish(self.depth(x))))
""",
        "torch.rand(2, 8, 9, 9)",
    ),
    "lstm": (
        """\
    def __init__(self):
        super().__init__()
        self.net = nn.LSTM(8, 16, batch_first=True)
    def forward(self, x):
        return self.net(x)[0]
""",
        "torch.rand(2, 5, 8)",
    ),
    "self_attention": (
        """\
    def __init__(self):
        super().__init__()
        self.net = nn.MultiheadAttention(16, 4, batch_first=True)
    def forward(self, x):
        return self.net(x, x, x)[0]
""",
        "torch.rand(2, 5, 16)",
    ),
    "complex_spectrum": (
        """\
    def forward(self, x):
        return torch.fft.rfft(x).abs()
""",
        "torch.rand(8, 40)",
    ),
    "mode_and_median": (
        """\
    def forward(self, x):
        return x.median(1)[0] + x.std(1)
""",
        "torch.rand(8, 41)",
    ),
    "masked_fill": (
        """\
    def forward(self, x, m):
        return x.masked_fill(m, float('-inf')).softmax(-1)
""",
        "torch.rand(8, 41), torch.randint(0, 2, (8, 41)).bool()",
    ),
    "norm_of_weights": (
        """\
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(6, 8))
    def forward(self, x):
        return F.linear(x, F.normalize(self.w, dim=1)).prod(1)
""",
        "torch.rand(4, 8)",
    ),
    "scalar_result": (
        """\
    def forward(self, x):
        return (x.max() - x.min()) / x.numel()
""",
        "torch.rand(8, 41)",
    ),
    "buffers": (
        """\
    def __init__(self):
        super().__init__()
        self.register_buffer('mask', torch.tril(torch.ones(12, 12)))
    def forward(self, x):
        return (x * self.mask).sum(-1)
""",
        "torch.rand(3, 12, 12)",
    ),
}
QUICK = {"adaptive_pool", "log_cumsum", "lstm"}
"""In the default tier: one that composes, one without a lowering, one that torch does not trace."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.corpus) for name in MODULES]
)
def test_a_module_is_composed_or_it_is_said_what_is_in_the_way(tmp_path: Path, name: str) -> None:
    body, inputs = MODULES[name]
    (tmp_path / f"{name}.py").write_text(f"{HEAD}{body}\n{TAIL.format(inputs=inputs)}", encoding="utf-8")
    (answer,) = survey([str(tmp_path / f"{name}.py")])
    assert answer.fault is None, answer.reason
    assert answer.sources or str(answer.reason).startswith("cannot compose: ")
