# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD169"
# title = "ep.module(): KeyError for a buffer or parameter called graph"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "state or children called graph, type or recompile"
# topics = ["names", "buffers"]
# cause = """
# The result of `ep.module()` is a GraphModule with the state and children of the model. GraphModule has
# attributes of its own: `graph`, `code`, `meta`, `shape_env`, `recompile`, `print_readable`, `to_folder`.
# nn.Module refuses a buffer with such a name. The names of both are public, so that `ep.module()` should
# refuse them in plain words."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "KeyError", "_unlift.py:_unlift_exported_program_lifted_states"],
# ]
# unmasked = [["outputs", "crash", "lower", "UserError"]]
# fix = "module_refuses_names_of_graph_module"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _unlift_exported_program_lifted_states: state goes on a GraphModule"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a buffer `graph` can be exported, but `ep.module()` raises KeyError.

The result of `ep.module()` is a GraphModule with the state and children of the model. GraphModule has
attributes of its own: `graph`, `code`, `meta`, `shape_env`, `recompile`, `print_readable`, `to_folder`.
nn.Module refuses a buffer with such a name. The names of both are public, so that `ep.module()` should refuse
them in plain words.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("graph", torch.ones(1))

    def forward(self, x):
        return x + self.graph


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args).module()


def make_workaround():
    """Give the buffer another name."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("edges", torch.ones(1))

        def forward(self, x):
            return x + self.edges

    return Renamed(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: ep.module() raises {error!r}")
    except torch._dynamo.exc.UserError as error:
        print(f"ok: export refuses the model: {error}")
        raise SystemExit(0) from None
    print("ok: ep.module() works")
