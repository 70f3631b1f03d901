# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD243"
# title = "unflatten: AttributeError for a decomposed program with a preserved nn.LSTM"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an LSTM with a preserved signature, decomposed and unflattened: an obscure error"
# topics = ["recurrent"]
# cause = """
# The signature names the first result of the LSTM, an item of its results. run_decompositions replaces the
# LSTM by other operators. `_get_updated_module_call_graph` looks for nodes that come from the old item, finds
# none, and keeps the old name. unflatten takes this name for the new value of a buffer."""
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AttributeError"]]
# trigger = ["layer.lstm"]
# upstream = "https://github.com/pytorch/pytorch/pull/138669"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/exported_program.py, _get_updated_module_call_graph: provenance[history[-1].name]"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An nn.LSTM with a preserved signature is decomposed. unflatten raises AttributeError.

The signature names the first result of the LSTM, an item of its results. run_decompositions replaces the LSTM
by other operators. `_get_updated_module_call_graph` looks for nodes that come from the old item, finds none,
and keeps the old name. unflatten takes this name for the new value of a buffer.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 2)

    def forward(self, x):
        return self.rnn(x)[0] * 2


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 1, 2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("rnn",))
    program = ep.run_decompositions()
    torch.export.unflatten(program)


def make_workaround():
    """Compute with the result of the LSTM in the preserved submodule."""

    class Doubled(nn.LSTM):
        def forward(self, x):
            return super().forward(x)[0] * 2

    class Calling(Model):
        def __init__(self):
            nn.Module.__init__(self)
            self.rnn = Doubled(2, 2)

        def forward(self, x):
            return self.rnn(x)

    torch.manual_seed(0)
    return Calling(), (torch.ones(2, 1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: unflatten raises {error!r}")
    print("ok: unflatten raises nothing")
