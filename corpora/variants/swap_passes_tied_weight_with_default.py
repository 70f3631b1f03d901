# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a preserved submodule with a default argument and a tied weight cannot be replaced"
# variant-of = "swap_passes_tied_weight_to_preserved_module"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError", "takes from to positional arguments but were given"]]
# trigger = ["state.held", "state.registered_again"]
# upstream = ""
# at-fault = "torch/export/unflatten.py, _ModuleFrame.remap_input: add_placeholder for any input"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A decoder uses the weight of an embedding that it does not register, and has a default argument. It cannot
be replaced after unflatten.

In the unflattened model, the parent passes the weight of the embedding as one more argument.
`_ModuleFrame.remap_input` makes an argument of everything that a module reads and does not own, also if its
signature is preserved.
"""

import sys

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.tied = [embedding]  # in a list: the weight stays the embedding's

    def forward(self, x, scale=1.0):
        return x @ self.tied[0].weight.t() * scale


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4, 3)
        self.decoder = Decoder(self.embedding)

    def forward(self, x):
        return self.decoder(self.embedding(x), 2.0)


def make():
    return Model(), (torch.tensor([1, 2]),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("decoder",))
    unflattened = torch.export.unflatten(program)
    unflattened.decoder = model.decoder
    unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        if "positional arguments" not in str(error):
            raise
        sys.exit(f"BUG: with the decoder replaced by eager's, the program raises {error!r:.100}")
    print("ok: with the decoder replaced by eager's, the program raises nothing")
