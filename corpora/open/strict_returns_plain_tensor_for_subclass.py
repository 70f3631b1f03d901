# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD357"
# title = "torch.export(strict=True): the program returns a plain tensor for x.as_subclass(...)"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "preprocessing in forward with tensors of torchvision, such as tv_tensors.Image"
# topics = ["containers"]
# cause = """
# Dynamo records no operator for as_subclass: it remembers the class, to make the subclass after the graph has
# run. But strict export takes only the results of the graph. It should make the subclass, or refuse, as
# non-strict export does."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind", "fresh"]]
# trigger = ["idiom.subclass"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/functional_export.py, DynamoGraphTransformer.output: only results of the graph"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward returns `x.as_subclass(Image)`. After strict export, the program returns a plain tensor.

Dynamo records no operator for as_subclass: it remembers the class, to make the subclass after the graph has
run. But strict export takes only the results of the graph. It should make the subclass, or refuse, as
non-strict export does.
"""

import sys

import torch


class Image(torch.Tensor):
    pass


class Model(torch.nn.Module):
    def forward(self, x):
        return (x / 255).as_subclass(Image)  # first difference


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True).module()
    return type(model(*args)), type(program(*args))


def workaround_call(module, *args):
    """Make the subclass of what the program returns."""
    return module(*args).as_subclass(Image)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected is not got
    print(f"{'BUG' if bug else 'ok'}: eager returns a {expected.__name__}, the program a {got.__name__}")
    raise SystemExit(bug)
