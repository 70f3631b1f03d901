# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD201"
# former-ids = ["XD216"]
# title = "torch.export(strict=True): ep.module() refuses the model's state dict if a buffer is unread"
# harm = "clear error"
# reach = "everyday"
# reach-because = "every BatchNorm in eval mode, every tied weight; load_state_dict after strict export"
# evidence = ["https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html"]
# topics = ["buffers", "train-eval", "norms"]
# cause = """
# A BatchNorm in eval mode does not read `num_batches_tracked`. `ep.state_dict` has it, but `ep.module()` has
# not: its state is what the graph of Dynamo reads. After non-strict export, both have it."""
# path = "strict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "missing", "buffer"], ["structure", "mismatch", "order", "buffers"]]
# fix = "strict_keeps_state_that_nothing_reads"
# upstream = "https://github.com/pytorch/pytorch/pull/160600"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _strict_export: the state of gm_torch_level is what the graph reads"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After strict export, `ep.module().load_state_dict` refuses the state dict of the model.

A BatchNorm in eval mode does not read `num_batches_tracked`. `ep.state_dict` has it, but `ep.module()` has
not: its state is what the graph of Dynamo reads. After non-strict export, both have it.
"""

import sys

import torch


def make():
    return torch.nn.BatchNorm1d(1).eval(), (torch.ones(2, 1),)


def show():
    model, args = make()
    module = torch.export.export(model, args, strict=True).module()
    return [], module.load_state_dict(model.state_dict(), strict=False).unexpected_keys


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"keys of the model's state dict that the program does not know: {got}")
    raise SystemExit(bug)
