# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD353"
# title = "torch.export(strict=True): ep.module() refuses the model's state dict if a BatchNorm has two names"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a layer with buffers in two places of a model; load_state_dict after strict export"
# topics = ["buffers", "shared-modules", "norms"]
# cause = """
# Strict export has one input for a buffer, however many names it has. `ep.state_dict` has all names, and
# unflatten restores them. But `ep.module()` registers only the name in the graph signature. It should
# register all of them."""
# path = "strict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "missing", "buffer"]]
# unmasked = [["sharing", "mismatch", "one-tensor-became-several", "buffer"]]
# fix = "module_keeps_buffers_under_all_names"
# upstream = "https://github.com/pytorch/pytorch/pull/118272"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/_unlift.py, _register_attrs_to_new_gm: only the names of the signature"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One BatchNorm is in two places of a model. After strict export, `ep.module().load_state_dict` refuses the
state dict of the model: it knows the buffers under one name only.

Strict export has one input for a buffer, however many names it has. `ep.state_dict` has all names, and
unflatten restores them. But `ep.module()` registers only the name in the graph signature. It should register
all of them.
"""

import sys

import torch


def make():
    norm = torch.nn.BatchNorm1d(1, affine=False)
    return torch.nn.Sequential(norm, torch.nn.ReLU(), norm), (torch.ones(2, 1),)


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
