# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD100"
# title = "torch.export: y.copy_(y) of an expanded tensor raises RuntimeError; eager does nothing"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an expanded tensor copied to itself, which does nothing: export fails"
# topics = ["in-place", "views"]
# cause = """
# The kernel of copy_ returns at once if both tensors are the same. `meta_copy_` first asks whether elements
# of the written tensor overlap: "more than one element of the written-to tensor refers to a single memory
# location". It should return early if `self is src`."""
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
#         "fake_impls.py:multi_device_op_default",
#         "fake_impls.py:run_and_return_new_tensor_of_input_device",
#         "_meta_registrations.py:meta_copy_",
#     ],
# ]
# fix = "meta_tensor_is_copied_to_itself"
# upstream = ""
# at-fault = "torch/_meta_registrations.py, meta_copy_: the check of overlapping memory comes first"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`y.copy_(y)` of an expanded tensor does nothing in eager. Export raises RuntimeError.

The kernel of copy_ returns at once if both tensors are the same. `meta_copy_` first asks whether elements of
the written tensor overlap: "more than one element of the written-to tensor refers to a single memory
location". It should return early if `self is src`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = (x + 1).expand(3, 2)
        return y.copy_(y)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "more than one element" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print(f"ok: eager gives {expected}, export {got}")
