# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export: records getattr(L['self'], 'down-sample') for a module called down-sample"
# variant-of = "strict_misnames_modules_in_containers"
# path = "strict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "calls", "unknown"]]
# fix = "strict_names_modules_as_registered"
# upstream = "https://github.com/pytorch/pytorch/issues/130931"
# upstream-match = "mechanism"
# at-fault = "torch/_dynamo/variables/nn_module.py, record_nn_module_stack: name made of source.name"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The program records that `getattr(L['self'], 'down-sample')` runs instead of `down-sample`.

Dynamo reads an attribute with getattr if its name is no identifier. `record_nn_module_stack` makes the name
of the module from this expression. unflatten makes modules of the recorded names, so that `unflatten(ep)` has
a child with the wrong name.
"""

import sys

import torch


class AddOne(torch.nn.Module):
    def forward(self, x):
        return x + 1


class Model(torch.nn.Module):
    def forward(self, x):
        return getattr(self, "down-sample")(x)


def make():
    model = Model()
    model.add_module("down-sample", AddOne())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor)
    return "down-sample", [name for name, _ in node.meta["nn_module_stack"].values()][-1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager adds in down-sample, export says in {got}")
    raise SystemExit(bug)
