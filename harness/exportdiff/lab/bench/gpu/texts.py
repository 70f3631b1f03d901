"""Programs as text: changes of a drawn program, and models in which the device matters."""

from __future__ import annotations

from exportdiff.core.programs import program_source

_SUBCLASS = "dtype=first.dtype, requires_grad=first.requires_grad"
"""How the tensor subclass of drawn programs is made: its device is the CPU, wherever its parts are."""


def drawn(seed: int, index: int) -> tuple[str, tuple[str, ...]]:
    """Draw a program that fits any device; return its source and its tags."""
    source, tags = program_source(seed, index)
    return source.replace(_SUBCLASS, f"device=first.device,\n            {_SUBCLASS}"), tags


ON_TWO_DEVICES = '''

def _moved(tree, device):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.to(device), tree)


class OnTwoDevices(nn.Module):
    """The program above on one device, and a parameter on the CPU."""

    def __init__(self, inner):
        super().__init__()
        with torch.backends.cudnn.flags(enabled=False):  # cuDNN puts the weights of an RNN into one memory
            self.inner = inner.to("DEVICE")
        self.scale = nn.Parameter(torch.full((1,), 0.5))

    def forward(self, *args, **kwargs):
        args, kwargs = _moved((args, kwargs), "DEVICE")
        result = _moved(self.inner(*args, **kwargs), "cpu")
        return result, self.scale.to("DEVICE").cpu() * 2


_inner = make


def make():
    model, *given = _inner()
    return OnTwoDevices(model), *given
'''

LOW_PRECISION = """

def _cast(tree):
    return torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: t.to(torch.DTYPE) if t.is_floating_point() else t, tree
    )


_full = make


def make():
    model, *given = _full()
    return model.to(torch.DTYPE), *_cast(given)


if "probes" in globals():
    _full_probes = probes

    def probes():
        return _cast(_full_probes())
"""

UNDER_AUTOCAST = '''

class UnderAutocast(nn.Module):
    """The program above in an autocast region."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args, **kwargs):
        with torch.autocast("DEVICE", dtype=torch.bfloat16):
            return self.inner(*args, **kwargs)


_inner = make


def make():
    model, *given = _inner()
    return UnderAutocast(model), *given
'''

_HEAD = """import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
"""

BOTH_DEVICES: tuple[str, ...] = tuple(
    f"{_HEAD}{body}"
    for body in (
        """    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4, device="DEVICE")
        self.later = nn.Linear(4, 2)

    def forward(self, x, y):
        return self.later(self.first(x).cpu() + y)


def make():
    return Model(), (torch.ones(2, 3, device="DEVICE"), torch.ones(2, 4))
""",
        """    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.later = nn.Linear(3, 3, device="DEVICE")
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x, y):
        self.count.add_(y.sum().to(self.count.device))
        return self.later(self.first(x).to(y.device) * y), self.count + 1


def make():
    return Model(), (torch.ones(2, 3), torch.ones(3, device="DEVICE"))
""",
        """    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.layer = nn.LSTM(3, 2, batch_first=True, device="DEVICE")

    def forward(self, where, x):
        found = self.table(where).to(x.device, non_blocking=True)
        out, (h, c) = self.layer(found + x)
        return {"out": out, "h": h.cpu(), "c": c}


def make():
    return Model(), (torch.tensor([[0, 4], [1, 2]]), torch.ones(2, 2, 3, device="DEVICE"))
""",
        """    def forward(self, x, y):
        mask = torch.arange(3, device=x.device) > 0
        scale = torch.tensor(2.0)
        return torch.where(mask, x * scale, 0), y[mask.cpu()], x.new_zeros(2), torch.zeros_like(y)


def make():
    return Model(), (torch.ones(2, 3, device="DEVICE"), torch.ones(3))
""",
        """    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.late = nn.BatchNorm1d(3, device="DEVICE")

    def forward(self, x, y):
        x.add_(1)
        for step in range(2):
            y = self.late(self.layer(x).to(y.device) + y)
        return y, x


def make():
    return Model(), (torch.ones(2, 3), torch.ones(2, 3, device="DEVICE"))
""",
    )
)
"""Models with parameters and inputs on two devices."""

_ATOMIC = """    def forward(self, x, where):
        {statement}


def make():
    torch.manual_seed(0)
    return Model(), (torch.randn(100_000), torch.randint(0, 7, (100_000,)))
"""

UNSTEADY: tuple[str, ...] = tuple(
    _HEAD + _ATOMIC.format(statement=statement)
    for statement in (
        "return torch.zeros(7, device=x.device).index_add(0, where, x)",
        "return torch.zeros(7, device=x.device).scatter_add(0, where, x)",
        "return torch.zeros(7, device=x.device).index_put((where,), x, accumulate=True)",
        "return torch.zeros(7, device=x.device).scatter_reduce(0, where, x, 'sum')",
        "return torch.zeros(7, device=x.device).scatter_reduce(0, where, x, 'mean')",
        "return torch.cumsum(x, 0)",
        "return torch.bincount(where, weights=x)",
        "return torch.histc(x, 10)",
        "return F.embedding(where, x[:70].view(7, 10)).sum()",
        "return x[:7][where].cos().sum()",
        "return F.interpolate(x.view(1, 10, 100, 100), scale_factor=1.5, mode='bilinear').sum()",
        "return F.max_pool2d(x.view(1, 10, 100, 100), 3, 1).sum()",
        "return F.adaptive_avg_pool2d(x.view(1, 10, 100, 100), 7)",
        "return torch.gather(x, 0, where), torch.take_along_dim(x, where, 0)",
        "return F.grid_sample(x.view(1, 10, 100, 100), x[:200].view(1, 10, 10, 2), align_corners=False)",
        "return x.view(-1, 100).median(0), x.kthvalue(5)",
    )
)
"""Operators whose CUDA kernels, or those of their gradients, may add in any order."""
