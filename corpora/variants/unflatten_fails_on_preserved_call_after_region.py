# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: KeyError if a preserved submodule is called before, in and after a no_grad block"
# variant-of = "unflatten_fails_on_preserved_call_without_node"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "KeyError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#     ],
# ]
# fix = "unflatten_dispatches_calls_it_has"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: range(len(call_modules))"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule is called three times, the second time in a no_grad block. unflatten raises KeyError.

Export does not preserve the call in the block, so that there are the calls `child` and `child@2`.
`_dispatch_modules` counts the calls from 0 and looks for `child@1`. It should use the recorded numbers.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x = self.child(x) + 1
        with torch.no_grad():
            x = self.child(x)
        return self.child(x).abs()


def make():
    model = Model()
    model.child = torch.nn.ReLU()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
