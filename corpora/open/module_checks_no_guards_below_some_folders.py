# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD349"
# title = "ep.module(): checks no guards in a conda environment called executorch, and runs the wrong branch"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "the conda environment of ExecuTorch's setup guide, or any folder with torchao in its name"
# evidence = ["https://docs.pytorch.org/executorch/stable/using-executorch-building-from-source.html"]
# topics = ["dynamic-sizes"]
# cause = """
# `_ok_to_generate_guards_fn` generates no guards if the call comes from ExecuTorch or torchao, because these
# do not expect `_guards_fn`. It finds them by the text "executorch" or "torchao" anywhere in the path of a
# calling file. In an environment of that name, the path of every file contains it, so no program checks its
# guards. It should compare the names of the calling modules."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# undetected-because = "the folder of the calling code is never varied"
# fix = "guards_are_left_out_for_modules_not_folders"
# upstream = "https://github.com/pytorch/pytorch/pull/162532"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _ok_to_generate_guards_fn: searches for names in the paths of files"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model branches on whether a size is even. It is exported with four rows and called with three: the
program should refuse the call. But if the code that calls `ep.module()` is in a folder called executorch, the
program runs the wrong branch. The setup guide of ExecuTorch creates a conda environment of that name.

`_ok_to_generate_guards_fn` generates no guards if the call comes from ExecuTorch or torchao, because these do
not expect `_guards_fn`. It finds them by the text "executorch" or "torchao" anywhere in the path of a calling
file. In an environment of that name, the path of every file contains it, so no program checks its guards. It
should compare the names of the calling modules.
"""

import sys

import torch

PATH = "/home/me/miniconda3/envs/executorch/lib/python3.12/site-packages/my_package/serve.py"
SERVE = """
def serve(ep):
    return ep.module()
"""


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] % 2 == 0 else x - 1  # first difference


def make():
    return Model(), (torch.zeros(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def probes():
    return [((torch.zeros(3),), {})]


def show():
    model, args = make()
    package = {"__name__": "my_package.serve"}
    exec(compile(SERVE, PATH, "exec"), package)  # as if it were imported from there
    program = package["serve"](torch.export.export(model, args, dynamic_shapes=dynamic_shapes()))
    return model(torch.zeros(3)), program(torch.zeros(3))


def make_workaround():
    """Choose by torch.cond, so that the program has both branches and needs no guard."""

    class Choosing(Model):
        def forward(self, x):
            return torch.cond(x.shape[0] % 2 == 0, lambda x: x + 1, lambda x: x - 1, (x,))

    return Choosing(), (torch.zeros(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: for three rows, eager raises nothing, the exported program gives {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: for three rows, eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
