# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: self.cache is self.default is False during export, though both are one buffer"
# variant-of = "export_detaches_parameters_read_through_a_list"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "state_is_fake_by_all_names"
# upstream = "https://github.com/pytorch/pytorch/issues/163303"
# upstream-match = "mechanism"
# at-fault = "torch/export/_trace.py, _non_strict_export: only registered names get the fake tensors"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer is also a plain attribute. `self.cache is self.default` is True in eager; export takes the other
branch.

For tracing, `_non_strict_export` puts fake tensors where parameters and buffers are registered. The plain
attribute still has the real tensor. Strict export is right.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.ones(1))
        self.default = self.cache

    def forward(self, x):
        return x + 1 if self.cache is self.default else x


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: by two names: {expected.item()} in eager, {got.item()} exported")
    raise SystemExit(bug)
