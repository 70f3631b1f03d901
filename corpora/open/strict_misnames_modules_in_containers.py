# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD207"
# former-ids = ["XD342"]
# title = "torch.export(strict=True): wrong names for layers of a ModuleList after forward sets an attribute"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a model that counts its calls and has a ModuleList: its layers get wrong names"
# topics = ["attributes", "names"]
# cause = """
# Once forward has set an attribute, for example a counter of calls, Dynamo reaches containers through the
# `__dict__` of the model. `record_nn_module_stack` makes the name of a module from the source expression
# (`source.name`), and removes `_modules` from it, but not `__dict__`. It should use the name under which
# the module is registered. unflatten makes modules of the recorded names."""
# path = "strict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "calls", "unknown"]]
# fix = "strict_names_modules_as_registered"
# upstream = "https://github.com/pytorch/pytorch/issues/141939"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/nn_module.py, record_nn_module_stack: name made of source.name"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The program records that `__dict__['_modules']['layers'].0` runs instead of `layers.0`.

Once forward has set an attribute, for example a counter of calls, Dynamo reaches containers through the
`__dict__` of the model. `record_nn_module_stack` makes the name of a module from the source expression
(`source.name`), and removes `_modules` from it, but not `__dict__`. It should use the name under which the
module is registered. unflatten makes modules of the recorded names.
"""

import sys

import torch
from torch import nn


class AddOne(nn.Module):
    def forward(self, x):
        return x + 1


class Model(nn.Module):
    def forward(self, x):
        self.calls += 1
        return self.layers[0](x)


def make():
    model = Model()
    model.calls = 0
    model.layers = nn.ModuleList([AddOne()])
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)
    return "layers.0", [name for name, _ in node.meta["nn_module_stack"].values()][-1]


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager adds in layers.0, export says in {got}")
    raise SystemExit(bug)
