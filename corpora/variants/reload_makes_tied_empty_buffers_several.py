# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.load: an empty buffer of a module with two names becomes two buffers"
# variant-of = "reload_makes_tied_parameters_several"
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "buffer"]]
# trigger = ["input.empty"]
# upstream = ""
# at-fault = "torch/export/pt2_archive/_package.py, _load_state_dict: as_strided(...) for each name"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A module has two names, and a buffer that is still empty. After save and load, the model has two buffers.

`_load_state_dict` makes a new tensor for each name. The file has one payload for all empty buffers, so that
the payload does not tell which of them are one tensor. The file should say it.
"""

import io
import sys

import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("past", torch.empty(0))

    def forward(self, x):
        return torch.cat([self.past, x])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Cache()
        self.second = self.first

    def forward(self, x):
        return self.second(self.first(x))


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    return len(list(model.buffers())), len(list(loaded.buffers()))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager has {expected} buffer, the loaded program has {got}")
    raise SystemExit(bug)
