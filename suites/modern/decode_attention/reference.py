"""Attention of one new token per sequence over the part of its cache that is filled.

Several heads of queries share one head of keys and values.
"""

import math

import torch
from torch.nn import functional as F


def forward(q, key_cache, value_cache, lengths):
    weights = masked_scores(q, key_cache, lengths).softmax(-1)
    return torch.einsum("bgrl,blgd->bgrd", weights.to(q.dtype), value_cache).flatten(1, 2)


def masked_scores(q, key_cache, lengths):
    grouped = q.unflatten(1, (key_cache.shape[2], -1))
    scores = torch.einsum("bgrd,blgd->bgrl", grouped.float(), key_cache.float()) / math.sqrt(q.shape[-1])
    return scores.masked_fill(~filled(key_cache, lengths)[:, None, None], -math.inf)


def filled(cache, lengths):
    return torch.arange(cache.shape[1], device=cache.device) < lengths[:, None]


def split(q, key_cache, value_cache, lengths):
    """Each piece of the cache by itself, then the pieces together, as flash decoding does."""
    scores, values = masked_scores(q, key_cache, lengths), value_cache.float()
    pieces = [piece_of(*piece) for piece in zip(scores.split(37, dim=-1), values.split(37, dim=1), strict=True)]
    largest = torch.stack([top for top, _, _ in pieces]).amax(0)
    total = sum(weight * (top - largest).exp() for top, weight, _ in pieces)
    out = sum(part * (top - largest).exp() for top, _, part in pieces)
    return (out / total).flatten(1, 2).to(q.dtype)


def piece_of(scores, values):
    # A piece with nothing in it has no maximum: a finite stand-in keeps its weight at zero.
    top = scores.amax(-1, keepdim=True).clamp_min(-1e30)
    weights = (scores - top).exp()
    return top, weights.sum(-1, keepdim=True), torch.einsum("bgrl,blgd->bgrd", weights, values)


def fused(q, key_cache, value_cache, lengths):
    keys, values = key_cache.transpose(1, 2), value_cache.transpose(1, 2)
    mask = filled(key_cache, lengths)[:, None, None]
    return F.scaled_dot_product_attention(q[:, :, None], keys, values, attn_mask=mask, enable_gqa=True)[:, :, 0]
