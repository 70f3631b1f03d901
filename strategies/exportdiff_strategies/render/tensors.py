"""Tensors that hold given values in a given memory layout, as Python source."""

from __future__ import annotations

from dataclasses import replace

from exportdiff_strategies import program as ir
from exportdiff_strategies.types import numel


def _fill(fill: ir.Fill) -> str:
    sizes = ", ".join(map(str, fill.shape))
    dtype = "" if fill.dtype == "float32" else f", dtype=torch.{fill.dtype}"
    low: object = fill.low
    if fill.dtype in ("int64", "int32"):
        low = int(fill.low)
    elif fill.dtype == "bool":
        low = bool(fill.low)
    if fill.high is None:
        if not fill.shape:
            return f"torch.tensor({low}{dtype})"
        if fill.low in (0.0, 1.0):
            return f"torch.{'ones' if fill.low else 'zeros'}({sizes}{dtype})"
        return f"torch.full(({sizes},), {low}{dtype})"
    if fill.dtype in ("int64", "int32", "bool"):
        row = f"torch.arange({numel(fill.shape)}) % 3"
        row = f"({row}).to(torch.{fill.dtype})" if fill.dtype != "int64" else f"({row})"
    else:
        row = f"torch.linspace({fill.low}, {fill.high}, {numel(fill.shape)}{dtype})"
    return row if len(fill.shape) == 1 else f"{row}.view({sizes or '()'})"


def tensor(fill: ir.Fill, layout: str, scale: str = "") -> str:
    """A tensor in a memory layout; ``scale`` is appended to the tensor that the layout is made from."""
    shape = fill.shape
    whole, part = {
        "": (shape, "{0}"),
        "transposed": (shape[::-1], "{0}.t()"),
        "sliced": ((*shape[:-1], 2 * shape[-1]) if shape else (), "{0}[..., ::2]"),
        "offset": ((shape[0] + 1, *shape[1:]) if shape else (), "{0}[1:]"),
        "expanded": ((1, *shape[1:]), f"{{0}}.expand({', '.join(map(str, shape))})"),
        "windows": ((sum(shape) - 1,), f"{{0}}.unfold(0, {shape[-1] if shape else 0}, 1)"),
        "real": (shape, "{0}.real"),
        "negative": (shape, "({0} * 1j).conj().imag"),
        "conjugate": (shape, "({0} * 1j).conj()"),
    }[layout]
    dtype = "complex64" if layout in ("real", "negative") else fill.dtype
    text = _fill(replace(fill, shape=whole, dtype=dtype)) + scale
    return part.format(f"({text})" if " * " in scale and part != "{0}" else text)
