"""The tolerances of ``torch.testing.assert_close``: torch/testing/_comparison.py, _DTYPE_PRECISIONS."""

from __future__ import annotations

_RELATIVE_AND_ABSOLUTE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def default_tolerance(dtype: str, largest: float) -> float:
    """Return the tolerated difference of elements as large as ``largest``; 0 for whole numbers."""
    relative, absolute = _RELATIVE_AND_ABSOLUTE.get(dtype, (0.0, 0.0))
    return absolute + relative * largest
