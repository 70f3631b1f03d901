# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD189"
# title = "torch.export.load: a tied weight becomes two parameters"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "tied weights are two parameters after loading: silently trained apart"
# evidence = ["zoo:transformers/gpt2", "zoo:transformers/bart"]
# topics = ["tied-weights"]
# cause = """
# The two parameters share memory, so that results are right, but gradients flow to one of them only, and an
# optimizer updates both. `_load_state_dict` makes a new Parameter for each name."""
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
"""The head of the model has the weight of its embedding. After save and load, these are two parameters.

The two parameters share memory, so that results are right, but gradients flow to one of them only, and an
optimizer updates both. `_load_state_dict` makes a new Parameter for each name.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(4, 2)
        self.head = torch.nn.Linear(2, 4, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x):
        return self.head(self.embedding(x))


def make():
    torch.manual_seed(0)
    return Model(), (torch.tensor([0, 1]),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    return len(list(model.parameters())), len(list(loaded.parameters()))


def make_workaround():
    """Register the weight once, and let the head read it from the embedding."""

    class Once(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(4, 2)

        def forward(self, x):
            return torch.nn.functional.linear(self.embedding(x), self.embedding.weight)

    torch.manual_seed(0)
    return Once(), (torch.tensor([0, 1]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the model has {expected} parameter, after loading {got}")
    raise SystemExit(bug)
