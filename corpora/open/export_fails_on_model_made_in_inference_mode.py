# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD407"
# title = "torch.export: RuntimeError for a model that was made in inference mode"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that is made or loaded in inference mode, and exported later"
# topics = ["no-grad"]
# cause = """
# Parameters that are made in inference mode are inference tensors that require grad. For each placeholder,
# `_preserve_requires_grad_pass` sets requires_grad on the fake tensor, which is an inference tensor too. Only
# inference mode allows that, so it should enter it for such a tensor."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [
#   [
#     "outputs", "crash", "export", "RuntimeError", "_trace.py:_produce_aten_artifact",
#     "_trace.py:_preserve_requires_grad_pass", "non_strict_utils.py:__torch_function__",
#   ],
# ]
# fix = "inference_tensors_require_grad_in_their_mode"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/_trace.py, _preserve_requires_grad_pass: node.meta['val'].requires_grad ="
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer is made in inference mode, and exported outside of it. Export raises RuntimeError.

Parameters that are made in inference mode are inference tensors that require grad. For each placeholder,
`_preserve_requires_grad_pass` sets requires_grad on the fake tensor, which is an inference tensor too. Only
inference mode allows that, so it should enter it for such a tensor.
"""

import sys

import torch


def make():
    with torch.inference_mode():
        model = torch.nn.Embedding.from_pretrained(torch.ones(2, 2), freeze=False)
    return model, (torch.tensor([0]),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Make the model under no_grad instead."""
    with torch.no_grad():
        model = torch.nn.Embedding.from_pretrained(torch.ones(2, 2), freeze=False)
    return model, (torch.tensor([0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
