# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "copy.deepcopy of an exported program raises if an example input was computed with gradients"
# severity = "B"
# severity-because = "a head is exported with the output of the layers before it, and the program is copied"
# cause = """
# ExportedProgram keeps the example inputs with their autograd history, and tensors with a history cannot be
# copied."""
# path = "nonstrict+deepcopy:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# trigger = ["input.computed"]
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/export/exported_program.py, ExportedProgram.__init__: keeps example_inputs as given"
# ///
"""The example is the output of another layer, as where a model is exported in parts.

The program holds the example inputs that it was exported with, their autograd history included, and
copy.deepcopy refuses tensors that have one.
"""

import copy
import sys

import torch


def make():
    body, head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    return head, (body(torch.ones(1, 2)),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    ep = torch.export.export(*make())
    seen = "a copy"
    try:
        copy.deepcopy(ep)
    except RuntimeError as error:
        if "Only Tensors created explicitly by the user" not in str(error):
            raise
        seen = f"{type(error).__name__}: {str(error)[:60]}"
    bug = seen != "a copy"
    print(f"{'BUG' if bug else 'ok'}: copy.deepcopy of the program gives {seen}")
    raise SystemExit(bug)
