# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD423"
# title = "torch.export: 'SymInt' object is not iterable, for nn.LayerNorm(x.shape[-1]) in forward"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a norm without parameters that forward makes, on a dimension of a dynamic size"
# topics = ["norms", "dynamic-sizes"]
# cause = """
# LayerNorm.__init__ makes a tuple of the size if it is a numbers.Integral. A torch.SymInt is none, so it
# takes the size for a sequence. RMSNorm does the same. Both should accept a SymInt."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "TypeError"]]
# fix = "norms_take_a_symbolic_size"
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "torch/nn/modules/normalization.py, LayerNorm.__init__: isinstance(size, numbers.Integral)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Export raises TypeError: "'SymInt' object is not iterable".

The model makes a LayerNorm for the size of its input, and this size is dynamic. `LayerNorm.__init__` takes
the size for a sequence of sizes, because a SymInt is no `numbers.Integral`. It should accept a SymInt.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.LayerNorm(x.shape[-1], elementwise_affine=False)(x)


def make():
    return Model(), (torch.arange(3.0),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    return torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Call the function."""

    class Calling(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.layer_norm(x, x.shape[-1:])

    return Calling(), (torch.arange(3.0),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        if "SymInt" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
