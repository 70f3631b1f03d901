# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "An assignment to the .data of an inference tensor raises once it is compiled"
# variant-of = "compile_reads_rank_before_data_assigned"
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
"""Called in inference mode, a model that assigns to the .data of a tensor it has made raises once compiled.

Dynamo records the assignment as set_ and a call that lowers the version counter by one again. In a graph that
runs as it is (backend "eager") that call reads the counter, which inference tensors do not have. The tensor
must come from outside the graph: here from the caller, as Dynamo breaks the graph where it is made within.
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
