# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_executorch fails with XNNPACK if an example input has the negative bit"
# id = "XE017"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an example input that is the imaginary part of a conjugate"
# topics = ["arguments", "views"]
# cause = """
# torch negates the imaginary part of a conjugate lazily: the tensor has the negative bit, and a dispatch key
# for it. A pass of to_executorch runs executorch_call_delegate on fake tensors, which have the key as well.
# This operator has no rule for it. It should negate the tensor first, as the operators of ATen do."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "NotImplementedError"]]
# trigger = ["input.negative"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "torch/_higher_order_ops/executorch_call_delegate.py: no rule for the dispatch key Negative"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_executorch raises NotImplementedError: "could not find kernel ... at dispatch key DispatchKey.Negative".

The example input is the imaginary part of a conjugate, which torch negates lazily. The operator that calls
XNNPACK has no rule for such a tensor. It should negate it first.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def make():
    return Model(), (torch.tensor([1j, 2j]).conj().imag,)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    exported = torch.export.export(model, args)
    to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()


def make_workaround():
    """Negate the example input at once."""
    return Model(), (torch.tensor([1j, 2j]).conj().imag.resolve_neg(),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NotImplementedError as error:
        if "Negative" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_executorch raises {error!r:.100}")
    print("ok: neither eager nor to_executorch raises")
