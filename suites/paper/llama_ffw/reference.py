"""The feed-forward network of a Llama layer: SwiGLU between two projections up and one down."""

import torch
import torch.nn.functional as F


def forward(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


def save(x, gate, up, down):
    return F.linear(x, gate), F.linear(x, up)


def one_projection(x, gate, up, down):
    """Gate and up as one product, the way inference engines lay them out."""
    gated, straight = F.linear(x, torch.cat([gate, up])).float().chunk(2, dim=-1)
    return F.linear((gated * torch.sigmoid(gated) * straight).to(x.dtype), down)


def hidden_in_halves(x, gate, up, down):
    """Half of the hidden units at a time, added up in float32."""
    half = gate.shape[0] // 2
    parts = [
        F.linear(F.silu(F.linear(x, gate[units])) * F.linear(x, up[units]), down[:, units]).float()
        for units in (slice(half), slice(half, None))
    ]
    return (parts[0] + parts[1]).to(x.dtype)
