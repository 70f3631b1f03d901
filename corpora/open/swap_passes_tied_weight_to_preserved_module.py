# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD225"
# title = "unflatten: a preserved submodule that uses a tied weight of another module cannot be replaced"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a decoder tied to an embedding that it does not register, replaced after unflatten"
# topics = ["tied-weights", "constants"]
# cause = """
# In the unflattened model, the parent passes the weight of the embedding as one more argument.
# `_ModuleFrame.remap_input` makes an argument of everything that a module reads and does not own, also if its
# signature is preserved."""
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError", "takes positional arguments but were given"]]
# trigger = ["state.held", "state.registered_again"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.remap_input: add_placeholder for any input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A decoder uses the weight of an embedding that it does not register. Its signature is preserved, but it
cannot be replaced.

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

    def forward(self, x):
        return x @ self.tied[0].weight.t()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4, 3)
        self.decoder = Decoder(self.embedding)

    def forward(self, x):
        return self.decoder(self.embedding(x))


def make():
    return Model(), (torch.tensor([1, 2]),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("decoder",))
    unflattened = torch.export.unflatten(program)
    unflattened.decoder = model.decoder
    unflattened(*args)


def make_workaround():
    """Pass the weight as an argument."""

    class Receiving(Decoder):
        def forward(self, x, weight):
            return x @ weight.t()

    class Passing(Model):
        def __init__(self):
            super().__init__()
            self.decoder = Receiving(self.embedding)

        def forward(self, x):
            return self.decoder(self.embedding(x), self.embedding.weight)

    return Passing(), (torch.tensor([1, 2]),)


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
