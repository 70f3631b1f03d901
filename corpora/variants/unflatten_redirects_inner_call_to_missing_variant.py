# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten redirects a call in a submodule to a call variant that does not exist"
# variant-of = "unflatten_redirects_call_to_missing_variant"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Node referenced nonexistent target"]]
# fix = "unflatten_hangs_variant_where_it_is_called"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _deduplicate_modules: seen_target = _compute_accessor(...)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The third call of seq.0, `self.seq[0](x)`, is redirected to seq.0@1, which exists only under seq@1.

Here this happens in the submodule `outer`. unflatten checks the graph of the root only, so it returns a
module, and every call of that raises.
"""

import sys

import torch


class Outer(torch.nn.Module):
    def forward(self, x):
        self.seq(x)
        x = self.seq(x + 1)
        return self.seq[0](x)


def make():
    outer = Outer()
    outer.seq = torch.nn.Sequential(torch.nn.ReLU())
    return torch.nn.Sequential(outer), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten: {got}")
