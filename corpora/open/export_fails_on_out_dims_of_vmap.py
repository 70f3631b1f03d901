# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD386"
# title = "torch.export: RuntimeError about a fake tensor for torch.vmap with out_dims=1"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "torch.vmap that stacks the results in another dimension than the first"
# topics = ["vmap"]
# cause = """
# Export records `_remove_batch_dim`, the end of vmap, and then calls it, to get its result. With out_dims=1,
# this call moves a dimension with permute. The mode of export sees this operator, too. It knows no proxy of
# the tensor that permute reads, and takes it for a constant. It should record nothing during the call."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "We found fake tensor in the exported program"],
# ]
# fix = "end_of_vmap_is_one_operator"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: records permute"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model maps a function with torch.vmap, and stacks the results in dimension 1. Eager runs; export raises
RuntimeError: We found a fake tensor.

Export records `_remove_batch_dim`, the end of vmap, and then calls it, to get its result. With out_dims=1,
this call moves a dimension with permute. The mode of export sees this operator, too. It knows no proxy of the
tensor that permute reads, and takes it for a constant. It should record nothing during the call.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.vmap(torch.sin, out_dims=1)(x)


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Stack the results in the first dimension, and move it afterwards."""

    class Moving(Model):
        def forward(self, x):
            return torch.vmap(torch.sin)(x).movedim(0, 1)

    return Moving(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "found a fake tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
