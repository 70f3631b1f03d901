# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten after strict export: an unused parameter becomes a buffer if a buffer shares its memory"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "strict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch"]]
# fix = "unflatten_tells_parameters_from_their_views"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, restoring what is aliased or unused"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The buffer `data` is `w.detach()`, and forward does not read w. Unflattened after strict export, w is a
buffer. An optimizer does not see it any more.

Strict export does not have w in its signature, as nothing reads it. unflatten restores such names, and
identifies tensors by memory, sizes, strides and offset (`_TensorID`). So it takes w for the buffer. It should
also test whether the tensor is a Parameter.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + self.data


def make():
    model = Model()
    model.w = torch.nn.Parameter(torch.zeros(1))
    model.register_buffer("data", model.w.detach())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return [*dict(model.named_parameters())], [*dict(unflattened.named_parameters())]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager has the parameters {expected}, unflatten {got}")
    raise SystemExit(bug)
