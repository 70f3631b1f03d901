# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD204"
# title = "torch.export(strict=True): RuntimeError for a parameter that is first read inside of torch.vmap"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a layer applied to each example by vmap; non-strict export takes it"
# topics = ["vmap"]
# cause = """
# Dynamo clones the parameter when it first meets it, inside of vmap. `clone_input` calls `requires_grad_()`,
# which is forbidden there. It should clone outside of vmap."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "builder.py:_clone_input",
#         "utils.py:clone_input",
#         "utils.py:torch_clone",
#     ],
# ]
# fix = "dynamo_clones_outside_of_vmap"
# upstream = "https://github.com/pytorch/pytorch/pull/148657"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/utils.py, clone_input: requires_grad_ while a functorch level is active"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The function that vmap maps multiplies by a parameter. Strict export raises RuntimeError.

Dynamo clones the parameter when it first meets it, inside of vmap. `clone_input` calls `requires_grad_()`,
which is forbidden there. It should clone outside of vmap.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return torch.vmap(lambda row: row * self.w)(x)


def make():
    return Model(), (torch.ones(2, 1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: torch.export raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
