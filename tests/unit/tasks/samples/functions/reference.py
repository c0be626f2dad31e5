import sys

import torch
from torch import nn

sys.stdout.write("a file may talk while it is imported\n")


def softmax(x, dim=-1):
    return torch.softmax(x, dim)


def scaled(x, weight, eps: float, bias=None):
    y = x * weight / (x.float().square().mean(-1, keepdim=True) + eps).sqrt()
    return y if bias is None else y + bias


def embed(table, index):
    return table[index]


def root(x):
    return x.sqrt()


def add_in_place(x, y):
    x.add_(y)
    return x


def looks_at_data(x):
    return x * x.sum().item()


def nothing(x):
    return x.shape[0]


def named(x):
    return {"y": x + 1}


def fails(x):
    raise KeyError("no such thing")


def sleeps(x):
    import time

    time.sleep(600)


def leaves(x):
    import os

    os._exit(3)


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.linear = nn.Linear(width, 3)
        self.register_buffer("table", torch.arange(3.0))

    def forward(self, x):
        return torch.relu(self.linear(x)) + self.table


class Upcasting(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(16))

    def forward(self, x):
        return x.float() * self.weight


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8, bias=False)
        self.second = nn.Linear(8, 8, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


class Demanding(nn.Module):
    def __init__(self, width):
        super().__init__()


instance = Net()


def in_eight_bits(x):
    return x.clamp(-448, 448).to(torch.float8_e4m3fn)


def product(a, b):
    return a @ b
