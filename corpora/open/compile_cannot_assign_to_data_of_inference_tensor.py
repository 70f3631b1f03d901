# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD286"
# title = "torch.compile: RuntimeError for x.data = y under inference_mode"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "`.data =` in a compiled model that is called under inference_mode"
# topics = ["data-attribute", "no-grad"]
# cause = """
# Dynamo traces `x.data = y` as `x.set_(y)`, followed by a call of `_lower_version_count_by_1`. With
# backend="eager" that function runs as it is, and it reads `x._version`, which an inference tensor does not
# have. It should leave inference tensors alone."""
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [["guards", "crash", "served", "run", "RuntimeError", "builtin.py:_lower_version_count_by_1"]]
# fix = "data_of_inference_tensors"
# upstream = ""
# at-fault = "torch/_dynamo/variables/builtin.py, _call_setattr: _lower_version_count_by_1 reads x._version"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""Under `torch.inference_mode()`, the compiled model raises "Inference tensors do not track version counter".

Dynamo traces `x.data = y` as `x.set_(y)`, followed by a call of `_lower_version_count_by_1`. With
backend="eager" that function runs as it is, and it reads `x._version`, which an inference tensor does not
have. It should leave inference tensors alone.

`Child` is needed: if `forward` assigns to the `.data` of a tensor that it has made itself, Dynamo breaks the
graph there.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        x.data = x * 2
        return x


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x + 1)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    with torch.inference_mode():
        return model(*args), torch.compile(model, backend="eager")(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "version counter" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {error!r:.100}")
    print(f"ok: eager gives {expected}, torch.compile {got}")
