"""Digests of tensors: enough to compare two runs of a model operator by operator, and to print a value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

KEPT = 4096
"""Up to this number of elements, a digest has all values of a tensor; of larger ones, it has a sample."""
SAMPLE = 1024

_PLAIN = (torch.Tensor, torch.nn.Parameter)


@dataclass(frozen=True, eq=False)
class LoggedValue:
    """One tensor at one moment."""

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    digest: bytes
    """Of the bytes of all elements, in logical order."""
    sample: Any
    """A numpy array: all elements in logical order, or a sample in regular distances."""

    def equals(self, other: LoggedValue) -> bool:
        """Whether both have the same elements, to the bit."""
        return self.dtype == other.dtype and self.shape == other.shape and self.digest == other.digest

    def resembles(self, other: LoggedValue) -> bool:
        """Whether both differ at most by rounding, as far as their samples show."""
        if self.shape != other.shape:
            return False
        if self.digest == other.digest:
            return True
        ours, theirs = self._numbers(), other._numbers()
        finite = np.isfinite(ours)
        if not (finite == np.isfinite(theirs)).all():
            return False
        largest = float(np.abs(ours).max(where=finite, initial=0.0))
        apart = float(np.abs(ours - theirs).max(where=finite, initial=0.0))
        return apart <= _ROUNDING.get(self.dtype, 1e-5) * max(largest, 1e-6)

    def _numbers(self) -> Any:
        return self.sample.astype(np.complex128 if self.sample.dtype.kind == "c" else np.float64)

    def __str__(self) -> str:
        """Write the number, or dtype, shape and the first elements."""
        if self.sample.size == 1 and not self.shape:
            return _short(self.sample[0])
        first = ", ".join(map(_short, self.sample[:3])) + (", …" if self.sample.size > 3 else "")
        return f"{self.dtype}{list(self.shape)} [{first}]"


_ROUNDING = {"float64": 1e-9, "complex128": 1e-9, "bfloat16": 0.05, "float16": 0.01}
"""By dtype, the largest difference that counts as rounding, relative to the largest element."""


def _short(number: Any) -> str:
    return f"{number:.4g}" if number.dtype.kind in "fc" else str(number)


def in_words(eager: LoggedValue, here: LoggedValue) -> tuple[str, str]:
    """Write two values so that the difference can be seen: the elements that are furthest apart."""
    if (eager.dtype, eager.shape) != (here.dtype, here.shape):
        return str(eager), str(here)
    if eager.digest == here.digest:
        return f"{eager}, stride {list(eager.stride)}", f"{here}, stride {list(here.stride)}"
    ours, theirs = eager._numbers(), here._numbers()
    with np.errstate(all="ignore"):
        apart = np.abs(ours - theirs)
    apart = np.where(np.isnan(apart), np.where(np.isnan(ours) & np.isnan(theirs), 0.0, np.inf), apart)
    if not apart.size or not apart.max():
        return str(eager), str(here)
    at = int(np.argmax(apart))
    one, two = _short(eager.sample[at]), _short(here.sample[at])
    if one == two:
        one, two = str(eager.sample[at]), str(here.sample[at])
    return one, two


def read_value(tensor: torch.Tensor) -> LoggedValue | None:
    """Read a tensor; None for one without data, or of a class that torch does not know."""
    if type(tensor) not in _PLAIN or tensor.is_meta or tensor.layout is not torch.strided:
        return None
    try:
        with torch.no_grad():
            return _read(tensor)
    except RuntimeError:  # the data of a tensor of a functorch transform cannot be read
        return None


def _read(tensor: torch.Tensor) -> LoggedValue:
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().reshape(-1)
    dtype = str(plain.dtype).removeprefix("torch.")
    # The digest is of float32 for the types that numpy lacks: it holds each of their values exactly.
    if plain.dtype in _WITHOUT_NUMPY:
        plain = plain.float()
    array = np.from_dlpack(plain.contiguous())  # Tensor.numpy() would forbid to resize it
    step = 1 if array.size <= KEPT else array.size // SAMPLE
    return LoggedValue(
        dtype,
        tuple(tensor.shape),
        tuple(tensor.stride()),
        hashlib.blake2b(array.data, digest_size=8).digest(),
        array[::step].copy(),
    )


_WITHOUT_NUMPY = {
    dtype
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    if (dtype := getattr(torch, name, None)) is not None
}
