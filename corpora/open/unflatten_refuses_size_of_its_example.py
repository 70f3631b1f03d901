# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD270"
# title = "unflatten: TypeError for its own example if an input is a torch.Size"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a torch.Size among the inputs"
# topics = ["arguments"]
# cause = """
# Non-strict export records a tuple in place of a torch.Size. `process_forward_inputs` compares the structure
# of the inputs exactly. `ep.module()` accepts a torch.Size for a tuple (PyTorch issue 149158)."""
# path = "nonstrict:unflatten@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [["guards", "crash", "refused"]]
# fix = "unflatten_compares_structure_as_module"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, process_forward_inputs: in_spec != signature.in_spec"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a torch.Size argument is unflattened. Called with the example, it raises "There is no flat
args adapter specified".

Non-strict export records a tuple in place of a torch.Size. `process_forward_inputs` compares the structure of
the inputs exactly. `ep.module()` accepts a torch.Size for a tuple (PyTorch issue 149158).
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, size):
        return x.expand(size)


def make():
    return Model(), (torch.ones(1), torch.Size([2]))


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args), unflattened(*args)


def make_workaround():
    """Pass a tuple."""
    return Model(), (torch.ones(1), (2,))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, the unflattened module {error!r:.100}")
    print(f"ok: eager gives {expected}, the unflattened module {got}")
