# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "torchao==0.18.0"]
#
# [tool.exportdiff]
# title = "torchao: convert_pt2e runs an in-place update of a buffer, which changes the model's state"
# id = "XT001"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a model that counts its calls, or another in-place update by a constant"
# topics = ["buffers", "in-place", "quantization"]
# cause = """
# `ConstantFolder` runs each operator whose operands are constants. It takes buffers for constants, unless
# copy_ or put_ writes to them, and so runs `add_` on the buffer of the model. It asks `is_impure` after it
# has run the operator. It should leave alone what writes to its operands."""
# path = "torchao:unquantized@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["purity", "mismatch", "lower", "buffer", "value"],
#     ["outputs", "mismatch", "value", "fresh"],
#     ["outputs", "mismatch", "value", "output-is-buffer"],
# ]
# trigger = ["inplace.buffer|inplace.parameter|inplace.constant"]
# upstream = "https://github.com/pytorch/ao/issues/4138"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torchao/quantization/pt2e/constant_fold.py, ConstantFolder.run_node: runs add_ on a buffer"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""A model counts its calls. `convert_pt2e` counts one more, although nobody calls the model.

`ConstantFolder` runs each operator whose operands are constants. It takes buffers for constants, unless
copy_ or put_ writes to them, and so runs `add_` on the buffer of the model. It asks `is_impure` after it
has run the operator. It should leave alone what writes to its operands.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return x * 2


def make():
    return Model(), (torch.ones(2),)


def show():
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import X86InductorQuantizer

    model, args = make()
    prepared = prepare_pt2e(torch.export.export(model, args).module(), X86InductorQuantizer())
    expected = model.calls.clone()
    convert_pt2e(prepared)
    return expected, model.calls


def make_workaround():
    """Add a tensor that depends on the input: it is no constant."""

    class Counting(Model):
        def forward(self, x):
            self.calls.add_(torch.ones_like(x.sum()))
            return x * 2

    return Counting(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: before convert_pt2e the model has counted {expected}, after it {got}")
    raise SystemExit(bug)
