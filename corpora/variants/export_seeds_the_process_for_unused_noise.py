# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: torch.manual_seed in forward seeds the process, and is not in the program"
# variant-of = "export_drops_manual_seed"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "global", "global random number generator"]]
# fix = "export_refuses_manual_seed"
# upstream = ""
# at-fault = "torch/random.py, manual_seed: seeds the process while torch.export traces"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model seeds its dropout, which draws nothing in eval mode. Export seeds the whole process, without a
warning.

torch.manual_seed calls no operator. So it runs while torch.export traces, stays in effect afterwards, and is
not in the program. Export should refuse it, or restore the seed and warn.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        torch.manual_seed(3)
        return torch.nn.functional.dropout(x, training=self.training)


def make():
    return Model().eval(), (torch.ones(2),)


def show():
    model, args = make()
    torch.manual_seed(0)
    torch.export.export(model, args, strict=False)
    return 0, torch.initial_seed()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the seed was {expected} before export, and is {got} after it")
    raise SystemExit(bug)
