import torch
from torch import nn


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, gain, shift, power, eps):
        ctx.save_for_backward(x, gain)
        ctx.power, ctx.eps, ctx.width = power, eps, (x.shape[-1],)
        return forward_fn(x, gain, shift, power, eps)

    @staticmethod
    def backward(ctx, grad_output):
        x, gain = ctx.saved_tensors
        grad_gain, grad_shift, grad_x = AutogradFunction.backward_fn(
            x, gain, ctx.eps, ctx.power, ctx.width, grad_output
        )
        return grad_x, grad_gain, grad_shift, None, None


def forward_fn(x: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor, power: int, eps: float) -> torch.Tensor:
    """Scales rows by their size."""
    size = x.abs().pow(power).mean(-1, keepdim=True)
    return x / (size + eps) * gain + shift


class Model(nn.Module):
    def __init__(self, num_features: int = 64, power: int = 2, eps: float = 1e-3):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(num_features))
        self.shift = nn.Parameter(torch.zeros(num_features))
        self.power, self.eps = power, eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.gain, self.shift, self.power, self.eps)


def get_inputs(batch_size: int = 8, num_features: int = 64):
    return [torch.randn(batch_size, num_features, requires_grad=True)]


input_names = ["x"]
