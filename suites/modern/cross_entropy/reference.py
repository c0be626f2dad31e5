"""Cross-entropy of a language model's logits: the mean over tokens, in float32 whatever the logits are in."""

import torch
import torch.nn.functional as F


def forward(logits, targets):
    wide = logits.float()
    chosen = wide.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (wide.logsumexp(-1) - chosen).mean()


def save(logits, targets):
    return logits.float().logsumexp(-1)


def library(logits, targets):
    return F.cross_entropy(logits.float(), targets)


def shifted_first(logits, targets):
    wide = logits.float()
    shifted = wide - wide.detach().amax(-1, keepdim=True)
    chosen = shifted.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (torch.log(shifted.exp().sum(-1)) - chosen).mean()
