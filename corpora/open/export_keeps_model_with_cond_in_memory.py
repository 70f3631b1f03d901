# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD355"
# title = "torch.export: a model with torch.cond stays in memory after model and program are deleted"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a process that exports many models with cond, scan or while_loop, one after the other"
# topics = ["control-flow", "copies"]
# cause = """
# For each cond, export runs torch.compile with a new backend, which holds the tracer, and so the model.
# `torch._dynamo` keeps all backends. `setup_compilation_env` should take the tracer from the backend when the
# call is over."""
# path = "nonstrict+freed:module@cpu"
# check = "memory"
# kind = "mismatch"
# status = "open"
# signatures = [["memory", "mismatch", "kept"]]
# fix = "control_flow_releases_its_tracer"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_higher_order_ops/utils.py, setup_compilation_env: the backend keeps the tracer"
# workaround = "none: call torch._dynamo.reset() after each export; it also drops all compiled functions"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with torch.cond is exported. When the model and the program are deleted, its weights stay in
memory.

For each cond, export runs torch.compile with a new backend, which holds the tracer, and so the model.
`torch._dynamo` keeps all backends. `setup_compilation_env` should take the tracer from the backend when the
call is over.
"""

import gc
import sys
import weakref

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(1, 1)

    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (self.linear(x),))


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    weight = weakref.ref(model.linear.weight)
    torch.export.export(model, args)
    del model
    gc.collect()
    return True, weight() is None


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the weight should be freed: {expected}; it is freed: {got}")
    raise SystemExit(bug)
