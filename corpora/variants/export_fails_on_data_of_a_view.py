# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: RuntimeError \"not tracked with proxy\" if the model reads x.data and x is a view"
# variant-of = "export_fails_on_size_after_in_place_view"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "proxy_tensor.py:_compute_proxy",
#         "proxy_tensor.py:<genexpr>",
#         "proxy_tensor.py:get_proxy_slot",
#     ],
# ]
# fix = "base_of_static_input_is_static"
# upstream = ""
# at-fault = "torch/_subclasses/fake_tensor.py, _get_output_tensor_from_cache_entry: traced set_"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""The model reads `x.data.dim()`. If the example input is a view, export raises RuntimeError.

No size is dynamic, but export gives the base of the view a symbolic size. The cache of fake tensors compares
the memory of the view with this size, while the proxy mode is on, which does not know it. It should compare
outside of the mode.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + x.data.dim()


def make():
    return Model(), (torch.ones(4).view(2, 2),)


def show():
    model, args = make()
    model(*args)
    torch.export.export(model, args, strict=False)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "is not tracked with proxy" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
