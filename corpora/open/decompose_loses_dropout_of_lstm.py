# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD053"
# title = "run_decompositions: LSTM, GRU and RNN lose the dropout between their layers"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "an LSTM or GRU with dropout in train mode: trains without it"
# evidence = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html"]
# topics = ["random", "recurrent"]
# cause = """
# `_rnn_helper` applies dropout after every layer but the last. It first sets dropout to 0 unless
# `num_layers < i - 1`, which never holds for a layer i. It should test `i < num_layers - 1`. (Here dropout
# is 1.0, so that the second layer reads zeros in eager.)"""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "decomposed_rnns_drop_out_between_layers"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, _rnn_helper: num_layers < i - 1 is always false"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After run_decompositions, an LSTM in train mode applies no dropout between its layers.

`_rnn_helper` applies dropout after every layer but the last. It first sets dropout to 0 unless `num_layers <
i - 1`, which never holds for a layer i. It should test `i < num_layers - 1`. (Here dropout is 1.0, so that
the second layer reads zeros in eager.)
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(2, 2, num_layers=2, dropout=1.0)
        for parameter in self.lstm.parameters():
            torch.nn.init.ones_(parameter)

    def forward(self, x):
        return self.lstm(x)[0]  # first difference


def make():
    return Model(), (torch.ones(1, 1, 2),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args), decomposed(*args)


def make_workaround():
    """Use one LSTM for each layer, with dropout between them."""

    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.LSTM(2, 2), torch.nn.LSTM(2, 2)
            self.dropout = torch.nn.Dropout(1.0)
            for parameter in self.parameters():
                torch.nn.init.ones_(parameter)

        def forward(self, x):
            return self.second(self.dropout(self.first(x)[0]))[0]

    return Layers(), (torch.ones(1, 1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, decomposed {got.tolist()}")
    raise SystemExit(bug)
