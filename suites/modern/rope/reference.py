"""Rotary position embedding as in Llama: element j of a head is turned together with element j + D/2."""

import torch


def forward(q, k, cos, sin):
    return rotated(q, cos[:, None], sin[:, None]), rotated(k, cos[:, None], sin[:, None])


def rotated(x, cos, sin):
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(x.dtype)


def complex_product(q, k, cos, sin):
    turn = torch.complex(cos, sin)[:, None]
    return turned(q, turn), turned(k, turn)


def turned(x, turn):
    first, second = x.float().chunk(2, dim=-1)
    product = torch.complex(first, second) * turn
    return torch.cat((product.real, product.imag), dim=-1).to(x.dtype)
