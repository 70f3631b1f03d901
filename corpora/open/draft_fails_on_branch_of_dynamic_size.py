# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD064"
# title = "draft_export: InternalTorchDynamoError for torch.cond on a tensor of dynamic size"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "draft_export of any model with torch.cond and a dynamic size: raises"
# topics = ["control-flow", "dynamic-sizes"]
# cause = """
# Under draft_export, fake tensors carry real ones. To trace torch.cond, Dynamo makes the fake input fake
# again. `MetaConverter.meta_tensor` then makes a new real tensor with `torch.empty_strided` and the sizes of
# the fake one, which are symbolic. It should copy the real tensor that there is."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [["outputs", "crash", "export", "InternalTorchDynamoError", "fake_tensor.py:from_real_tensor"]]
# fix = "draft_export_copies_real_values_of_fake_tensors"
# upstream = "https://github.com/pytorch/pytorch/pull/131042"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/131042"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/meta_utils.py, MetaConverter.meta_tensor: r.real_tensor ="
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.export exports torch.cond on a tensor of dynamic size. draft_export, which should accept more,
raises.

Under draft_export, fake tensors carry real ones. To trace torch.cond, Dynamo makes the fake input fake again.
`MetaConverter.meta_tensor` then makes a new real tensor with `torch.empty_strided` and the sizes of the fake
one, which are symbolic. It should copy the real tensor that there is.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return ({0: torch.export.Dim.AUTO},)


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    torch.export.draft_export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Compute both branches, and choose with torch.where."""

    class Choosing(Model):
        def forward(self, x):
            return torch.where(x.sum() > 0, x.sin(), x.cos())

    return Choosing(), (torch.ones(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.InternalTorchDynamoError as error:
        sys.exit(f"BUG: export takes the model, draft_export raises {error!r:.100}")
    print("ok")
