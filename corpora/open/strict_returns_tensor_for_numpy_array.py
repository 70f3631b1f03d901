# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD413"
# title = "torch.export(strict=True): the program returns a tensor where the model returns a numpy array"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that ends in post-processing with numpy, such as decoding or peak finding"
# topics = ["containers"]
# cause = """
# Dynamo computes with a tensor for each array. What torch.compile returns is converted by the bytecode around
# the graph, but a program consists of the graph alone. Export should refuse an array as a result, as
# non-strict export does."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind", "fresh"]]
# fix = "strict_refuses_numpy_results"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/output_graph.py, compile_subgraph: takes an array for a tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model returns a numpy array. The program returns a tensor, which has no `tobytes`.

Dynamo computes with a tensor for each array. What torch.compile returns is converted by the bytecode around
the graph, but a program consists of the graph alone. Export should refuse an array as a result, as
non-strict export does.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sigmoid().numpy()  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


def workaround_call(module, x):
    """Convert the result after the call."""
    return torch.as_tensor(module(x)).numpy()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {type(expected)}, the exported program {type(got)}")
    raise SystemExit(bug)
