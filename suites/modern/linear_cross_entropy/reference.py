"""The head of a language model and its loss in one.

Logits as large as tokens times vocabulary need never exist, forward or in a training pair; a backward pass by itself is
handed them, as torch's own is.
"""

import torch
import torch.nn.functional as F

BLOCK = 16


def forward(x, weight, targets):
    return mean_loss(logits_of(x, weight), targets)


def save(x, weight, targets):
    """The logits as the product leaves them, in the dtype of x, and what normalises each row of them."""
    logits = F.linear(x, weight)
    return logits, logits.float().logsumexp(-1)


def logits_of(x, weight):
    return F.linear(x, weight).float()


def mean_loss(logits, targets):
    chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (logits.logsumexp(-1) - chosen).mean()


def library(x, weight, targets):
    return F.cross_entropy(logits_of(x, weight), targets)


def in_blocks_of_tokens(x, weight, targets):
    blocks = zip(x.split(BLOCK), targets.split(BLOCK), strict=True)
    losses = [mean_loss(logits_of(block, weight), chosen) * len(chosen) for block, chosen in blocks]
    return torch.stack(losses).sum() / len(targets)


def in_blocks_of_classes(x, weight, targets):
    """Logits stay in float32 and meet only in their running log-sum-exp."""
    wide = x.float()
    parts = [(wide @ block.float().T).logsumexp(-1) for block in weight.split(BLOCK)]
    chosen = (wide * weight[targets].float()).sum(-1)
    return (torch.stack(parts).logsumexp(0) - chosen).mean()
