# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_executorch fails with XNNPACK if a batch norm gets computed statistics"
# id = "XE032"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "functional_call of a batch norm in eval mode, with a changed weight and a changed mean"
# topics = ["norms"]
# cause = """
# If one input of a delegate requires gradients, call_delegate_autograd makes all its floating point outputs
# require them. Here these are the weight of a batch norm, which has a gradient, and its mean, which has none:
# batch_norm refuses a mean that requires gradients. A lowered program computes no gradients, so the function
# should leave the outputs as they are, or to_executorch should run under torch.no_grad."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "lower", "RuntimeError", "pass_base.py:__call__"],
#   ["outputs", "crash", "lower", "RuntimeError",
#    "replace_view_ops_with_view_copy_ops_pass.py:call_operator", "pass_base.py:call_operator",
#    "pass_base.py:_fx"],
# ]
# trigger = ["idiom.functional_call"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/delegate.py, call_delegate_autograd: fake_requires_grad for each output"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_executorch raises "not differentiable with respect to argument 'running_mean'" after XNNPACK.

The model calls a batch norm with twice its weight and its mean. XNNPACK doubles both in one delegate. Since
the weight requires gradients, all results of the delegate do, also the mean. It should not.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(2)

    def forward(self, x):
        state = {"weight": self.norm.weight * 2, "running_mean": self.norm.running_mean * 2}
        return torch.func.functional_call(self.norm, state, (x,))


def make():
    return Model().eval(), (torch.ones(1, 2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    exported = torch.export.export(model, args)
    to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()


def make_workaround():
    """Use the weight and the bias after the normalization."""

    class Later(Model):
        def forward(self, x):
            norm = self.norm
            x = torch.nn.functional.batch_norm(x, norm.running_mean * 2, norm.running_var)
            return x * (norm.weight * 2) + norm.bias

    return Later().eval(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "is not differentiable with respect to argument" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_executorch raises {error!r:.100}")
    print("ok: neither eager nor to_executorch raises")
