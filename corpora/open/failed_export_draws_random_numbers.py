# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD166"
# title = "torch.export(strict=True): the first export that fails draws random numbers"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "the random numbers of a training run that tried to export before it began"
# topics = ["random", "exceptions"]
# cause = """
# For the error message, `exportdb_error_message` imports the package of examples, which creates random
# tensors. It should not draw from the global generator. It happens once in a process. The model here is one
# for which export raises."""
# path = "strict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# undetected-because = "what draws them is loaded before anything is judged"
# fix = "exportdb_draws_no_random_numbers"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/db/logging.py, exportdb_error_message: imports torch/_export/db/examples"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The first export that fails changes the random numbers of the process.

For the error message, `exportdb_error_message` imports the package of examples, which creates random tensors.
It should not draw from the global generator. It happens once in a process. The model here is one for which
export raises.
"""

import contextlib
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.max_pool1d(x, 1).detach_()


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    before = torch.get_rng_state()
    with contextlib.suppress(RuntimeError):
        torch.export.export(model, args, strict=True)
    return before, torch.get_rng_state()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print("BUG:" if bug else "ok:", f"the random state is {('another' if bug else 'the same')} afterwards")
    raise SystemExit(bug)
