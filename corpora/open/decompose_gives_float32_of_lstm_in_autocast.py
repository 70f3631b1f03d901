# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD144"
# title = "run_decompositions: nn.LSTM within autocast gives float32 instead of bfloat16"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an LSTM in an autocast block, decomposed: another dtype"
# topics = ["autocast", "recurrent"]
# cause = """
# Eager runs the LSTM of oneDNN (MKL-DNN), for which autocast has a rule. run_decompositions traces with
# oneDNN off (`_ignore_backend_decomps`), so that the LSTM is decomposed. Its state is float32, and so are
# its results. The decomposition should cast the state as autocast does."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype", "fresh"]]
# trigger = ["region.autocast"]
# upstream = "https://github.com/pytorch/pytorch/issues/137274"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _ignore_backend_decomps: torch.backends.mkldnn.set_flags(False)"
# workaround = "none: a cast of the result gives the dtype of eager, but the LSTM computes in float32"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Within autocast, nn.LSTM returns bfloat16 in eager. The decomposed program returns float32.

Eager runs the LSTM of oneDNN (MKL-DNN), for which autocast has a rule. run_decompositions traces with oneDNN
off (`_ignore_backend_decomps`), so that the LSTM is decomposed. Its state is float32, and so are its results.
The decomposition should cast the state as autocast does.

Needs a processor with AVX-512: on others, oneDNN has no LSTM in bfloat16, and eager raises, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.rnn(x)[0]  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 1, 2),)


def show():
    model, args = make()
    return model(*args).dtype, torch.export.export(model, args).run_decompositions().module()(*args).dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
