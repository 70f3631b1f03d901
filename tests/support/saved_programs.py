"""A model in a file, and programs that were exported from it and saved."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import torch

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.norm = nn.LayerNorm(4)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, *, scale=2):
        self.calls.add_(1)
        y = self.drop(self.norm(self.fc(x)))
        return {"y": torch.relu(y) * scale, "calls": self.calls + 0}


class Changed(Net):
    def forward(self, x, *, scale=2):
        made = super().forward(x, scale=scale)
        return {**made, "y": made["y"] + 1}


def made(kind=Net, seed=None):
    if seed is not None:
        torch.manual_seed(seed)
    return kind().eval(), (torch.randn(5, 3),), {"scale": 3}


def make():
    return made()


def seeded():
    return made(seed=0)


def changed():
    return made(Changed, seed=0)


def larger():
    model, args, kwargs = made(seed=0)
    model.head = nn.Linear(4, 4)
    return model, args, kwargs
"""


def write_programs(folder: pathlib.Path) -> None:
    """Write the file of the model, and the programs."""
    (folder / "net.py").write_text(MODEL)
    made: Any = runpy.run_path(str(folder / "net.py"))["made"]
    dynamic = {"x": {0: torch.export.Dim("batch")}, "scale": None}
    for name, seed, trains, shapes in (
        ("right", 0, False, dynamic),
        ("other_weights", 1, False, dynamic),
        ("trains", 0, True, dynamic),
        ("fixed", 0, False, None),
    ):
        with torch.random.fork_rng():
            model, args, kwargs = made(seed=seed)
        program = torch.export.export(model.train(trains), args, kwargs, dynamic_shapes=shapes, strict=False)
        torch.export.save(program, folder / f"{name}.pt2")
        if name == "right":
            torch.export.save(program.run_decompositions(), folder / "decomposed.pt2")
