# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD361"
# title = "draft_export: AssertionError for a model whose weights, buffers or inputs are tensor subclasses"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a quantized model, whose weights are tensor subclasses, as torchao makes them"
# topics = ["quantization"]
# cause = """
# Draft export gives each fake tensor a real one. A subclass is no fake tensor, its parts are. But
# `MetaConverter.meta_tensor` asks for the real tensor of each tensor whose storage it has not seen. It should
# leave out subclasses, because it has already converted their parts."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "fake_tensor.py:from_real_tensor",
#         "meta_utils.py:__call__",
#         "meta_utils.py:meta_tensor",
#     ],
# ]
# fix = "draft_export_takes_subclasses_by_parts"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_subclasses/meta_utils.py, meta_tensor: if self.copy_data, also for a subclass"
# workaround = "none: draft_export takes no subclass, but torch.export.export does"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""A weight of the model is a tensor subclass, as in a quantized model. torch.export takes the model, and
draft_export raises "Expected r to be a FakeTensor".

Draft export gives each fake tensor a real one. A subclass is no fake tensor, its parts are. But
`MetaConverter.meta_tensor` asks for the real tensor of each tensor whose storage it has not seen. It should
leave out subclasses, because it has already converted their parts.
"""

import sys

import torch
from torch import nn
from torch.testing._internal.two_tensor import TwoTensor


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(TwoTensor(torch.ones(2, 2), torch.zeros(2, 2)), requires_grad=False)

    def forward(self, x):
        return torch.mm(x, self.weight).a


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    torch.export.draft_export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "FakeTensor" not in str(error):
            raise
        sys.exit(f"BUG: eager and torch.export raise nothing, draft_export raises {error!r:.100}")
    print("ok: neither eager nor draft_export raises")
