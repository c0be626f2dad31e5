"""Linear layer without bias on a handful of rows, as when one token of each sequence is decoded."""

from torch.nn import functional as F


def forward(x, weight):
    return F.linear(x, weight)


def split_k(x, weight):
    pieces = zip(x.float().chunk(4, dim=1), weight.float().chunk(4, dim=1), strict=True)
    return sum(left @ right.T for left, right in pieces).to(x.dtype)


def row_by_row(x, weight):
    products = x.float()[:, None, :] * weight.float()
    return products.sum(-1).to(x.dtype)
