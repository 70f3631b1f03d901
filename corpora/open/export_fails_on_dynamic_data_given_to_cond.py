# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD096"
# title = "torch.export: AssertionError for x.data = x.data[1:3] of dynamic size before torch.cond"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an assignment to the .data of an input of dynamic size; torch does not trace it anyway"
# topics = ["control-flow", "data-attribute", "dynamic-sizes"]
# cause = """
# Dynamo, which traces the branches of torch.cond, has another ShapeEnv than export.
# `MetaConverter.meta_storage` gives the storage of the fake tensor a size from the ShapeEnv of export, which
# the other one does not know: "vr must not be None"."""
# path = "nonstrict+dynamic:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "symbolic_shapes.py:wrapper",
#         "symbolic_shapes.py:_maybe_evaluate_static",
#         "symbolic_shapes.py:_maybe_evaluate_static_worker",
#     ],
# ]
# fix = "storage_of_fake_tensor_gets_a_size_of_its_own"
# upstream = ""
# at-fault = "torch/_subclasses/meta_utils.py, MetaConverter.meta_storage: s.size of another ShapeEnv"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Export refuses `x.data = x.data[1:3]` in plain words. If x has a dynamic size, it fails an assertion
instead.

Dynamo, which traces the branches of torch.cond, has another ShapeEnv than export.
`MetaConverter.meta_storage` gives the storage of the fake tensor a size from the ShapeEnv of export, which
the other one does not know: "vr must not be None".
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.data = x.data[1:3]
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    """The sizes that may vary."""
    return ({0: torch.export.Dim.AUTO},)


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=False)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: export gives {error!r}")
    except RuntimeError as error:
        if "encountered an op that we can't trace through" not in str(error):
            raise
        print("ok: export gives a refusal in words")
        raise SystemExit(0) from None
    print("ok: export gives a program")
