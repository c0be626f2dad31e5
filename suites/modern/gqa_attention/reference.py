"""Causal attention in which several heads of queries share one head of keys and values."""

import math

import torch
from torch.nn import functional as F


def forward(q, k, v):
    return attention(q, k, v)[0]


def save(q, k, v):
    return attention(q, k, v)


def attention(q, k, v):
    scores = masked_scores(q, k)
    logsumexp = scores.logsumexp(-1)
    weights = (scores - logsumexp[..., None]).exp()
    return weights.to(v.dtype) @ shared(v, q), logsumexp


def masked_scores(q, k):
    scores = q.float() @ shared(k, q).float().transpose(-2, -1) / math.sqrt(q.shape[-1])
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(future, -math.inf)


def shared(x, q):
    return x.repeat_interleave(q.shape[1] // x.shape[1], dim=1)


def online(q, k, v):
    """Block by block over the keys, as flash attention does, with the sums corrected whenever the maximum grows."""
    scores, values = masked_scores(q, k), shared(v, q).float()
    largest = scores[..., :1]
    total, out = torch.zeros_like(largest), torch.zeros_like(q, dtype=torch.float32)
    for block, part in zip(scores.split(32, dim=-1), values.split(32, dim=-2)):
        largest, previous = torch.maximum(largest, block.amax(-1, keepdim=True)), largest
        weights, correction = (block - largest).exp(), (previous - largest).exp()
        total = total * correction + weights.sum(-1, keepdim=True)
        out = out * correction + weights.to(v.dtype).float() @ part
    return (out / total).to(q.dtype)


def wide_weights(q, k, v):
    return (masked_scores(q, k).softmax(-1) @ shared(v, q).float()).to(q.dtype)


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
