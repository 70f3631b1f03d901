# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): RuntimeError for torch.func.jvp of a module"
# variant-of = "strict_fails_on_parameter_in_vmap"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "export", "RuntimeError", "builder.py:cache_real_value_when_export",
#         "builder.py:_clone_input", "utils.py:clone_input",
#     ],
# ]
# # A call of another rank raises within the level of jvp.
# unmasked = [["purity", "mismatch", "run", "global", "raised", "functorch level"]]
# fix = "dynamo_clones_outside_of_vmap"
# upstream = ""
# at-fault = "torch/_dynamo/utils.py, clone_input: within the transform that the frame is in"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward computes a directional derivative of a layer with torch.func.jvp. Strict export raises
RuntimeError.

Dynamo clones the weight when it first meets it, inside of jvp. There the clone is a wrapper without storage,
and `clone_input` asks for its address. It should clone outside of the transform.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)

    def forward(self, x):
        return torch.func.jvp(self.linear, (x,), (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "data pointer" not in str(error):
            raise
        sys.exit(f"BUG: strict export raises {error!r:.100}")
    print("ok: strict export raises nothing")
