# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD115"
# title = "preserve_module_call_signature: AssertionError if the submodule takes a string"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule that takes a string flag"
# topics = ["arguments"]
# cause = """
# `check_flattened` in torch/_export/wrappers.py allows strings as arguments of preserved calls. They are
# passed to the operator `_export_tracepoint`, and `extract_val`, which records its results, has no case for
# strings."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "proxy_tensor.py:set_meta",
#         "proxy_tensor.py:extract_val",
#         "proxy_tensor.py:extract_val",
#     ],
# ]
# fix = "extract_val_takes_strings"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, extract_val"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule takes a string. Export says "Expected code to be unreachable".

`check_flattened` in torch/_export/wrappers.py allows strings as arguments of preserved calls. They are passed
to the operator `_export_tracepoint`, and `extract_val`, which records its results, has no case for strings.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x, mode):
        return x + 1 if mode == "add" else x


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, "add")


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))


def make_workaround():
    """Pass a flag instead of a string."""

    class Flagged(Child):
        def forward(self, x, add):
            return x + 1 if add else x

    class Passing(Model):
        def __init__(self):
            super().__init__()
            self.child = Flagged()

        def forward(self, x):
            return self.child(x, True)

    return Passing(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "Expected code to be unreachable, but got:" not in str(error):
            raise
        sys.exit(f"BUG: eager gives 2, export raises {error!r}")
    print("ok: the model is exported")
