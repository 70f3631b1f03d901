# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD421"
# title = "torch.export: in an autocast block on the CPU, the dtype of nn.LSTM's result is read as float32"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an LSTM in an autocast block, and a mask that is cast to the dtype of its result"
# topics = ["autocast", "recurrent"]
# cause = """
# Eager runs the LSTM of oneDNN, and autocast casts all its operands. Export traces with oneDNN off
# (`_ignore_backend_decomps`), so that `lstm_impl` predicts the result. Of what that consists of, autocast
# casts the operands of products alone. `lstm_impl` should cast the state, too."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "dtype", "fresh"],
#   ["fake", "mismatch", "dtype", "wrap_with_autocast"],
# ]
# fix = "lstm_in_autocast_has_its_dtype"
# upstream = "https://github.com/pytorch/pytorch/issues/137274"
# upstream-match = "symptom"
# upstream-searched = "2026-11-28"
# at-fault = "torch/_decomp/decompositions.py, lstm_impl: the state keeps its dtype within autocast"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Within autocast, nn.LSTM returns bfloat16. The model casts a mask to the dtype of this result, and
multiplies the two. The exported program returns float32.

Eager runs the LSTM of oneDNN, and autocast casts all its operands. Export traces with oneDNN off
(`_ignore_backend_decomps`), so that `lstm_impl` predicts the result. Of what that consists of, autocast
casts the operands of products alone. `lstm_impl` should cast the state, too.

Needs a processor with AVX-512: on others, oneDNN has no LSTM in bfloat16, and eager raises, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3)

    def forward(self, x, mask):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.rnn(x)[0]
            return y * mask.to(y.dtype)  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 1, 2), torch.ones(2, 1, 1))


def show():
    model, args = make()
    return model(*args).dtype, torch.export.export(model, args).module()(*args).dtype


def make_workaround():
    """Multiply without a cast, and cast the product."""

    class Casting(Model):
        def forward(self, x, mask):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = self.rnn(x)[0]
                return (y * mask).to(torch.bfloat16)

    torch.manual_seed(0)
    return Casting(), (torch.ones(2, 1, 2), torch.ones(2, 1, 1))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
