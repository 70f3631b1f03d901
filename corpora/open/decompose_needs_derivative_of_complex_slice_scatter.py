# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD054"
# title = "run_decompositions: a write to a slice of a complex tensor raises if gradients are on"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "layers that compute in frequencies write the low ones to a slice: neural operators"
# topics = ["dtypes", "in-place"]
# cause = """
# Eager writes to the slice with `slice` and `copy_`; autograd supports both for complex tensors. The
# decomposed program has `slice_scatter` instead, which GRADIENT_IMPLEMENTED_FOR_COMPLEX in
# gen_variable_type.py does not list. It should: its formula is right for complex tensors."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "does not support automatic differentiation for outputs with",
#     ],
# ]
# trigger = ["op.complex", "inplace.item"]
# upstream = "https://github.com/pytorch/executorch/issues/5381"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "tools/autograd/gen_variable_type.py, GRADIENT_IMPLEMENTED_FOR_COMPLEX: lacks slice_scatter"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer of a Fourier neural operator writes the low frequencies to a slice. It runs in eager. The
decomposed program raises when it is called.

Eager writes to the slice with `slice` and `copy_`; autograd supports both for complex tensors. The decomposed
program has `slice_scatter` instead, which GRADIENT_IMPLEMENTED_FOR_COMPLEX in gen_variable_type.py does not
list. It should: its formula is right for complex tensors.
"""

import sys

import torch


class Spectral(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, dtype=torch.cfloat))

    def forward(self, x):
        low = torch.fft.rfft(x)[..., :2] * self.weight
        frequencies = torch.zeros(*x.shape[:-1], 5, dtype=torch.cfloat)
        frequencies[..., :2] = low
        return torch.fft.irfft(frequencies)


def make():
    return Spectral(), (torch.ones(1, 8),)


def show():
    model, args = make()
    module = torch.export.export(model, args).run_decompositions().module()
    module(*args)


def make_workaround():
    """Append zeros with torch.cat instead of writing to a part of a tensor."""

    class Appending(Spectral):
        def forward(self, x):
            low = torch.fft.rfft(x)[..., :2] * self.weight
            zeros = torch.zeros(*x.shape[:-1], 3, dtype=torch.cfloat)
            return torch.fft.irfft(torch.cat([low, zeros], -1))

    return Appending(), (torch.ones(1, 8),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager runs, the decomposed program raises {error!r:.100}")
    print("ok: the decomposed program runs")
