"""Turns the dynamic shapes in a user's ``pyproject.toml`` into those that ``torch.export`` takes."""

from __future__ import annotations

from typing import Any

from torch.export import Dim

from exportdiff.interfaces.project_file import is_of_dimensions

HINTS = {"auto": "AUTO", "dynamic": "DYNAMIC", "static": "STATIC"}
"""What may stand for a size, and the attribute of ``Dim`` that it means."""


def to_torch(written: Any) -> Any:
    """Return the shapes: ``{"x": {"0": "batch"}}`` becomes ``{"x": {0: Dim("batch")}}``.

    One name is one dimension. Raises what ``torch.export.Dim`` raises, such as ValueError for wrong bounds.
    """
    return _shapes(written, {})


def _shapes(written: Any, named: dict[str, Any]) -> Any:
    if isinstance(written, list):
        return [_shapes(each, named) for each in written]
    if is_of_dimensions(written):
        return {int(number): _size(size, named) for number, size in written.items()}
    return {name: _shapes(each, named) for name, each in written.items()}


def _size(size: Any, named: dict[str, Any]) -> Any:
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        if size in HINTS:
            return getattr(Dim, HINTS[size])
        size = {"name": size}
    bounds = {key: size[key] for key in ("min", "max") if key in size}
    return named.setdefault(size["name"], Dim(size["name"], **bounds))
