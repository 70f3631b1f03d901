# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD196"
# title = "torch.export.save: NotImplementedError for a model that returns the named tuple of topk"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a model that returns topk, sort or max with a dim as it is, saved"
# topics = ["containers"]
# cause = """
# The message asks the user to register the container with a serialized_type_name, but torch itself has
# registered it, in torch/return_types.py, without one."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "NotImplementedError", "serialize.py:serialize_treespec"]]
# fix = "named_tuples_of_torch_are_saved"
# upstream = "https://github.com/pytorch/pytorch/issues/197104"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/197128"
# upstream-searched = "2026-11-26"
# at-fault = "torch/return_types.py, pytree_register_structseq: registers no serialized_type_name"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""The model returns the named tuple of `topk`. The program runs; saving it raises NotImplementedError.

The message asks the user to register the container with a serialized_type_name, but torch itself has
registered it, in torch/return_types.py, without one.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.topk(1)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.save(torch.export.export(model, args), io.BytesIO())


def make_workaround():
    """Return a tuple."""

    class Plain(Model):
        def forward(self, x):
            return tuple(x.topk(1))

    return Plain(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NotImplementedError as error:
        sys.exit(f"BUG: eager raises nothing, torch.export.save raises {error!r:.100}")
    print("ok: neither eager nor torch.export.save raises")
