import torch
from torch import nn


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, w, eps):
        rstd = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, w)
        ctx.rstd = rstd
        return (x * rstd).type_as(x) * w

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        grad_x, grad_w = AutogradFunction.backward_fn(grad_output, x, w, ctx.rstd)
        return grad_x, grad_w, None


def forward_fn(x, w, eps):
    return (x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)).type_as(x) * w


class Model(nn.Module):
    def __init__(self, num_features: int, eps: float):
        super().__init__()
        self.w = nn.Parameter(torch.ones(num_features))
        self.eps = eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.w, self.eps)


def get_inputs(batch_size: int = 4, num_features: int = 32):
    return [torch.randn(batch_size, num_features, requires_grad=True)]
