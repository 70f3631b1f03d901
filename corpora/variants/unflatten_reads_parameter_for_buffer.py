# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten silently reads a parameter instead of a detached buffer of it"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "operands", "buffer", "parameter"]]
# fix = "unflatten_tells_parameters_from_their_views"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, consts_map"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model compares with the buffer `data`; the unflattened module does so with the parameter `w`.

consts_map takes `w` and `data` for two names of one tensor. The buffer is read and not written to, and no
gradient flows, so that nothing is raised and all outputs are right. Put another tensor in the place of
`data`, and it shows.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x > self.data


def make():
    model = Model()
    model.w = torch.nn.Parameter(torch.zeros(1))
    model.register_buffer("data", model.w.detach())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    model.data = unflattened.data = torch.ones(1)
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: with other data, eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
