# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD231"
# title = "unflatten: RuntimeError for copy.deepcopy of the unflattened module"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "copy.deepcopy of an unflattened module"
# topics = ["copies"]
# cause = """
# UnflattenedModule has a list of graph nodes, `input_placeholders`. deepcopy copies each node with its fake
# tensors, which cannot be copied. It should not store nodes."""
# path = "nonstrict+duplicate:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# fix = "unflatten_keeps_no_nodes"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: self.input_placeholders"
# workaround = """
# none: no change of the model helps; call torch.export.unflatten once more instead of copying its
# result"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""copy.deepcopy of an unflattened nn.ReLU raises RuntimeError: "Cannot access data pointer of Tensor".

UnflattenedModule has a list of graph nodes, `input_placeholders`. deepcopy copies each node with its fake
tensors, which cannot be copied. It should not store nodes.
"""

import copy
import sys

import torch


def make():
    return torch.nn.ReLU(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return copy.deepcopy(model)(*args), copy.deepcopy(unflattened)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: a copy of eager raises nothing, a copy of unflatten raises {error!r:.100}")
    print(f"ok: a copy of eager gives {expected}, a copy of unflatten: {got}")
