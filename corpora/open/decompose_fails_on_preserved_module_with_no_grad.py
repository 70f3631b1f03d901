# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD047"
# title = "run_decompositions: SpecViolationError if a preserved submodule returns from a no_grad block"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule that ends with a no_grad or autocast block, decomposed"
# topics = ["no-grad", "autocast"]
# cause = """
# `_replace_with_hop_helper` makes a region of the block, a call that returns a list. Several results have the
# names of their operators, but a single result is called `getitem`. The signature of the submodule has this
# name, and no node has it after run_decompositions has dissolved the region. A single result should be named
# like the others."""
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SpecViolationError",
#         "exported_program.py:_validate",
#         "verifier.py:check",
#         "verifier.py:_verify_exported_program_module_call_graph",
#     ],
# ]
# fix = "only_result_of_region_keeps_its_name"
# upstream = "https://github.com/pytorch/pytorch/pull/125133"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/replace_with_hop_pass_util.py, _replace_with_hop_helper: create_node"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule returns from a no_grad block. run_decompositions says "Output getitem_1 does not
exist in the graph".

`_replace_with_hop_helper` makes a region of the block, a call that returns a list. Several results have the
names of their operators, but a single result is called `getitem`. The signature of the submodule has this
name, and no node has it after run_decompositions has dissolved the region. A single result should be named
like the others.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x.relu()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x) + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), ep.run_decompositions().module()(*args)


def make_workaround():
    """Detach the result instead of computing it under no_grad."""

    class Detaching(Child):
        def forward(self, x):
            return x.relu().detach()

    model = Model()
    model.child = Detaching()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: eager raises nothing, the decomposed program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the decomposed program {got}")
