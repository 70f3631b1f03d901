# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge fails on a slice whose end is a number that the model reads from a tensor"
# id = "XE014"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "x[:length.item()], as models of audio and text cut what is padded"
# topics = ["dynamic-sizes"]
# cause = """
# torch.export has a rule of its own for the fake result of aten.slice, which does not ask whether the end is
# negative. to_edge replaces slice by slice_copy, which has no such rule: its fake result comes from the
# decomposition slice_forward, and this asks. slice_copy should use the rule of slice."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "GuardOnDataDependentSymNode"]]
# trigger = ["op.data"]
# upstream = "https://github.com/pytorch/executorch/issues/7998"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/_subclasses/fake_impls.py: slice_forward has the rule of slice.Tensor, not of slice_copy"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge raises GuardOnDataDependentSymNode: "Could not guard on data-dependent expression u6 < 0".

A model cuts its input to a length that it reads from a tensor. torch.export exports it, and
run_decompositions takes it, too. to_edge makes slice_copy of slice, and fake tensors have a rule for a
computed end for slice alone. They should use it for slice_copy as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, length):
        return x[: length.item()]


def make():
    return Model(), (torch.ones(5), torch.tensor(2))


def show():
    from executorch.exir import to_edge

    model, args = make()
    to_edge(torch.export.export(model, args))


def make_workaround():
    """Say that the length is between zero and the size, and take a narrow of the tensor."""

    class Narrow(Model):
        def forward(self, x, length):
            number = length.item()
            torch._check(number >= 0)
            torch._check(number <= x.shape[0])
            return x.narrow(0, 0, number)

    return Narrow(), (torch.ones(5), torch.tensor(2))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Could not guard on data-dependent expression" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.100}")
    print("ok: neither eager nor to_edge raises")
