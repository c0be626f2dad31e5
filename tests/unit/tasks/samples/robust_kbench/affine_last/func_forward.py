import torch
from torch import nn


def forward_fn(x: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor, power: int, eps: float) -> torch.Tensor:
    """Scales rows by their size.

    Then it adds a shift.

    Args:
        x: rows
    """
    size = x.abs().pow(power).mean(-1, keepdim=True)
    return x / (size + eps) * gain + shift


class Model(nn.Module):
    def __init__(self, num_features: int, power: int = 2, eps: float = 1e-3):
        super().__init__()
        self.unused = nn.Linear(num_features, num_features)
        self.gain = nn.Parameter(torch.ones(num_features))
        self.shift = nn.Parameter(torch.zeros(num_features))
        self.power, self.eps = power, eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.gain, shift=self.shift, power=self.power, eps=self.eps)


def get_inputs(batch_size: int = 8, num_features: int = 64):
    return [torch.randn(batch_size, num_features)]
