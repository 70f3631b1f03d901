# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: uses a complex buffer in place of another one that is its conjugate"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["state", "mismatch", "value", "buffer", "at-start"],
#   ["sharing", "mismatch", "several-tensors-became-one"],
# ]
# # A copy of a lazy conjugate is none: Tensor.__deepcopy__ computes it, in memory of its own.
# unmasked = [
#   ["sharing", "mismatch", "memory-no-longer-shared"],
#   ["state", "mismatch", "conj-bit", "buffer", "at-start"],
# ]
# fix = "unflatten_tells_parameters_from_their_views"
# upstream = "https://github.com/pytorch/pytorch/pull/125758"
# upstream-match = "place"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, _id: no dtype and no bits in _TensorID"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`back` is the conjugate of `turn`, so that multiplying by both gives 1. Unflattened, the model multiplies
by `turn` twice: -1.

conj() sets a bit and keeps memory, sizes and strides. unflatten identifies tensors by memory, sizes, strides
and offset (`_TensorID`), so that the two are one. It should also compare the dtype and the conjugate and
negative bits.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * self.turn * self.back


def make():
    model = Model()
    model.register_buffer("turn", torch.tensor([1j]))
    model.register_buffer("back", model.turn.conj())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


def make_workaround():
    """Resolve the conjugation before registering the buffer."""
    model = Model()
    model.register_buffer("turn", torch.tensor([1j]))
    model.register_buffer("back", model.turn.conj().resolve_conj())
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
