# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD319"
# title = "unflatten: KeyError for a submodule or buffer called graph"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a child or a buffer called graph, meta or graph_signature"
# topics = ["names"]
# cause = """
# The modules that unflatten makes have the state and children of the model under their own names. They also
# have attributes of their own: `graph`, `print_readable` and `finalize`; the root also `meta`,
# `graph_signature`, `module_call_graph`, `input_placeholders` and `range_constraints`. unflatten should
# refuse these names in plain words."""
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
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule and InterpreterModule: do not check names"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a child called `graph` can be exported. unflatten raises KeyError: "attribute 'graph' already
exists".

The modules that unflatten makes have the state and children of the model under their own names. They also
have attributes of their own: `graph`, `print_readable` and `finalize`; the root also `meta`,
`graph_signature`, `module_call_graph`, `input_placeholders` and `range_constraints`. unflatten should refuse
these names in plain words.
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


def make_workaround():
    """Give the child another name."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ReLU()

        def forward(self, x):
            return self.layers(x)

    return Renamed(), (torch.ones(1),)


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
