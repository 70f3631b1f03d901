# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge fails if it has lowered the same exported program with .item() before"
# id = "XE008"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "one exported program that is lowered for two devices, and a model that calls item()"
# topics = ["dynamic-sizes"]
# cause = """
# A pass runs each operator on fake tensors, so that item() makes a new symbol in the ShapeEnv of the
# exported program, and nothing takes it from the list of pending symbols. The next tracing, in
# run_decompositions, finds symbols that are not its own. A pass should run under
# shape_env.ignore_fresh_unbacked_symbols()."""
# path = "executorch:methods@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "PendingUnbackedSymbolNotFound"]]
# trigger = ["op.data|op.reduce|idiom.check"]
# runners = ["methods"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/pass_base.py, _ExportPassBase: it leaves symbols pending"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The second to_edge raises PendingUnbackedSymbolNotFound: "Pending unbacked symbols {zuf5, ...}".

An exported program is lowered twice, for example for two devices. Each pass of to_edge leaves symbols in it
that are pending. They should be ignored, because the graph does not contain them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * x.sum().item()


def make():
    return Model(), (torch.ones(2),)


def show():
    from executorch.exir import to_edge

    model, args = make()
    exported = torch.export.export(model, args)
    for _ in range(2):
        to_edge(exported).to_executorch()


def make_workaround():
    """Multiply by the tensor."""

    class Tensors(Model):
        def forward(self, x):
            return x * x.sum()

    return Tensors(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "Pending unbacked symbols" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the second to_edge raises {error!r:.100}")
    print("ok: neither eager nor the second to_edge raises")
