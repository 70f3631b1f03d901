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
# at-fault = "torch/export/unflatten.py, UnflattenedModule, InterpreterModule: attributes next to the model's"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
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


def show():
    model, args = make()
    torch.export.unflatten(torch.export.export(model, args))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: unflatten raises {error!r}")
    except torch._dynamo.exc.UserError as error:
        print(f"ok: export refuses the model: {error}")
        raise SystemExit(0) from None
    print("ok: unflatten works")
