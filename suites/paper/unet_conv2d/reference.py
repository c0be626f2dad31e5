"""A 3x3 convolution with bias, as in every block of a U-Net."""

import torch.nn.functional as F


def forward(x, weight, bias, stride, padding):
    return F.conv2d(x, weight, bias, stride, padding)


def product_of_patches(x, weight, bias, stride, padding):
    patches = F.unfold(x.float(), 3, stride=stride, padding=padding).transpose(1, 2)
    planes = (patches @ weight.float().flatten(1).T + bias.float()).transpose(1, 2)
    rows = (x.shape[2] + 2 * padding - 3) // stride + 1
    return planes.unflatten(2, (rows, -1)).contiguous().to(x.dtype)


def nine_shifts(x, weight, bias, stride, padding):
    """One 1x1 convolution per tap, added up in float32."""
    padded = F.pad(x.float(), (padding,) * 4)
    rows, columns = padded.shape[2] - 2, padded.shape[3] - 2
    total = bias.float().view(1, -1, 1, 1)
    for tap in range(9):
        row, column = divmod(tap, 3)
        shifted = padded[:, :, row : row + rows : stride, column : column + columns : stride]
        total = total + F.conv2d(shifted, weight[:, :, row, column, None, None].float())
    return total.to(x.dtype)
