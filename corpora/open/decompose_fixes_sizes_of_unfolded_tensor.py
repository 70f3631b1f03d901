# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: fixes a dynamic size if the model writes to windows that unfold makes"
# severity = "B"
# severity-because = "windows of a dynamic batch, updated in place: the program takes one size alone"
# cause = """
# What gives functionalization the tensor back whose windows were written to takes its sizes as plain numbers,
# so that they are guarded."""
# path = "nonstrict+decompose:module@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [["guards", "crash", "refused", "size", "probe"]]
# fix = "functional_unfold_keeps_sizes"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "aten/src/ATen/FunctionalInverses.cpp, unfold_inverse: base.sizes()"
# ///
"""The size of the batch is declared dynamic. The decomposed program refuses every size but the example's.

unfold itself keeps the size dynamic, as long as nothing writes to its result.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.unfold(1, 2, 2).mul_(0.5)
        return x


def make():
    return Model(), (torch.ones(3, 4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("batch")}}


def probes():
    return [((torch.ones(5, 4),), {})]


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes()).run_decompositions()
    try:
        program.module()(torch.ones(5, 4))
    except AssertionError as error:
        print(f"BUG: for a batch of 5 the decomposed program raises: {error}")
        raise SystemExit(1) from None
    print("ok: the decomposed program takes a batch of 5")
