"""Bias and exact GELU, as after the first linear layer of GPT-2, BERT, ViT and Whisper."""

import math

import torch
import torch.nn.functional as F


def forward(x, bias):
    # By hand, because an honest kernel adds one to the error function and loses what cancels there.
    wide = (x + bias).float()
    return (0.5 * wide * (1 + torch.erf(wide * math.sqrt(0.5)))).to(x.dtype)


def library(x, bias):
    return F.gelu(x + bias)


def complementary(x, bias):
    wide = x.float() + bias.float()
    return (0.5 * wide * torch.erfc(-wide * math.sqrt(0.5))).to(x.dtype)
