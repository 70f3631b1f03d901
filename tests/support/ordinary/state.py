"""Models that keep state, or use what Python and autograd offer around operators."""

# To mypy, a buffer is a tensor or a module, and what a layer returns is anything.
# mypy: disable-error-code="no-any-return, operator, index, arg-type, no-untyped-call, union-attr"

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from support.ordinary.table import ordinary


def rows() -> tuple[Tensor]:
    return (torch.randn(4, 3),)


@ordinary(rows, train=True)
class MovingAverage(nn.Module):
    mean: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            with torch.no_grad():
                self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.mean


@ordinary(rows)
class MovingAverageAtRest(MovingAverage):
    pass


@ordinary(rows, train=True)
class AssignedAverage(MovingAverage):
    def forward(self, x: Tensor) -> Tensor:
        self.mean = torch.lerp(self.mean, x.mean(0).detach(), 0.1)
        return x - self.mean


@ordinary(rows)
class Counter(nn.Module):
    steps: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x: Tensor) -> Tensor:
        self.steps += 1
        return x * self.steps


@ordinary(rows, train=True)
class BatchNormInTraining(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.BatchNorm1d(3), nn.Linear(3, 2), nn.BatchNorm1d(2))


@ordinary(lambda: (torch.randn(1, 2, 1, 4), torch.tensor([3])))
class StaticCache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 2, 8, 4))
        self.register_buffer("values", torch.zeros(1, 2, 8, 4))

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        self.keys.index_copy_(2, position, x)
        self.values[:, :, position] = x * 2
        mask = torch.arange(8) <= position
        return functional.scaled_dot_product_attention(x, self.keys, self.values, attn_mask=mask)


@ordinary(rows, train=True)
class Codebook(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("codes", torch.randn(5, 3))
        self.register_buffer("counts", torch.ones(5))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        chosen = torch.cdist(x, self.codes).argmin(1)
        one_hot = functional.one_hot(chosen, 5).to(x.dtype)
        with torch.no_grad():
            self.counts.lerp_(one_hot.sum(0), 0.1)
            self.codes.lerp_(one_hot.T @ x / self.counts[:, None], 0.1)
        return x + (self.codes[chosen] - x).detach(), chosen


@ordinary(rows, train=True)
class Queue(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("queue", torch.randn(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        logits = x @ self.queue.clone().detach().T
        self.queue.copy_(torch.cat([x.detach(), self.queue[:4]]))
        return logits


@ordinary(rows, train=True)
class Teacher(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.student, self.teacher = nn.Linear(3, 2), nn.Linear(3, 2).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            target = self.teacher(x)
        return functional.mse_loss(self.student(x), target)


@ordinary(rows)
class ForwardHooks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.linear.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        self.linear.register_forward_hook(lambda module, args, output: output + args[0])

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)


@ordinary(rows)
class GradientsOfFeatures(nn.Module):
    """Class activation maps: the hook stores a gradient for a later reader, and changes none."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Linear(3, 3), nn.Linear(3, 2)
        self.gradients: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        features = self.conv(x)
        if features.requires_grad:
            features.register_hook(self.gradients.append)
        return self.head(features)


@ordinary(rows)
class ReproducibleInitialNoise(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        torch.manual_seed(0)
        return self.linear(x)


@ordinary(rows, train=True)
class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = checkpoint(self.block, x, use_reentrant=False)
        return result


class _Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.round()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


@ordinary(rows)
class StraightThrough(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rounded: Tensor = _Rounded.apply(x * 2)
        return rounded / 2


@ordinary(rows)
class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() + 1, (x,))
        return result


@ordinary(lambda: (torch.randn(5, 3), torch.zeros(3)))
class Scanning(nn.Module):
    def forward(self, xs: Tensor, start: Tensor) -> Any:
        from torch._higher_order_ops.scan import scan

        return scan(lambda carry, x: (carry + x, carry * x), start, xs)


@ordinary(rows)
class InBrainFloat(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
        return y.float() + x


@ordinary(rows, train=True)
class CosineClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.weight = nn.Parameter(torch.randn(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * functional.linear(functional.normalize(x), functional.normalize(self.weight))


@ordinary(rows)
class WritesToItsInput(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x.clamp_(-1, 1)
        return x * 2


@ordinary(rows)
class WritesToACopy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        y[:, 0] = 0
        y.t_().relu_()
        return y


@ordinary(rows)
class NoiseOfTheDefaultGenerator(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand(3, generator=torch.default_generator)
