"""The gated activation of Llama, quantised to 8-bit floats for the matrix product that follows."""

import torch
import torch.nn.functional as F

LARGEST = 448.0


def forward(gate, up, scale):
    activated = F.silu(gate) * up
    return quantised(activated.float() / scale)


def quantised(wide):
    return wide.clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)


def never_rounded(gate, up, scale):
    """One kernel: nothing is rounded before the quantisation, and the scale is inverted once."""
    wide = gate.float()
    return quantised(wide / (1 + torch.exp(-wide)) * up.float() * (1 / scale))
