# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD165"
# title = "torch.export: spectral_norm on a GRU is updated less often than in eager"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "spectral_norm on a recurrent layer, exported in training mode"
# topics = ["norms", "recurrent"]
# cause = """
# `RNNBase._weights_have_changed` reads one weight after the other until one is a new object. In eager, only
# the parametrized weight is new. Export replaces all weights, so that it stops at the first one. It should
# read all of them."""
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "rnn_reads_all_weights"
# upstream = ""
# at-fault = "torch/nn/modules/rnn.py, RNNBase._weights_have_changed: stops at the first weight"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""spectral_norm updates its buffers at each read of the weight. A GRU reads it more often in eager than in
the program.

`RNNBase._weights_have_changed` reads one weight after the other until one is a new object. In eager, only the
parametrized weight is new. Export replaces all weights, so that it stops at the first one. It should read all
of them.
"""

import sys
import warnings

import torch
from torch.nn.utils.parametrizations import spectral_norm


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.GRU(3, 3)
        spectral_norm(self.layer, "weight_hh_l0")

    def forward(self, x):
        return self.layer(x)[0]  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 3),)


def show():
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    eager, args = make()
    eager(*args)
    program(*args)
    name = "layer.parametrizations.weight_hh_l0.0._u"
    return eager.get_buffer(name), program.get_buffer(name)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got, atol=1e-06)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected}, the exported program {got}")
    raise SystemExit(bug)
