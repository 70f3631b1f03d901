# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=False): torch.random.fork_rng in forward has no effect in the program"
# variant-of = "export_drops_manual_seed"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["idiom.seed"]
# upstream = ""
# at-fault = "torch/random.py, fork_rng: calls no operator while torch.export traces"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model draws noise under fork_rng, and then draws the same numbers again, so that eager returns x. The
program does not.

fork_rng saves and restores the state of the generator in Python. This calls no operator, so that export
records nothing. It should refuse it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.random.fork_rng():
            x = x + torch.rand(1)
        return x - torch.rand(1)


def make():
    return Model(), (torch.zeros(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the program gives {got}")
    raise SystemExit(bug)
