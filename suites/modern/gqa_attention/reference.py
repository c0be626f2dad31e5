"""Causal attention in which several heads of queries share one head of keys and values.

Gradients are taken as flash attention takes them: from the output and the log-sum-exp that the forward pass left, both
as they were rounded then. An implementation that keeps or recomputes more is closer to the truth than that.
"""

import math

import torch
from torch.nn import functional as F


def forward(q, k, v):
    return Attention.apply(q, k, v)


def save(q, k, v):
    return attention(q, k, v)


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(context, q, k, v):
        out, logsumexp = attention(q, k, v)
        context.save_for_backward(out, logsumexp, q, k, v)
        return out

    @staticmethod
    def backward(context, grad_out):
        return gradients(grad_out, *context.saved_tensors)


def attention(q, k, v):
    scores = masked_scores(q, k)
    logsumexp = scores.logsumexp(-1)
    weights = (scores - logsumexp[..., None]).exp()
    return weights.to(v.dtype) @ shared(v, q), logsumexp


def gradients(grad_out, out, logsumexp, q, k, v):
    weights = (masked_scores(q, k) - logsumexp[..., None]).exp()
    along = (grad_out.float() * out.float()).sum(-1, keepdim=True)
    slope = weights * (grad_out.float() @ shared(v, q).float().mT - along) / math.sqrt(q.shape[-1])
    slope, weights = slope.to(q.dtype), weights.to(q.dtype)
    return slope @ shared(k, q), gathered(slope.mT @ q, k), gathered(weights.mT @ grad_out, v)


def masked_scores(q, k):
    scores = q.float() @ shared(k, q).float().mT / math.sqrt(q.shape[-1])
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(future, -math.inf)


def shared(x, q):
    """One head of keys or values for each head of queries."""
    return x.repeat_interleave(q.shape[1] // x.shape[1], dim=1)


def gathered(grads, x):
    """The sum over the heads of queries that share a head."""
    return grads.unflatten(1, (x.shape[1], -1)).sum(2)


def online(q, k, v):
    """Block by block over the keys, the sums corrected whenever the maximum grows; gradients by autograd."""
    scores, values = masked_scores(q, k), shared(v, q).float()
    largest = scores[..., :1]
    total, out = torch.zeros_like(largest), torch.zeros_like(q, dtype=torch.float32)
    for block, part in zip(scores.split(32, dim=-1), values.split(32, dim=-2)):
        largest, previous = torch.maximum(largest, block.amax(-1, keepdim=True)), largest
        weights, correction = (block - largest).exp(), (previous - largest).exp()
        total = total * correction + weights.sum(-1, keepdim=True)
        out = out * correction + weights @ part
    return (out / total).to(q.dtype)


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
