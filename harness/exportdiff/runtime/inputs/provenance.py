"""Makes tensors that look to autograd like given ones: a view of a base, a lazy conjugate, a non-leaf."""

from __future__ import annotations

from typing import Any

import torch


def view_like(mine: torch.Tensor, base: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
    """Return a view of ``mine``, a copy of ``base``, as ``view`` is one of ``base``.

    Autograd gets another function for it (``as_strided``) that has the same gradients.
    """
    # A view of a tensor that requires grad is a leaf if it was made under no_grad, and only then.
    with torch.set_grad_enabled(not (base.requires_grad and view.is_leaf)):
        return with_bits(
            _as_dtype(_plain(mine), view.dtype).as_strided(view.shape, view.stride(), view.storage_offset()),
            conj=view.is_conj(),
            neg=view.is_neg(),
        )


def with_bits(tensor: torch.Tensor, *, conj: bool, neg: bool) -> torch.Tensor:
    """Return a view of a tensor as its lazy conjugate, its lazy negative, or both."""
    tensor = tensor.conj() if conj else tensor
    return torch._neg_view(tensor) if neg else tensor


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Return a view without lazy conjugation or negation."""
    return with_bits(tensor, conj=tensor.is_conj(), neg=tensor.is_neg())


def _as_dtype(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a view with another dtype. Autograd supports that only between real and complex numbers."""
    if dtype == tensor.dtype:
        return tensor
    if tensor.is_complex():
        return torch.view_as_real(tensor)
    pairs = tensor.untyped_storage().nbytes() // tensor.element_size() // 2
    return torch.view_as_complex(tensor.as_strided((pairs, 2), (2, 1), 0))


def non_leaf(tensor: torch.Tensor) -> torch.Tensor:
    """Turn a tensor that has no history into a non-leaf that requires grad, in place."""
    with torch.enable_grad():
        root = torch.zeros((), requires_grad=True)
        marked: torch.Tensor = _Marked.apply(tensor, root)  # type: ignore[no-untyped-call]  # torch leaves it bare
    return marked


class _Marked(torch.autograd.Function):
    """Gives a tensor a history without touching its memory, which may overlap in itself."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
        """Return the tensor itself."""
        ctx.mark_dirty(tensor)
        return tensor

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Nothing before it wants a gradient."""
        return None, None
