"""Rows of a table picked by token; on the way back, rows that were picked several times add up."""

import torch.nn.functional as F


def forward(indices, weight):
    return F.embedding(indices, weight)


def one_hot_product(indices, weight):
    picked = F.one_hot(indices, weight.shape[0]).float()
    return (picked @ weight.float()).to(weight.dtype)
