# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD298"
# title = "preserve_module_call_signature: TypeError if the submodule gets a member of an IntEnum"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a preserved submodule that gets a member of an IntEnum"
# topics = ["arguments"]
# cause = """
# To record a preserved call, `unwrap_proxy` looks up each argument. Since PyTorch PR 176541, members of
# enumerations are "opaque values", which are kept in a WeakKeyDictionary, and Python cannot make a weak
# reference to an int. Such members are constants in the graph, so that no look-up is needed."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "TypeError",
#         "proxy_tensor.py:unwrap_proxy",
#         "proxy_tensor.py:get_proxy_slot",
#         "weak.py:get",
#     ],
# ]
# fix = "unwrap_proxy_returns_constants"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, unwrap_proxy: looks up constants too"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A submodule gets `Kind.A` of an IntEnum. With preserve_module_call_signature, export raises TypeError.

To record a preserved call, `unwrap_proxy` looks up each argument. Since PyTorch PR 176541, members of
enumerations are "opaque values", which are kept in a WeakKeyDictionary, and Python cannot make a weak
reference to an int. Such members are constants in the graph, so that no look-up is needed.
"""

import enum
import sys

import torch


class Kind(enum.IntEnum):
    A = 1


class Child(torch.nn.Module):
    def forward(self, x, kind):
        return x + kind


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, Kind.A)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, preserve_module_call_signature=("child",))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: export raises {error!r}, and nothing where no signature is kept")
    print("ok: export raises nothing, as where no signature is kept")
