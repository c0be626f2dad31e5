import torch
import torch.nn.functional as F
from torch import nn


def forward_fn(*args):
    x, weight, bias, stride = args
    return F.conv1d(x, weight, bias, stride=stride)


class Model(nn.Module):
    def __init__(self, channels: int = 4, bias: bool = False, stride: int = 1):
        super().__init__()
        conv = nn.Conv1d(channels, channels, 3, bias=bias)
        self.weight = nn.Parameter(conv.weight.clone())
        self.bias = nn.Parameter(conv.bias.clone()) if bias else None
        self.stride = stride

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias, [self.stride])


def get_inputs(batch_size: int = 4, channels: int = 4, length: int = 40):
    return [torch.randn(batch_size, channels, length)]


input_names = ["signal"]
