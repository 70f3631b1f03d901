# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD313"
# title = "pipeline: KeyError for a submodule called recompile, code or graph"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a pipeline of a model with a child called graph, code or recompile"
# topics = ["names"]
# cause = """
# A stage of a pipeline is a GraphModule, which has the children of the model under their own names, and has a
# method `recompile` itself. The names of both are public, so that `pipeline` should refuse the name in plain
# words."""
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
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: does not check names of children"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`pipeline` fails for a model with a child called `recompile`. The message does not say that the name is the
reason.

A stage of a pipeline is a GraphModule, which has the children of the model under their own names, and has a
method `recompile` itself. The names of both are public, so that `pipeline` should refuse the name in plain
words.
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
