# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD162"
# title = "torch.export: RuntimeError for detach_() on a result of max_pool1d, even without gradients"
# harm = "clear error"
# reach = "contrived"
# reach-because = "detach_ of a pooled result"
# topics = ["in-place", "views"]
# cause = """
# For a CPU tensor without gradients, max_pool1d fills a new tensor. With gradients, and for tensor subclasses
# such as fake tensors, it squeezes the result of max_pool2d, which is a view. So eager raises this error as
# well if the input requires grad. The choice is made in C++ (MaxPooling.cpp)."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "_compile.py:inner",
#         "proxy_tensor.py:__torch_dispatch__",
#         "proxy_tensor.py:proxy_call",
#     ],
# ]
# trigger = ["inplace.detach_"]
# upstream = "https://github.com/pytorch/pytorch/pull/84127"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# workaround = "code"
# at-fault = "aten/src/ATen/native/MaxPooling.cpp, max_pool1d: another branch for tensor subclasses"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Export raises "Can't detach views in-place" for a model that runs in eager.

For a CPU tensor without gradients, max_pool1d fills a new tensor. With gradients, and for tensor subclasses
such as fake tensors, it squeezes the result of max_pool2d, which is a view. So eager raises this error as
well if the input requires grad. The choice is made in C++ (MaxPooling.cpp).
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.max_pool1d(x, 1).detach_()


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Write `detach()`, as the error says."""

    class Detached(Model):
        def forward(self, x):
            return torch.max_pool1d(x, 1).detach()

    return Detached(), (torch.ones(1, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "detach views in-place" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
