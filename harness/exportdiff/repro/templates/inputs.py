"""Making models and inputs in repro files."""

from __future__ import annotations

from typing import Any

import torch

from exportdiff.repro.templates.stand_ins import (
    CHANGED,
    FIRST_PROBE,
    HAS_KWARGS,
    OF_PARTS,
    ON_DEVICE,
    PROBES,
    SEED,
    SIZES,
    make,
    when,
)
from exportdiff.repro.templates.stand_ins import probes as given_probes


def fresh() -> Any:
    """Make the same model and inputs every time."""
    if SEED:
        torch.manual_seed(0)
    with when(ON_DEVICE, torch.device("DEVICE")):
        return make()


def fresh_changed() -> Any:
    """Make the same changed model, and inputs, every time."""
    if SEED:
        torch.manual_seed(0)
    with when(ON_DEVICE, torch.device("DEVICE")):
        model, *given = make()
        return (CHANGED, *given)


def parts(t: Any) -> Any:
    """Return the plain tensors that a subclass, a jagged or a sparse tensor consists of."""
    if hasattr(t, "__tensor_flatten__"):
        inner = [getattr(t, name) for name in t.__tensor_flatten__()[0]]
        return [part for each in inner if hasattr(each, "dtype") for part in parts(each)]
    if t.layout == torch.sparse_coo:
        return [t._indices(), t._values()]
    return [t] if t.layout == torch.strided else [t.detach().values()]


def inputs(call: int) -> Any:
    """The example inputs; later calls get other values. Inputs that share memory still do."""
    if PROBES and call >= FIRST_PROBE:
        with when(ON_DEVICE, torch.device("DEVICE")):
            if SEED:
                torch.manual_seed(0)
            given = given_probes()[call - FIRST_PROBE]
            return given if HAS_KWARGS else given[0]
    _, args, kwargs = make()
    scale, shift = [(1, 0), (-0.5, 0.25), (0.75, -0.125)][call]
    tensors = [t for t in torch.utils._pytree.tree_leaves((args, kwargs)) if hasattr(t, "dtype")]
    if OF_PARTS:
        tensors = [part for t in tensors for part in parts(t)]
    whole = [t if t._base is None else t._base for t in tensors]
    for t in {t.untyped_storage()._cdata: t.detach() for t in whole}.values():
        flat = t.as_strided((t.untyped_storage().nbytes() // t.element_size(),), (1,), 0)
        if flat.is_floating_point() or flat.is_complex():
            flat.mul_(scale).add_(shift)
        elif flat.dtype == torch.bool and call:
            flat.logical_not_()
    return args, kwargs


def dynamic_shapes() -> Any:
    """The sizes that may vary."""
    return SIZES(*make())[0]


def probes() -> Any:
    """Inputs with other sizes."""
    return SIZES(*make())[1]
