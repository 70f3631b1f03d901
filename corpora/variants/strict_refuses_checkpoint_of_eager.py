# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# variant-of = "strict_drops_buffer_that_nothing_reads"
# title = "torch.export(strict=True): load_state_dict of ep.module() raises for the checkpoint of the model"
# path = "strict+load_strictly:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "in loading for GraphModule"]]
# fix = "strict_keeps_state_that_nothing_reads"
# upstream = "https://github.com/pytorch/pytorch/pull/160600"
# upstream-match = "place"
# at-fault = "torch/export/_trace.py, _strict_export: the state of gm_torch_level is what the graph reads"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After strict export, the program's module does not load the checkpoint of the model: RuntimeError.

A BatchNorm in eval mode does not read `num_batches_tracked`, which is unexpected in the state dict.
"""

import sys

import torch


def make():
    return torch.nn.BatchNorm1d(1).eval(), (torch.ones(2, 1),)


def show():
    model, args = make()
    module = torch.export.export(model, args, strict=True).module()
    module.load_state_dict(model.state_dict())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, load_state_dict raises {error!r:.100}")
    print("ok: neither eager nor load_state_dict raises")
