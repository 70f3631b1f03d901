"""Models that several files of faults share."""

from __future__ import annotations

INPUT_IN_PLACE = """
class Model(nn.Module):
    def forward(self, x):
        total = x.sum()
        x.mul_(0.5)
        return total
"""

TIED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.two = nn.Linear(3, 3)
        self.two.weight = self.one.weight

    def forward(self, x):
        return self.two(self.one(x))
"""

TWO_NAMES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.ones(3))
        self.register_buffer("two", self.one)

    def forward(self, x):
        return x * self.one + self.two
"""

SIZE = """
class Model(nn.Module):
    def forward(self, x):
        return x * x.shape[0]


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def probes():
    return [((torch.ones(6, 3),), {})]
"""

FLAG = """
class Model(nn.Module):
    def forward(self, x, flag):
        return x * 2 if flag else x + 2


def make():
    return Model(), (torch.full((2, 3), 0.5), True)
"""
