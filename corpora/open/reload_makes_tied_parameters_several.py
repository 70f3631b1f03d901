# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD189"
# title = "torch.export.load: a tied parameter becomes two parameters"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "tied weights are two parameters after loading: silently trained apart"
# evidence = ["zoo:transformers/gpt2", "zoo:transformers/bart"]
# topics = ["tied-weights"]
# cause = """
# The two parameters share memory, so that results are right, but gradients flow to one of them only, and an
# optimizer updates both. `_load_state_dict` makes a new Parameter for each name, and the file does not say
# which names are one tensor."""
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["sharing", "mismatch", "one-tensor-became-several", "parameter"],
#     ["sharing", "mismatch", "one-tensor-became-several", "buffer"],
# ]
# fix = "save_tells_which_weights_are_one"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/pt2_archive/_package.py, _load_state_dict: nn.Parameter(...) for each name"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One parameter has two names. After save and load, these are two parameters.

The two parameters share memory, so that results are right, but gradients flow to one of them only, and an
optimizer updates both. `_load_state_dict` makes a new Parameter for each name, and the file does not say
which names are one tensor.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = self.b = torch.nn.Parameter(torch.ones(1))
        self.register_buffer("c", torch.ones(1))
        self.register_buffer("d", self.c)

    def forward(self, x):
        return x + self.a + self.b + self.c + self.d


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return 1, len(list(torch.export.load(file).module().parameters()))


def make_workaround():
    """Register each tensor under one name, and read it by this name everywhere."""

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.ones(1))
            self.register_buffer("c", torch.ones(1))

        def forward(self, x):
            return x + self.a + self.a + self.c + self.c

    return Named(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the model has 1 parameter, after loading {got}")
    raise SystemExit(bug)
