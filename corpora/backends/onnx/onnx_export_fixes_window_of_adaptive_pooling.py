# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: adaptive_avg_pool has the window of the example at every size"
# id = "XO032"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "AdaptiveAvgPool2d((7, 7)) of VGG, or pyramid pooling, with images of any size"
# topics = ["dynamic-sizes"]
# cause = """
# The decomposition of _adaptive_avg_pool2d asks whether the size is a multiple of the output size. If that is
# so for the example, it makes avg_pool2d with a window of numbers, and a guard. The conversion drops the
# guard. So for another size, the result has another shape. torch.onnx.export should refuse such a guard, or
# convert the operator in another way."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape"]]
# trigger = ["dynamic.*", "op.nn"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# torch/_decomp/decompositions.py, adaptive_avg_pool2d: a guard on the example's size; and
# torch/onnx/_internal/exporter/_fx_passes.py, decompose_with_registry, which drops it"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The model pools seven elements to two. The converted model returns three.

It was converted with an example of four elements. The decomposition of `adaptive_avg_pool1d` makes a pooling
with a window of two elements, which is right for four elements only.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.adaptive_avg_pool1d(x, 2)  # first difference


def make():
    return Model(), (torch.arange(4.0).view(1, 1, 4),)


def dynamic_shapes():
    return {"x": {2: torch.export.Dim("n", min=2)}}


def probes():
    return [((torch.arange(7.0).view(1, 1, 7),), {})]


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    longer = probes()[0][0]
    return model(*longer), torch.onnx.export(exported, verbose=False)(*longer)[0]


def make_workaround():
    """Average with a product: its matrix has the weight of each element in each window."""

    class WithProduct(torch.nn.Module):
        def forward(self, x):
            size, outputs = x.shape[2], 2
            at, window = torch.arange(size, device=x.device), torch.arange(outputs, device=x.device)[:, None]
            inside = (at >= window * size // outputs) & (at * outputs < (window + 1) * size)
            return x @ (inside / inside.sum(1, keepdim=True)).to(x.dtype).T

    return WithProduct(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
