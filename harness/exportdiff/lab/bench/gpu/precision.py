"""The task that asks whether low precision stays within the bounds that its arithmetic implies.

Each model is one contraction: every element of its result is a sum of n products. Let M be the same sum with
absolute values. A kernel rounds its operands to the format of the multiplier (relative error at most u_in for
each), multiplies exactly, adds in float32 in some order (at most n * 2**-24 of M, to first order), and rounds
the result (u_out). So the error against float64 is at most about

    (2 * u_in + n * 2**-24 + u_out) * M

with the unit roundoffs 2**-11 for float16, 2**-8 for bfloat16, 2**-24 for float32, and 2**-11 for TF32,
which keeps 10 bits of the mantissa. float16 and bfloat16 operands are given in their format, so u_in is 0
there. Twice the bound is tolerated, for the terms of second order.

A path is compared only where eager keeps the bound: otherwise the kernel is to blame, not export.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from exportdiff.lab.bench.gpu.found import Difference, Ran, dropped

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Format:
    """One number format of a kernel."""

    name: str
    dtype: torch.dtype
    u_in: float
    u_out: float
    tf32: bool = False


FORMATS = (
    Format("float16", torch.float16, 0.0, 2.0**-11),
    Format("bfloat16", torch.bfloat16, 0.0, 2.0**-8),
    Format("TF32", torch.float32, 2.0**-11, 2.0**-24, tf32=True),
    Format("float32", torch.float32, 0.0, 2.0**-24),
)


@dataclass(frozen=True)
class Contraction:
    """One operator with two operands, and the number of products in each sum."""

    name: str
    function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    terms: int


CONTRACTIONS = (
    Contraction("linear", functional.linear, ((64, 256), (128, 256)), 256),
    Contraction("matmul", torch.matmul, ((96, 1024), (1024, 64)), 1024),
    Contraction("bmm", torch.bmm, ((4, 33, 65), (4, 65, 17)), 65),
    Contraction("conv1d", functional.conv1d, ((4, 16, 100), (32, 16, 5)), 80),
    Contraction("conv2d", functional.conv2d, ((2, 32, 28, 28), (64, 32, 3, 3)), 288),
    Contraction("conv_transpose2d", functional.conv_transpose2d, ((2, 32, 14, 14), (32, 16, 3, 3)), 288),
    Contraction("einsum", lambda a, b: torch.einsum("bij,bjk->bik", a, b), ((8, 40, 72), (8, 72, 24)), 72),
)
TASKS = len(FORMATS) * len(CONTRACTIONS)


class _Weighted(nn.Module):
    """The contraction of an input with a parameter."""

    def __init__(self, contraction: Contraction, weight: torch.Tensor) -> None:
        super().__init__()
        self._contraction = contraction
        self.weight = nn.Parameter(weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._contraction.function(x, self.weight)


def within_bounds(device: str, seed: int, index: int) -> Ran:
    """Compare one contraction in one format, on the ways that may run another kernel."""
    form, contraction = FORMATS[index % len(FORMATS)], CONTRACTIONS[index // len(FORMATS)]
    generator = torch.Generator().manual_seed(seed + index)
    x, weight = (
        torch.randn(shape, generator=generator).to(form.dtype).double() for shape in contraction.shapes
    )
    exact = contraction.function(x, weight)
    factor = 2 * form.u_in + contraction.terms * 2.0**-24 + form.u_out
    bound = 2 * factor * contraction.function(x.abs(), weight.abs())
    model = _Weighted(contraction, weight.to(form.dtype)).to(device)
    inputs = x.to(device, form.dtype)
    with _tf32(allowed=form.tf32):
        apart = (model(inputs).detach().cpu().double() - exact).abs()
        if bool((apart > bound).any()):
            return dropped(f"eager {contraction.name} in {form.name} leaves the bound")
        worst = {name: _excess(run, exact, bound) for name, run in _ways(model, inputs)}
    differences = tuple(
        Difference(
            f"{contraction.name}-{form.name}",
            f"{name}@{device}",
            "bound",
            f"error {excess:.2g} times what {form.name} allows",
            f"# {contraction} in {form}, seed {seed + index}\n",
        )
        for name, excess in worst.items()
        if excess > 1
    )
    return Ran(1, len(worst), differences=differences)


def _excess(run: Callable[[], torch.Tensor], exact: torch.Tensor, bound: torch.Tensor) -> float:
    apart = (run().detach().cpu().double() - exact).abs()
    return float((apart / bound.clamp_min(1e-300)).nan_to_num(nan=float("inf")).max())


def _ways(model: nn.Module, x: torch.Tensor) -> Iterator[tuple[str, Callable[[], torch.Tensor]]]:
    program = torch.export.export(model, (x,), strict=False)
    yield "nonstrict:module", lambda: program.module()(x)
    yield "nonstrict:unflatten", lambda: torch.export.unflatten(program)(x)
    yield "nonstrict+decompose:module", lambda: program.run_decompositions().module()(x)
    yield "compile:aot_eager", lambda: torch.compile(model, backend="aot_eager")(x)


@contextlib.contextmanager
def _tf32(*, allowed: bool) -> Iterator[None]:
    """Let float32 kernels use TF32 in the block, or forbid it."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    matmul.allow_tf32 = cudnn.allow_tf32 = allowed
    try:
        yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before
