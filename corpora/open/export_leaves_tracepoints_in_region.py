# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD133"
# title = "unflatten: AttributeError if a preserved submodule is called under torch.no_grad"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule called under no_grad"
# topics = ["no-grad"]
# cause = """
# `CollectTracepointsPass.call` should remove the calls of `_export_tracepoint` from all graphs, but it
# returns in the first round of its loop. They stay in the graph of the no_grad block, and unflatten takes the
# result of one for a write to state."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "unflatten.py:remap_input",
#         "unflatten.py:read",
#         "unflatten.py:remap_input",
#     ],
# ]
# unmasked = [["outputs", "mismatch", "shape", "fresh"]]
# fix = "collect_tracepoints_in_regions"
# upstream = "https://github.com/pytorch/pytorch/pull/189569"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/collect_tracepoints_pass.py, CollectTracepointsPass.call: return"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule is called under no_grad. Export works, but unflatten raises AttributeError.

`CollectTracepointsPass.call` should remove the calls of `_export_tracepoint` from all graphs, but it returns
in the first round of its loop. They stay in the graph of the no_grad block, and unflatten takes the result of
one for a write to state.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = self.child(x) + 1
        return x + y


def make():
    model = Model()
    model.child = torch.nn.Tanh()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Detach the result instead of computing it under no_grad."""

    class Detaching(Model):
        def forward(self, x):
            return x + (self.child(x) + 1).detach()

    model = Detaching()
    model.child = torch.nn.Tanh()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
