# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records float32 for nn.LSTM within autocast; the result is bfloat16"
# variant-of = "decompose_gives_float32_of_lstm_in_autocast"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# stage = "export"
# status = "open"
# signatures = [["fake", "mismatch", "dtype", "wrap_with_autocast"]]
# trigger = ["region.autocast"]
# upstream = "https://github.com/pytorch/pytorch/issues/137274"
# upstream-match = "symptom"
# at-fault = "torch/export/_trace.py, _ignore_backend_decomps: torch.backends.mkldnn.set_flags(False)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Within autocast, nn.LSTM returns bfloat16. The graph of the exported program records float32.

Eager runs the LSTM of oneDNN (MKL-DNN), for which autocast has a rule. Export traces with oneDNN off
(`_ignore_backend_decomps`), so that the LSTM is decomposed, and the result is float32.

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
            return self.rnn(x)[0]


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 1, 2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (output,) = ep.graph.find_nodes(op="output")[0].args[0]
    return ep.module()(*args).dtype, output.meta["val"].dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: {got} is recorded, the program gives {expected}")
    raise SystemExit(bug)
