# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "preserve_module_call_signature: IndexError if the submodule fills a cache in a dataclass"
# variant-of = "export_copies_list_given_to_preserved_module"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "IndexError"]]
# fix = "preserved_module_gets_its_callers_containers"
# upstream = ""
# at-fault = "torch/_export/wrappers.py, _wrap_submodule: pre_hook passes a new container on"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer appends to a list in a dataclass that it is given. With its signature preserved, the list of the
caller stays empty: IndexError.

The pre_hook in `_wrap_submodule` flattens the arguments and passes new containers on. It should pass the
containers of the caller.
"""

import sys
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Cache:
    keys: list = field(default_factory=list)


torch.export.register_dataclass(Cache)


class Layer(nn.Module):
    def forward(self, x, cache):
        cache.keys.append(x)
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        cache = Cache()
        return self.layer(x, cache) + cache.keys[0]


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, preserve_module_call_signature=("layer",))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print(f"ok: eager gives {expected}, export raises no error")
