# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD077"
# title = "torch.export: program fails on its own example if a buffer grows by torch.cat"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a cache that grows by torch.cat: the program fails on its own example"
# topics = ["kv-cache", "buffers"]
# cause = """
# `_make_fx_helper` ends the graph with a copy_ into each assigned buffer, without asking if the shape is the
# same. The shape of a buffer is fixed at export, so that export should refuse the model in plain words."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "output with shape doesn match the broadcast shape",
#     ],
# ]
# fix = "refuse_buffers_of_another_shape"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ into a buffer of another shape or dtype"
# workaround = """
# none: an exported program cannot give a buffer another shape; a cache that grows has to be an argument
# and a result"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A cache grows by `self.cache = torch.cat(...)`. Export accepts this, but every call of the program raises.

`_make_fx_helper` ends the graph with a copy_ into each assigned buffer, without asking if the shape is the
same. The shape of a buffer is fixed at export, so that export should refuse the model in plain words.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.cache = torch.cat([self.cache, x])
        return self.cache.sum()


def make():
    model = Model()
    model.register_buffer("cache", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        bug = "doesn't match the broadcast shape" in str(error)
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {error}")
        raise SystemExit(bug) from None
    print(f"ok: eager gives {expected}, export: {got}")
