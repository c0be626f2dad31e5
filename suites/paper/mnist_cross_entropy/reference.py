"""Cross-entropy of class scores against labels, averaged over the batch, in float32."""

import torch
import torch.nn.functional as F


def forward(predictions, targets):
    wide = predictions.float()
    chosen = wide.gather(1, targets.unsqueeze(1)).squeeze(1)
    return (torch.logsumexp(wide, 1) - chosen).mean()


def save(predictions, targets):
    return torch.logsumexp(predictions.float(), 1)


def shifted_by_maximum(predictions, targets):
    wide = predictions.float()
    shifted = wide - wide.detach().amax(1, keepdim=True)
    chosen = F.one_hot(targets, wide.shape[1]) * shifted
    return (shifted.exp().sum(1).log() - chosen.sum(1)).sum() / len(targets)


def library(predictions, targets):
    return F.cross_entropy(predictions.float(), targets)
