# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD051"
# title = "run_decompositions: operators of a submodule that is called under autocast move to its parent"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a submodule called under autocast: after decomposition, unflatten does not make it"
# topics = ["autocast", "no-grad", "names"]
# cause = """
# run_decompositions traces the program node by node, and each new node gets the metadata of the node that
# it comes from. The body of an autocast region is called as a whole, so that all of its nodes get the
# module stack of the node that calls the region. unflatten then makes no `child`. The body should be traced
# node by node, too."""
# path = "nonstrict+decompose:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "calls", "missing"]]
# fix = "regions_keep_metadata_of_their_nodes"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, WrapWithAutocast.__call__: wrapped_func(*args, **kwargs)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` is called under autocast. After run_decompositions, its operators belong to the root.

run_decompositions traces the program node by node, and each new node gets the metadata of the node that it
comes from. The body of an autocast region is called as a whole, so that all of its nodes get the module stack
of the node that calls the region. unflatten then makes no `child`. The body should be traced node by node,
too.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.child(x)


def make():
    model = Model()
    model.child = torch.nn.ReLU()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args).run_decompositions()
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)
    return ["", "child"], [path for path, _ in node.meta["nn_module_stack"].values()]


def make_workaround():
    """Enter autocast in the submodule."""

    class Casting(torch.nn.ReLU):
        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return super().forward(x)

    class Calling(Model):
        def forward(self, x):
            return self.child(x)

    model = Calling()
    model.child = Casting()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: relu is called in {expected}, in the decomposed program in {got}")
    raise SystemExit(bug)
