# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD339"
# title = "torch.export(strict=True): the weights stay in memory when model and program are gone"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a process that exports many models, one after the other, with strict=True"
# topics = ["copies"]
# cause = """
# fullgraph_capture writes the captured graph into the globals of a module of torch, and the hook that would
# remove it belongs to compiled code, of which an export makes none."""
# path = "strict+freed:module@cpu"
# check = "memory"
# kind = "mismatch"
# status = "open"
# signatures = [["memory", "mismatch", "kept"]]
# fix = "strict_export_removes_its_compiled_function"
# upstream = "https://github.com/pytorch/pytorch/issues/104095"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/functional_export.py, _dynamo_graph_capture_for_export: leaves __compiled_fn_*"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After a strict export, neither garbage collection nor torch._dynamo.reset() frees the weights of the model.

Each strict export leaves one more copy of a graph, with its parameters and buffers, in the globals of
torch._dynamo.functional_export.
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
        return self.linear(x)


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    weight = weakref.ref(model.linear.weight)
    torch.export.export(model, args, strict=True).module()(*args)
    del model
    torch._dynamo.reset()
    gc.collect()
    return True, weight() is None


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the weight should be freed: {expected}; it is freed: {got}")
    raise SystemExit(bug)
