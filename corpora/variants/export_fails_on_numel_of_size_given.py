# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=False): AttributeError for numel() of a torch.Size that the model is given"
# variant-of = "export_makes_tuple_of_size"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [["outputs", "crash", "export", "AttributeError", "object has no attribute"]]
# fix = "sizes_stay_torch_size"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py: the container torch.Size is rebuilt by tuple()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model divides by the number of elements of the original image; its size is an argument.

Export makes fake inputs, and rebuilds the torch.Size as a tuple, which has no numel().
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, original):
        return x.sum() / original.numel()


def make():
    return Model(), (torch.ones(2, 2), torch.Size([4, 4]))


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=False).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        if "numel" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
