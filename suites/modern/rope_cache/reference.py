"""Rotary position embedding as in Llama, and new keys and values put into the cache.

Element j of a head is turned together with element j + D/2. The S new tokens of sequence b follow each other from
positions[b] on.
"""

import torch


def forward(q, k, v, cos, sin, key_cache, value_cache, positions):
    places = positions[:, None] + torch.arange(q.shape[1], device=q.device)
    cos, sin = cos[places][:, :, None], sin[places][:, :, None]
    sequences = torch.arange(q.shape[0], device=q.device)[:, None]
    key_cache[sequences, places] = rotated(k, cos, sin)
    value_cache[sequences, places] = v
    return rotated(q, cos, sin)


def rotated(x, cos, sin):
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(x.dtype)


def one_by_one(q, k, v, cos, sin, key_cache, value_cache, positions):
    out = torch.empty_like(q)
    for sequence, start in enumerate(positions.tolist()):
        for token, place in enumerate(range(start, start + q.shape[1])):
            turn = torch.complex(cos[place], sin[place])
            key_cache[sequence, place] = turned(k[sequence, token], turn)
            value_cache[sequence, place] = v[sequence, token]
            out[sequence, token] = turned(q[sequence, token], turn)
    return out


def turned(x, turn):
    first, second = x.float().chunk(2, dim=-1)
    product = torch.complex(first, second) * turn
    return torch.cat((product.real, product.imag), dim=-1).to(x.dtype)
