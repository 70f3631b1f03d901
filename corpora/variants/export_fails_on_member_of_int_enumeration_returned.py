# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: TypeError if the model returns a member of an IntEnum"
# variant-of = "export_fails_on_member_of_enumeration_returned"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "TypeError",
#         "proxy_tensor.py:<lambda>",
#         "proxy_tensor.py:get_proxy_slot",
#         "weak.py:get",
#     ],
# ]
# fix = "members_of_enumerations_are_outputs"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, get_proxy_slot: looks the member up in a weak dict"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model that returns a member of an IntEnum cannot be exported: "cannot create weak reference to 'Status'
object".

Since PyTorch PR 176541, members of enumerations are "opaque values". `get_proxy_slot` looks the member up in
a WeakKeyDictionary, and Python cannot make a weak reference to an int. A plain int in its place works.
"""

import enum
import sys

import torch


class Status(enum.IntEnum):
    DONE = 1


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1, Status.DONE


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r}")
    except RuntimeError as error:
        print(f"ok: export refuses the model: {error}")
        raise SystemExit(0) from None
    bug = expected[1] is not got[1]
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)
