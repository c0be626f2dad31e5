"""Maximum over sliding windows of an image."""

import torch
import torch.nn.functional as F


def forward(x, kernel_size, stride, padding):
    return F.max_pool2d(x, kernel_size, stride, padding)


def save(x, kernel_size, stride, padding):
    return F.max_pool2d(x, kernel_size, stride, padding, return_indices=True)[1]


def backward(grad_y, indices, x, kernel_size, stride, padding):
    """The saved positions say which element of a window won, so that ties are nobody's choice."""
    planes = torch.zeros_like(x).flatten(2)
    return planes.scatter_add(2, indices.flatten(2), grad_y.flatten(2)).view_as(x)


def largest_in_patch(x, kernel_size, stride, padding):
    padded = F.pad(x, (padding,) * 4, value=-torch.inf)
    return padded.unfold(2, kernel_size, stride).unfold(3, kernel_size, stride).amax((-2, -1))


def backward_by_match(grad_y, indices, x, kernel_size, stride, padding):
    """Every pixel gathers from the windows that it won."""
    pixels = torch.arange(x[0, 0].numel(), device=x.device)
    won = indices.flatten(2).unsqueeze(-1) == pixels
    return (won * grad_y.flatten(2).unsqueeze(-1).float()).sum(2).to(x.dtype).view_as(x)
