"""Tensors, pytrees and module state as plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.autograd_history import has_history
from exportdiff.runtime.observing.containers import attributes
from exportdiff.runtime.observing.parts import (
    PLAIN,
    Parts,
    cannot_observe,
    has_pointer,
    parts_of,
    plain_parts,
    unreadable,
)
from exportdiff.runtime.observing.python_values import python_value
from exportdiff.runtime.observing.values import keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from exportdiff.core.tolerance import Tolerance
    from exportdiff.runtime.observing.values import Values

_HAS_NUMPY = {
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
}
_DTYPE_NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in _HAS_NUMPY}


Size = int | str
"""A number; or the expression of a symbolic size, such as ``s0 + 1``, in a fake tensor."""


@dataclass(frozen=True, eq=False)
class TensorSnapshot:
    """One tensor at one moment: metadata, and the values in logical order."""

    dtype: str
    shape: tuple[Size, ...]
    stride: tuple[Size, ...]
    offset: Size
    requires_grad: bool
    device: str
    values: Values | None
    """None when there is no data to read: a fake or meta tensor that leaked out, or one with parts."""
    type: str = "Tensor"
    """``Parameter`` and other names for a tensor that is not a plain one."""
    conj: bool = False
    """Whether it is a lazy conjugate of its memory."""
    neg: bool = False
    """Whether it is a lazy negative of its memory."""
    exact: Values | None = None
    """In eager, on demand: the values that float64 gives (judging/precision.py)."""
    tolerance: Tolerance | None = None
    """In eager, if the user says it: how far the values of a path may be from these (judging/granted.py)."""
    composed: Composed | None = None
    """The parts of a tensor that consists of others, such as a sparse one."""
    unreadable: str = ""
    """What kind of tensor this is, if exportdiff cannot read it."""
    leaf: bool = True
    """Whether it is a leaf for autograd: no operator with a gradient has computed it."""

    @property
    def has_values(self) -> bool:
        """Whether there is data to read, in the tensor or in its parts."""
        return self.values is not None or self.composed is not None

    def __str__(self) -> str:
        """Write dtype and shape."""
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True, eq=False)
class Composed:
    """The tensors that a tensor consists of."""

    of: str
    """The class, or the layout of a sparse tensor."""
    parts: Mapping[str, TensorSnapshot]
    context: str
    """What the class keeps besides tensors."""


def snapshot(tensor: torch.Tensor, *, values: bool = True) -> TensorSnapshot:
    """Copy a tensor as it is now. With ``values=False`` copy only the metadata.

    Raises CannotObserveError if the class of the tensor does not allow it.
    """
    try:
        return _snapshot(tensor, values)
    except Exception as error:
        raise cannot_observe(tensor, error) from error


def _snapshot(tensor: torch.Tensor, values: bool) -> TensorSnapshot:
    kind = unreadable(tensor)
    if kind and is_lazy(tensor):
        return TensorSnapshot(_dtype(tensor), (), (), 0, tensor.requires_grad, "", None, unreadable=kind)
    strided = tensor.layout is torch.strided and not (kind and tensor.is_nested)
    parts = parts_of(tensor) if values else None
    return TensorSnapshot(
        dtype=_dtype(tensor),
        shape=_shape(tensor, kind),
        stride=tuple(map(_size, tensor.stride())) if strided else (),
        offset=_size(tensor.storage_offset()) if strided else 0,
        requires_grad=tensor.requires_grad,
        device=tensor.device.type,
        values=_values(tensor) if values and strided and parts is None and not kind else None,
        type=_type(tensor),
        conj=tensor.is_conj(),
        neg=tensor.is_neg(),
        composed=None if parts is None else _composed(tensor, parts),
        unreadable=kind,
        leaf=not has_history(tensor),
    )


def _dtype(tensor: torch.Tensor) -> str:
    return _DTYPE_NAMES.get(tensor.dtype) or str(tensor.dtype).removeprefix("torch.")


def _shape(tensor: torch.Tensor, kind: str) -> tuple[Size, ...]:
    # A nested tensor with the layout strided has no shape.
    return () if kind and tensor.is_nested else tuple(map(_size, tensor.shape))


def _composed(tensor: torch.Tensor, parts: Parts) -> Composed:
    if tensor.layout is torch.sparse_coo and not tensor.is_coalesced():
        # The order of the elements of an uncoalesced tensor has no meaning, nor how often one occurs.
        parts = parts_of(tensor.detach().coalesce()) or parts
    inner = {name: snapshot(part) for name, part in parts.visible.items()}
    return Composed(parts.of, inner, _context(parts.context))


def _context(context: object) -> str:
    leaves, spec = pytree.tree_flatten(context)
    return "" if context is None else f"{list(map(python_value, leaves))} {spec}"


def _size(size: int | torch.SymInt) -> Size:
    """Return a size. A symbolic one becomes text: asking for its value would fix it."""
    if isinstance(size, int):
        return size
    if size.node.is_nested_int():  # its number differs between two runs
        return "ragged"
    known = size.node.maybe_as_int()
    return str(size) if known is None else int(known)


def _type(tensor: torch.Tensor) -> str:
    if isinstance(tensor, nn.Parameter) and parts_of(tensor) is not None:
        return "Parameter"
    barred = type(tensor) in PLAIN and tensor.layout is torch.strided and not has_pointer(tensor)
    return f"{type(tensor).__name__} whose data cannot be asked for" if barred else type(tensor).__name__


def _values(tensor: torch.Tensor) -> Values | None:
    if type(tensor) not in PLAIN or tensor.is_meta:
        return None
    plain = tensor.detach()
    if plain.dtype not in _HAS_NUMPY:
        # bfloat16 and the float8 types have no numpy twin; float32 holds each of their values exactly.
        plain = plain.float()
    if plain.device.type != "cpu":
        plain = plain.cpu()
    if plain.is_conj():
        plain = plain.resolve_conj()
    if plain.is_neg():
        plain = plain.resolve_neg()
    if plain.dim() > _NUMPY_DIMENSIONS:
        plain = plain.reshape(-1)
    # After Tensor.numpy(), the model could no longer resize its tensor.
    return keep(np.from_dlpack(plain if has_pointer(plain) else plain.clone()))


# numpy.org, "NumPy 2.0.0 Release Notes": an array has at most 64 dimensions. A tensor may have more, as a
# buffer that gains one in each call. Its values are kept in a row.
_NUMPY_DIMENSIONS = 64


@dataclass(frozen=True)
class Leaf:
    """One leaf of a pytree: a tensor, or a Python value as text."""

    where: str
    """Its place in the pytree: ``[0]['mask']``; empty if the leaf is the whole pytree."""
    value: TensorSnapshot | str
    role: str = "fresh"
    """For an output of eager: its role, such as ``output-is-input``."""


def argument(where: str) -> str:
    """Write a place in ``(args, kwargs)`` as users do: ``args[0]``, ``kwargs['mask']``."""
    if where.startswith("[0]"):
        return f"args{where[3:]}"
    return f"kwargs{where[3:]}"


@dataclass(frozen=True)
class Tree:
    """A pytree: its structure, container types included, and its leaves in order."""

    structure: str
    leaves: tuple[Leaf, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Of an output: the attributes of its containers that are no leaves, as text, by place."""


def tree_snapshot(tree: object, role: Callable[[torch.Tensor], str] | None = None) -> Tree:
    """Copy a pytree of tensors and Python values."""
    if isinstance(tree, torch.Tensor):  # the most frequent case, without pytree
        return Tree("*", (Leaf("", snapshot(tree), role(tree) if role else "fresh"),))
    flat, places, spec = flatten(tree)
    leaves = tuple(
        Leaf(where, leaf_snapshot(leaf), role(leaf) if role and isinstance(leaf, torch.Tensor) else "fresh")
        for where, leaf in zip(places, flat, strict=True)
    )
    return Tree(str(spec), leaves, attributes(tree))


def flatten(
    tree: object, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], tuple[str, ...], pytree.TreeSpec]:
    """Return the leaves of a pytree, their places (``[0]['mask']``), and its structure."""
    try:
        pairs, spec = pytree.tree_flatten_with_path(tree, is_leaf)
    except ValueError:  # some class is registered without names for its children
        leaves, spec = pytree.tree_flatten(tree, is_leaf)
        return leaves, tuple(f"[leaf {number}]" for number in range(len(leaves))), spec
    return [leaf for _, leaf in pairs], tuple(pytree.keystr(where) for where, _ in pairs), spec


def leaf_snapshot(leaf: object) -> TensorSnapshot | str:
    """Copy a tensor; return a Python value as text."""
    return snapshot(leaf) if isinstance(leaf, torch.Tensor) else python_value(leaf)


@dataclass(frozen=True)
class State:
    """The tensors of a module by name: parameters and buffers, and plain attributes."""

    tensors: Mapping[str, TensorSnapshot]
    constants: Mapping[str, TensorSnapshot]
    """Tensors that are plain attributes: export calls them constants."""
    same: tuple[frozenset[str], ...] = ()
    """Groups of names (constants included) of one tensor object; only groups of two and more."""
    shared: tuple[frozenset[str], ...] = ()
    """Groups of names of tensors in one storage; only groups of two and more."""
    torn: tuple[str, ...] = ()
    """Names in call variants (``foo@1.b``) that are another tensor object than the base name (``foo.b``)."""

    @property
    def names(self) -> frozenset[str]:
        """All names, constants included."""
        return frozenset(self.tensors) | frozenset(self.constants)


_VARIANT = re.compile(r"@\d+")


def named_state(module: nn.Module) -> Iterable[tuple[str, torch.Tensor]]:
    """All parameters and buffers under all their names."""
    for prefix, submodule in module.named_modules(remove_duplicate=False):
        dot = f"{prefix}." if prefix else ""
        for store in (submodule._parameters, submodule._buffers):
            for name, tensor in store.items():
                if tensor is not None:
                    yield dot + name, tensor


def named_constants(module: nn.Module) -> Iterable[tuple[str, torch.Tensor]]:
    """All tensors that are plain attributes, under all their names."""
    for prefix, submodule in module.named_modules(remove_duplicate=False):
        for name, value in submodule.__dict__.items():
            if isinstance(value, torch.Tensor):
                yield f"{prefix}.{name}" if prefix else name, value


def state_snapshot(module: nn.Module, *, identity: bool = True) -> State:
    """Copy a module's state. A call variant of unflatten (``foo@1.b``) counts as its base name (``foo.b``).

    Without ``identity`` the groups of names stay empty.
    """
    tensors: dict[str, TensorSnapshot] = {}
    seen: dict[int, TensorSnapshot] = {}
    live, torn = live_state(module)
    for name, tensor in live.items():
        if (copied := seen.get(id(tensor))) is None:
            copied = seen[id(tensor)] = snapshot(tensor)
        tensors[name] = copied
    constants: dict[str, TensorSnapshot] = {}
    for name, tensor in named_constants(module):
        if (copied := seen.get(id(tensor))) is None:
            copied = seen[id(tensor)] = snapshot(tensor)
        constants[name] = copied
        live.setdefault(name, tensor)
    if not identity:
        return State(tensors, constants, torn=torn)
    return State(
        tensors,
        constants,
        same=partition(live, id),
        shared=partition(live, storage_id),
        torn=torn,
    )


def live_state(module: nn.Module) -> tuple[dict[str, torch.Tensor], tuple[str, ...]]:
    """Return parameters and buffers by name, and the names in call variants that have another tensor.

    A call variant of unflatten (``foo@1.b``) counts as its base name (``foo.b``).
    """
    live: dict[str, torch.Tensor] = {}
    torn: list[str] = []
    variants: list[tuple[str, torch.Tensor]] = []
    for name, tensor in named_state(module):
        if "@" in name:
            variants.append((name, tensor))
        else:
            live[name] = tensor
    for name, tensor in variants:
        # Where the base name is missing, its variant takes its place.
        if live.setdefault(_VARIANT.sub("", name), tensor) is not tensor:
            torn.append(name)
    return live, tuple(torn)


def partition(
    live: Mapping[str, torch.Tensor], key: Callable[[torch.Tensor], int]
) -> tuple[frozenset[str], ...]:
    """Group names by a key of their tensors; groups of one are left out."""
    groups: dict[int, list[str]] = {}
    for name, tensor in live.items():
        groups.setdefault(key(tensor), []).append(name)
    return tuple(frozenset(names) for names in groups.values() if len(names) > 1)


def storage_id(tensor: torch.Tensor) -> int:
    """Return a number that is the same for tensors in one storage, as long as they live.

    A tensor that consists of others is where the first of them is.
    """
    try:
        part = next(plain_parts(tensor), tensor)
        memory = memory_of(part)
    except Exception as error:
        raise cannot_observe(tensor, error) from error
    return id(part) if memory is None else int(memory._cdata)


def memory_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """Return the storage of a tensor without parts; None if it has none."""
    if tensor.layout is not torch.strided or tensor.is_nested or is_lazy(tensor):
        return None
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        # Export may leave a wrapper of a functorch transform in a program. It has no memory.
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor.untyped_storage()
