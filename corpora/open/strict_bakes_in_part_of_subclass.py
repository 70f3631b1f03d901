# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD360"
# title = "torch.export(strict=True): a part of an input that is a tensor subclass becomes a fake constant"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a quantized or masked tensor as input, whose data or mask forward reads"
# topics = ["arguments", "constants", "quantization"]
# cause = """
# Dynamo makes a graph input of the part. `DynamoGraphTransformer.placeholder` does not know it as an
# argument, takes it for something that forward has captured, and makes a buffer of its fake tensor. It should
# read the part from the argument."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind", "fresh"]]
# fix = "strict_reads_parts_of_subclasses"
# upstream = "https://github.com/pytorch/pytorch/issues/142137"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/functional_export.py, DynamoGraphTransformer.placeholder: _captured_"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An input is a tensor subclass, and forward reads one of its tensors. The program does not read the input,
and returns a FakeTensor without data.

Dynamo makes a graph input of the part. `DynamoGraphTransformer.placeholder` does not know it as an argument,
takes it for something that forward has captured, and makes a buffer of its fake tensor. It should read the
part from the argument.
"""

import sys

import torch
from torch import nn


class Masked(torch.Tensor):
    """A tensor, and a mask of the elements that count."""

    @staticmethod
    def __new__(cls, whole, mask):
        return torch.Tensor._make_wrapper_subclass(cls, whole.shape, dtype=whole.dtype)

    def __init__(self, whole, mask):
        self.whole, self.mask = whole, mask

    def __tensor_flatten__(self):
        return ["whole", "mask"], None

    @staticmethod
    def __tensor_unflatten__(parts, meta, size, stride):
        return Masked(parts["whole"], parts["mask"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """Apply an operator to the whole. forward calls none."""
        masked = next(each for each in args if isinstance(each, Masked))
        out = func(*[each.whole if each is masked else each for each in args], **(kwargs or {}))
        return Masked(out, masked.mask) if isinstance(out, torch.Tensor) else out


class Model(nn.Module):
    def forward(self, x):
        return torch.where(x.mask, x.whole, 0)  # first difference


def make():
    return Model(), (Masked(torch.ones(2), torch.tensor([True, False])),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True).module()
    return type(model(*args)), type(program(*args))


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected is not got
    print(f"{'BUG' if bug else 'ok'}: eager returns a {expected.__name__}, the program a {got.__name__}")
    raise SystemExit(bug)
