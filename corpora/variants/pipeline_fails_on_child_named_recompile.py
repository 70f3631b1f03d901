# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A pipeline cannot be made of a model that has a child called recompile, code or graph"
# variant-of = "module_fails_on_buffer_named_graph"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "KeyError", "unflatten.py:run_from", "unflatten.py:__init__"],
# ]
# unmasked = [["outputs", "crash", "lower", "ValueError"], ["outputs", "crash", "lower", "UserError"]]
# fix = "pipeline_refuses_names_of_graph_module"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: stages are GraphModules"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Eager runs; making a pipeline of it raises "attribute 'recompile' already exists".

A stage is a GraphModule and has to hold the children of the model under their own names, next to its own
attributes.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.recompile = torch.nn.ReLU()

    def forward(self, x):
        return self.recompile(x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args, split_spec={})


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AttributeError, KeyError) as error:
        sys.exit(f"BUG: pipeline raises {error!r}, eager nothing")
    except ValueError as error:
        print(f"ok: pipeline says that it cannot: {error}")
        raise SystemExit(0) from None
    print("ok: a pipeline can be made of the model")
