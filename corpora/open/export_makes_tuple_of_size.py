# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD139"
# title = "ep.module(): returns a tuple if the model returns a torch.Size"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a model that returns x.shape; a caller that asks it for numel()"
# topics = ["containers"]
# cause = """
# proxy_tensor registers torch.Size as a container that is rebuilt with `tuple()`, because a torch.Size cannot
# contain symbolic sizes. It should make a torch.Size if all sizes are numbers."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "structure"]]
# fix = "sizes_stay_torch_size"
# upstream = "https://github.com/pytorch/pytorch/issues/111962"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/111993"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py: the container torch.Size is rebuilt by tuple()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns `x.shape`, a torch.Size. The program returns a plain tuple, without `numel()`.

proxy_tensor registers torch.Size as a container that is rebuilt with `tuple()`, because a torch.Size cannot
contain symbolic sizes. It should make a torch.Size if all sizes are numbers.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.shape  # first difference


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    module = torch.export.export(model, args).module()
    return type(model(*args)), type(module(*args))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected is not got
    print(f"{'BUG' if bug else 'ok'}: eager returns a {expected.__name__}, the program a {got.__name__}")
    raise SystemExit(bug)
