# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD269"
# title = "unflatten: RuntimeError if a module is called several times and the first result is unused"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a module of several calls, whose first result is unused"
# topics = ["shared-modules"]
# cause = """
# unflatten removes the first call as dead code. The second one, `seq@1`, has the child `0@1`. A later call of
# the child has the same graph, so that `_deduplicate_modules` redirects it to `0@1`. It makes the target from
# names, `seq.0@1`, but the module is `seq@1.0@1`."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "graph.py:lint",
#     ],
# ]
# fix = "unflatten_hangs_variant_where_it_is_called"
# upstream = "https://github.com/pytorch/pytorch/pull/137013"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _deduplicate_modules: seen_target = _compute_accessor(...)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The first of several calls of `seq` has an unused result. The unflattened model raises RuntimeError.

unflatten removes the first call as dead code. The second one, `seq@1`, has the child `0@1`. A later call of
the child has the same graph, so that `_deduplicate_modules` redirects it to `0@1`. It makes the target from
names, `seq.0@1`, but the module is `seq@1.0@1`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.seq(x)
        x = self.seq(x + 1)
        return self.seq[0](x)


def make():
    model = Model()
    model.seq = torch.nn.Sequential(torch.nn.ReLU())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten: {got}")
