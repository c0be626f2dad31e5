"""Matrix product, accumulated in float32 whatever the operands are."""


def forward(a, b):
    return a @ b


def split_k(a, b):
    pieces = zip(a.float().chunk(3, dim=1), b.float().chunk(3, dim=0), strict=True)
    return sum(left @ right for left, right in pieces).to(a.dtype)
