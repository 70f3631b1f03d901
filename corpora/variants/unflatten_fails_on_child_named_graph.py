# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on state and children with the names of its modules' own attributes"
# variant-of = "module_fails_on_buffer_named_graph"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "KeyError", "unflatten.py:run_from", "unflatten.py:__init__"],
# ]
# unmasked = [["outputs", "crash", "lower", "UserError"]]
# fix = "unflatten_refuses_names_of_its_modules"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/unflatten.py, UnflattenedModule, InterpreterModule: attributes beside the model's"
# ///
"""A model with a child named `graph` is exported, and `unflatten` raises KeyError.

The modules that unflatten makes hold the state and children of the model under their own names, and have
attributes besides: `graph`, `print_readable` and `finalize` all of them, and the root also `meta`,
`graph_signature`, `module_call_graph`, `input_placeholders`, `range_constraints`. nn.Module refuses what
exists already.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.graph = torch.nn.ReLU()

    def forward(self, x):
        return self.graph(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    ep = torch.export.export(model, args)
    try:
        torch.export.unflatten(ep)
        error = None
    except KeyError as caught:
        error = caught
    except torch._dynamo.exc.UserError:
        error = None
    print(f"BUG: unflatten raises {error!r}" if error else "ok: unflatten works, or refuses")
    raise SystemExit(error is not None)
