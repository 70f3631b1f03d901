# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNXProgram mixes up keyword arguments or dict items in another order"
# id = "XO001"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "keyword arguments, or a dict, of equal shapes, passed in another order than at export"
# topics = ["arguments"]
# cause = """
# ONNXProgram.__call__ flattens (args, kwargs) in the order of the call, and pairs the leaves with the inputs
# of the graph. It should first bring the keyword arguments, and the items of dicts, into the order of the
# example, as ep.module() does."""
# path = "onnx:program@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["guards", "mismatch", "served"],
#     ["guards", "mismatch", "accepted", "order"],
#     ["guards", "crash", "refused", "keyword-order"],
# ]
# trigger = ["input.keyword|input.dict"]
# runners = ["program", "plain"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/onnx/_internal/exporter/_onnx_program.py, _flatten_inputs: it keeps the order of the call"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The ONNXProgram that torch.onnx.export returns mixes up two keyword arguments, without an error.

It pairs the arguments with the inputs of the graph in the order of the call. It should first bring the
keyword arguments into the order of the example. The items of a dict are mixed up in the same way.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, scale, offset):
        return x * scale + offset


def make():
    return Model(), (torch.full((2,), 2.0),), {"scale": torch.full((2,), 3.0), "offset": torch.ones(2)}


def show():
    model, args, kwargs = make()
    program = torch.onnx.export(torch.export.export(model, args, kwargs), verbose=False)
    other_order = {"offset": kwargs["offset"], "scale": kwargs["scale"]}
    return model(*args, **other_order), program(*args, **other_order)[0]


def make_workaround():
    """Give the tensors by position."""
    return Model(), (torch.full((2,), 2.0), torch.full((2,), 3.0), torch.ones(2))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the ONNX program {got}")
    raise SystemExit(bug)
