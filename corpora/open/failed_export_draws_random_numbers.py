# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD166"
# title = "torch.export(strict=True): an export that fails in an operator changes later random numbers"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a training run that first tried to export with an input of the wrong size"
# topics = ["random", "exceptions"]
# cause = """
# If an operator raises while strict export traces, `exportdb_error_message` imports the package of examples
# for the message. This creates random tensors with the global generator. It should not change the state of
# this generator."""
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
"""The input has the wrong size, so strict export fails. The first such failure of a process changes the
random numbers that follow.

If an operator raises while strict export traces, `exportdb_error_message` imports the package of examples for
the message. This creates random tensors with the global generator. It should not change the state of this
generator.
"""

import contextlib
import sys

import torch


def make():
    return torch.nn.Linear(2, 1), (torch.ones(1, 2),)


def show():
    model, _ = make()
    before = torch.get_rng_state()
    with contextlib.suppress(RuntimeError):
        torch.export.export(model, (torch.ones(1, 3),), strict=True)
    return before, torch.get_rng_state()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print("BUG:" if bug else "ok:", f"the random state is {('another' if bug else 'the same')} afterwards")
    raise SystemExit(bug)
