# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD184"
# title = "torch.export.load: TypeError in each call if the model returns a dict with tuples as keys"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a dict of results with pairs of indices as keys"
# topics = ["containers"]
# cause = """
# The keys of a dict are saved as JSON, which has no tuples. A tuple is loaded as a list, which cannot be a
# key. `_json_to_treespec` should turn it into a tuple again."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "run"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "TypeError",
#         "_pytree.py:tree_unflatten",
#         "_pytree.py:unflatten",
#         "_pytree.py:_dict_unflatten",
#     ],
# ]
# fix = "keys_are_loaded_as_tuples"
# upstream = ""
# at-fault = "torch/utils/_pytree.py, _json_to_treespec: the keys of a dict are taken as JSON gives them"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns a dict with a tuple as key. After save and load, each call raises TypeError.

The keys of a dict are saved as JSON, which has no tuples. A tuple is loaded as a list, which cannot be a key.
`_json_to_treespec` should turn it into a tuple again.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {(0, 1): x + 1}


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    expected = model(*args)
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return expected, torch.export.load(file).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, the loaded program raises {error!r}")
    print(f"ok: eager returns {expected}, the loaded program {got!r}")
