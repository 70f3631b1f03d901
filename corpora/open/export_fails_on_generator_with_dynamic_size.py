# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD102"
# title = "torch.export: RuntimeError for torch.rand(shape, generator=...) of a dynamic shape"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "noise of the shape of an input whose batch is dynamic, where generator= is written out"
# topics = ["random", "dynamic-sizes"]
# cause = """
# With `generator=`, another overload of the operator is called. The fake kernel calls it on the meta device,
# for which it has no kernel that takes symbolic sizes: "SymIntArrayRef expected to contain only concrete
# integers"."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "export", "RuntimeError",
#         "fake_tensor.py:_cached_dispatch_impl", "fake_tensor.py:_dispatch_impl",
#         "fake_impls.py:constructors",
#     ],
# ]
# fix = "fake_random_tensors_need_no_generator"
# upstream = "https://github.com/pytorch/pytorch/issues/121897"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/fake_impls.py, constructors: calls func with its generator"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`torch.rand(x.shape, generator=None)` with a dynamic shape makes export raise RuntimeError. None is the
default.

With `generator=`, another overload of the operator is called. The fake kernel calls it on the meta device,
for which it has no kernel that takes symbolic sizes: "SymIntArrayRef expected to contain only concrete
integers".
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, generator=None):
        return x + torch.rand(x.shape, generator=generator)


def make():
    return Model(), (torch.ones(3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=2, max=64)}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Leave the argument generator out where there is none."""

    class Asking(Model):
        def forward(self, x, generator=None):
            if generator is None:
                return x + torch.rand(x.shape)
            return x + torch.rand(x.shape, generator=generator)

    return Asking(), (torch.ones(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "SymIntArrayRef expected" not in str(error):
            raise
        sys.exit("BUG: torch.export.export raises RuntimeError")
    print("ok: torch.export.export raises nothing")
