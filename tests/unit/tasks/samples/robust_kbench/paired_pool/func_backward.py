import torch
import torch.nn.functional as F
from torch import nn


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return F.max_pool2d(x * weight, kernel_size=2)

    @staticmethod
    def backward(ctx, grad_output):
        saved = ctx.saved_tensors
        return AutogradFunction.backward_fn(saved, grad_output)


def forward_fn(x, weight):
    return F.max_pool2d(x * weight, kernel_size=2)


class Model(nn.Module):
    def __init__(self, channels: int = 3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, 1))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight)


def get_inputs(batch_size: int = 64, channels: int = 3, side: int = 28):
    return [torch.randn(batch_size, channels, side, side, requires_grad=True)]
