# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "torchao==0.18.0"]
#
# [tool.exportdiff]
# title = "torchao: convert_pt2e draws from the global random number generator"
# id = "XT002"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a seed set before a model is converted, and random numbers drawn after it"
# topics = ["random", "quantization"]
# cause = """
# `_fold_conv_bn_qat` makes the example inputs of its patterns with `torch.randn`, before it asks whether
# the model has a batch norm. It should make them of zeros, or leave the generator as it was."""
# path = "torchao:unquantized@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "lower", "rng"]]
# undetected-because = "the path restores the generator: every model would show this bug"
# trigger = ["op.map"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torchao/quantization/pt2e/qat_utils.py, _fold_conv_bn_qat: torch.randn for example inputs"
# workaround = "none: put torch.random.fork_rng() around the call of convert_pt2e"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""After `convert_pt2e`, random numbers are others than without it.

`_fold_conv_bn_qat` makes the example inputs of its patterns with `torch.randn`, before it asks whether the
model has a batch norm. It should make them of zeros, or leave the generator as it was.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def make():
    return Model(), (torch.ones(2),)


def show():
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import X86InductorQuantizer

    prepared = prepare_pt2e(torch.export.export(*make()).module(), X86InductorQuantizer())
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    convert_pt2e(prepared)
    return expected, torch.rand(2)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the seed gives {expected}, after convert_pt2e it gives {got}")
    raise SystemExit(bug)
