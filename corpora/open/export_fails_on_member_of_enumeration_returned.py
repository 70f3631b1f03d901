# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD105"
# title = "torch.export: AttributeError if the model returns a member of an Enum"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that returns its mode or status as an Enum cannot be exported"
# topics = ["arguments"]
# cause = """
# Since PyTorch PR 176541, the check of output types accepts members of enumerations. But
# `_make_argument_spec` reads `.meta` of the member, as if it were an FX node. Other types, such as dtypes,
# are refused with a clear message."""
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
#         "AttributeError",
#         "_trace.py:_produce_aten_artifact",
#         "graph_signature.py:_convert_to_export_graph_signature",
#         "graph_signature.py:_make_argument_spec",
#     ],
# ]
# fix = "members_of_enumerations_are_outputs"
# upstream = "https://github.com/pytorch/pytorch/pull/176541"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/graph_signature.py, _make_argument_spec; and get_proxy_slot of proxy_tensor.py"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model that returns a member of an Enum cannot be exported: AttributeError from inside of torch.

Since PyTorch PR 176541, the check of output types accepts members of enumerations. But `_make_argument_spec`
reads `.meta` of the member, as if it were an FX node. Other types, such as dtypes, are refused with a clear
message.
"""

import enum
import sys

import torch


class Status(enum.Enum):
    DONE = 1


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1, Status.DONE


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


def make_workaround():
    """Return the value of the member, and look the member up after the call."""

    class Valuing(Model):
        def forward(self, x):
            return x + 1, Status.DONE.value

    return Valuing(), (torch.ones(1),)


def workaround_call(module, x):
    y, value = module(x)
    return y, Status(value)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r}")
    except RuntimeError as error:
        print(f"ok: export refuses the model: {error}")
        raise SystemExit(0) from None
    bug = expected[1] is not got[1]
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)
