"""Mixture-of-experts routing as in Mixtral: the k likeliest experts of each token, their weights adding up to one."""


def forward(logits, k):
    probabilities = logits.float().softmax(-1)
    weights, indices = probabilities.topk(k, dim=-1)
    return weights / weights.sum(-1, keepdim=True), indices


def scores(logits, k):
    return logits


def select_first(logits, k):
    best, indices = logits.float().topk(k, dim=-1)
    return best.softmax(-1), indices


def sort_all(logits, k):
    ordered, indices = logits.float().sort(dim=-1, descending=True)
    best = (ordered - ordered[:, :1]).exp()[:, :k]
    return best / best.sum(-1, keepdim=True), indices[:, :k]
