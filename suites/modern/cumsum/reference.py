"""Running sums along the last dimension, kept in float32."""

import torch
import torch.nn.functional as F

BLOCK = 256


def forward(x):
    return torch.cumsum(x.float(), dim=-1).to(x.dtype)


def in_blocks(x):
    """Blocks are summed apart and then shifted by what came before them."""
    blocks = [block.cumsum(-1) for block in x.float().split(BLOCK, dim=-1)]
    totals = torch.stack([block[..., -1] for block in blocks], dim=-1)
    before = F.pad(totals.cumsum(-1)[..., :-1], (1, 0))
    return torch.cat([block + before[..., [i]] for i, block in enumerate(blocks)], dim=-1).to(x.dtype)
