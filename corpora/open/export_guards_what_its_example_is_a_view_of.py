# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD123"
# title = "ep.module(): AttributeError on x._base if the example was a view and the input is not"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an input transposed in place, dynamic sizes, and a slice as the example: calls fail"
# topics = ["views", "dynamic-sizes", "in-place"]
# cause = """
# The meta function of `transpose_` calls as_strided_, which compares the size of the result with the memory
# of the base of x. So export records a guard about `L['x']._base.size()`. `ep.module()` evaluates it with
# inputs whose `_base` is None. `_convert_guards_to_code` should leave out guards about the base of an input.
# (With some hash seeds, such as PYTHONHASHSEED=1, export itself fails an assertion on torch 2.13.0.)"""
# path = "nonstrict+dynamic:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "AttributeError", "external_utils.py:inner", "probe"]]
# hash-seeds = 4
# fix = "export_guards_no_base_of_an_input"
# upstream = ""
# at-fault = "torch/export/exported_program.py, _convert_guards_to_code: keeps guards of x._base"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The example is a slice of a batch. The program refuses whole batches: "'NoneType' object has no attribute
'size'".

The meta function of `transpose_` calls as_strided_, which compares the size of the result with the memory of
the base of x. So export records a guard about `L['x']._base.size()`. `ep.module()` evaluates it with inputs
whose `_base` is None. `_convert_guards_to_code` should leave out guards about the base of an input. (With
some hash seeds, such as PYTHONHASHSEED=1, export itself fails an assertion on torch 2.13.0.)
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.transpose_(0, 1) + 1


def make():
    return Model(), (torch.ones(6, 4)[:3],)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}}


def probes():
    return [((torch.ones(5, 4),), {})]


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes()).module()
    return model(torch.ones(5, 4)).shape, program(torch.ones(5, 4)).shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, the program raises {error!r:.100}")
    print(f"ok: eager gives shape {expected}, the program {got}")
