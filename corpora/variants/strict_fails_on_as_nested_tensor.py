# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): 'Unable to cast NotImplemented' for torch.nested.as_nested_tensor"
# variant-of = "export_fails_on_operator_of_subclass_made_in_forward"
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
#         "proxy_tensor.py:__torch_function__",
#         "proxy_tensor.py:__torch_function__",
#         "nested_tensor.py:__torch_function__",
#     ],
# ]
# trigger = ["idiom.sparse"]
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call: NotImplemented for a subclass"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward makes a jagged tensor of its inputs. Eager runs; strict export raises "Unable to cast
NotImplemented to Tensor". (If eager has not run before, the error is about a size that is not tracked.)

A jagged tensor is a subclass. ProxyTorchDispatchMode returns NotImplemented for a subclass that it does not
know, so that its __torch_dispatch__ is called first. Export traces before dispatch, where nothing calls it.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.nested.as_nested_tensor([x, y], layout=torch.jagged)


def make():
    return Model(), (torch.ones(3, 2), torch.ones(1, 2))


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args, strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "NotImplemented" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
