"""One step of AdamW over many tensors: decoupled weight decay, both moments corrected for their start at zero."""

import torch


def forward(params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, weight_decay, step):
    for param, grad, exp_avg, exp_avg_sq in zip(params, grads, exp_avgs, exp_avg_sqs, strict=True):
        wide = grad.float()
        mean = beta1 * exp_avg.float() + (1 - beta1) * wide
        square = beta2 * exp_avg_sq.float() + (1 - beta2) * wide * wide
        direction = mean / (1 - beta1**step) / ((square / (1 - beta2**step)).sqrt() + eps)
        param.copy_(param.float() * (1 - lr * weight_decay) - lr * direction)
        exp_avg.copy_(mean)
        exp_avg_sq.copy_(square)


def corrected_late(params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, weight_decay, step):
    step_size, root = lr / (1 - beta1**step), (1 - beta2**step) ** 0.5
    for param, grad, exp_avg, exp_avg_sq in zip(params, grads, exp_avgs, exp_avg_sqs, strict=True):
        mean = torch.lerp(exp_avg.float(), grad.float(), 1 - beta1)
        square = (exp_avg_sq.float() * beta2).addcmul_(grad.float(), grad.float(), value=1 - beta2)
        decayed = param.float() * (1 - lr * weight_decay)
        param.copy_(decayed.addcdiv_(mean, square.sqrt() / root + eps, value=-step_size))
        exp_avg.copy_(mean)
        exp_avg_sq.copy_(square)


def fused(params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, weight_decay, step):
    steps = [torch.full((), float(step), dtype=torch.float32, device=param.device) for param in params]
    options = {"lr": lr, "beta1": beta1, "beta2": beta2, "eps": eps, "weight_decay": weight_decay}
    torch._fused_adamw_(params, grads, exp_avgs, exp_avg_sqs, [], steps, amsgrad=False, maximize=False, **options)
