# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD234"
# title = "unflatten: deletes a batch norm in training whose result is unused"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a batch norm that is called only for its statistics"
# topics = ["norms", "unused-results"]
# cause = """
# unflatten removes dead code. `is_impure` asks the schema of an operator whether it writes, and the schema of
# batch_norm does not say that it writes to the running statistics (PyTorch issue 73050)."""
# path = "nonstrict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "batch_norm_writes_to_its_statistics"
# upstream = "https://github.com/pytorch/pytorch/issues/73050"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_library/utils.py, is_impure: schema.is_mutable"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A batch norm in training is called for its statistics only. Unflattened, the running mean does not change.

unflatten removes dead code. `is_impure` asks the schema of an operator whether it writes, and the schema of
batch_norm does not say that it writes to the running statistics (PyTorch issue 73050).
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.norm(x)  # first difference
        return x + 1


def make():
    model = Model()
    model.norm = torch.nn.BatchNorm1d(1)
    return model, (torch.ones(2, 1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(*make()))
    model(*args)
    unflattened(*args)
    return model.norm.running_mean, unflattened.norm.running_mean


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in running_mean, unflatten leaves {got}")
    raise SystemExit(bug)
