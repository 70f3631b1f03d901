# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD341"
# title = "torch.export: AttributeError ('Tensor' has no attribute 'constant') for torch.func.jacfwd"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that computes its Jacobian with jacfwd, or maps jvp over a batch with vmap"
# topics = ["autograd", "vmap"]
# cause = """
# PreDispatchTorchFunctionMode disables functorch while it tracks the results of jvp. Inside vmap, such a
# result wraps a batched tensor, and snapshot_fake detaches this batched tensor. Because functorch is
# disabled, the fake tensor mode treats the batched tensor as a fake tensor."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AttributeError", "fake_tensor.py:_cached_dispatch_impl"]]
# fix = "jvp_inside_vmap_is_tracked"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, snapshot_fake: detaches a batched tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns the Jacobian that `torch.func.jacfwd` computes. Export raises AttributeError.

jacfwd maps jvp over the columns of an identity matrix with vmap. PreDispatchTorchFunctionMode disables
functorch while it tracks the results of jvp. Inside vmap, such a result wraps a batched tensor, and
snapshot_fake detaches this batched tensor. Because functorch is disabled, the fake tensor mode treats the
batched tensor as a fake tensor.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.func.jacfwd(torch.sin)(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


def make_workaround():
    """Call torch.func.jvp for one column after the other."""

    class Columns(nn.Module):
        def forward(self, x):
            columns = [torch.func.jvp(torch.sin, (x,), (each,))[1] for each in torch.eye(len(x))]
            return torch.stack(columns, dim=-1)

    return Columns(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, torch.export raises {error!r:.100}")
    print("ok: neither eager nor torch.export raises")
