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
    out = torch.einsum("bgrst,bgtd->bgrsd", weights.to(v.dtype), v)
    return out.flatten(1, 2), logsumexp.flatten(1, 2)


def gradients(grad_out, out, logsumexp, q, k, v):
    grad, out, logsumexp = grouped(grad_out, k), grouped(out, k), grouped(logsumexp, k)
    weights = (masked_scores(q, k) - logsumexp[..., None]).exp()
    along = (grad.float() * out.float()).sum(-1, keepdim=True)
    slope = weights * (torch.einsum("bgrsd,bgtd->bgrst", grad.float(), v.float()) - along) / math.sqrt(q.shape[-1])
    weights, slope = weights.to(q.dtype), slope.to(q.dtype)
    grad_q = torch.einsum("bgrst,bgtd->bgrsd", slope, k).flatten(1, 2)
    grad_k = torch.einsum("bgrst,bgrsd->bgtd", slope, grouped(q, k))
    grad_v = torch.einsum("bgrst,bgrsd->bgtd", weights, grad)
    return grad_q, grad_k, grad_v


def masked_scores(q, k):
    scores = torch.einsum("bgrsd,bgtd->bgrst", grouped(q, k).float(), k.float()) / math.sqrt(q.shape[-1])
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(future, -math.inf)


def grouped(x, k):
    """The heads of queries by the head of keys that they share."""
    return x.unflatten(1, (k.shape[1], -1))


def online(q, k, v):
    """Block by block over the keys, the sums corrected whenever the maximum grows; gradients by autograd."""
    scores = masked_scores(q, k)
    largest = scores[..., :1]
    total, out = torch.zeros_like(largest), torch.zeros_like(grouped(q, k), dtype=torch.float32)
    for block, values in zip(scores.split(32, dim=-1), v.float().split(32, dim=2), strict=True):
        largest, previous = torch.maximum(largest, block.amax(-1, keepdim=True)), largest
        weights, correction = (block - largest).exp(), (previous - largest).exp()
        total = total * correction + weights.sum(-1, keepdim=True)
        out = out * correction + weights @ values[:, :, None]
    return (out / total).flatten(1, 2).to(q.dtype)


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
