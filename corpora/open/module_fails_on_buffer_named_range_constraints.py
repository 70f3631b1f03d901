# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD310"
# title = "ep.module(): TypeError for a buffer called range_constraints"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a buffer called range_constraints"
# topics = ["names", "buffers"]
# cause = """
# The result of `ep.module()` has the state of the model, and stores a list under the name
# `range_constraints`, to check inputs. The message is "cannot assign 'list' as buffer 'range_constraints'".
# Only private code reads this list, so that its name should begin with an underscore."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "_unlift.py:_create_stateful_graph_module"]]
# unmasked = [["outputs", "crash", "lower", "UserError"]]
# fix = "module_keeps_range_constraints_under_private_name"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _StatefulGraphModule.__init__: range_constraints"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a buffer `range_constraints` can be exported, but `ep.module()` raises TypeError.

The result of `ep.module()` has the state of the model, and stores a list under the name `range_constraints`,
to check inputs. The message is "cannot assign 'list' as buffer 'range_constraints'". Only private code reads
this list, so that its name should begin with an underscore.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("range_constraints", torch.ones(1))

    def forward(self, x):
        return x + self.range_constraints


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.module()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: ep.module() raises {error!r}")
    print("ok: ep.module() works")
