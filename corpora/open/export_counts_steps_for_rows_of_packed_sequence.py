# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD080"
# title = "torch.export: the mean of a packed sequence divides by the padded number of steps"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a mean or a loss over the rows of a packed sequence; recurrent layers raise instead"
# topics = ["recurrent"]
# cause = """
# The number of rows is the sum of the lengths, which depends on data. The fake implementation of
# `_pack_padded_sequence` returns the padded length in its place. It should return an unbacked size."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "packed_sequences_have_unbacked_sizes"
# upstream = "https://github.com/pytorch/pytorch/issues/171978"
# upstream-match = "mechanism"
# at-fault = "torch/_subclasses/fake_impls.py, _pack_padded_sequence: res_size; dtype, device of batch_size"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two sequences of 3 steps and 1 step are packed into 4 rows. The program divides their sum by 3 instead of
4.

The number of rows is the sum of the lengths, which depends on data. The fake implementation of
`_pack_padded_sequence` returns the padded length in its place. It should return an unbacked size.
"""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Model(nn.Module):
    def forward(self, x, lengths):
        rows = pack_padded_sequence(x, lengths, batch_first=True).data
        return rows.sum(0) / rows.shape[0]  # first difference


def make():
    return Model(), (torch.ones(2, 3, 1), torch.tensor([3, 1]))


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args), program(*args)


def make_workaround():
    """Select the rows by a mask instead of packing them."""

    class Masking(Model):
        def forward(self, x, lengths):
            rows = x[torch.arange(x.shape[1]) < lengths.unsqueeze(1)]
            return rows.sum(0) / rows.shape[0]

    return Masking(), (torch.ones(2, 3, 1), torch.tensor([3, 1]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the mean is {expected} in eager, {got} after export")
    raise SystemExit(bug)
