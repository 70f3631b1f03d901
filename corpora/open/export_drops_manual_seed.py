# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD090"
# title = "torch.export(strict=False): torch.manual_seed in forward runs during export and is not recorded"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "models that seed their noise in forward, so that every call draws the same"
# topics = ["random"]
# cause = """
# `torch.manual_seed` calls no operator: tracing runs it for real and records nothing, so that export also
# seeds the generator of the process. Strict export refuses it; non-strict export should, too."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "value", "fresh"],
#     ["purity", "mismatch", "export", "global", "global random number generator"],
# ]
# fix = "export_refuses_manual_seed"
# upstream = "https://github.com/pytorch/pytorch/issues/107187"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/random.py, manual_seed: seeds the process while torch.export traces, without a record"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model seeds its noise, so that eager returns the same result in every call. The program does not.

`torch.manual_seed` calls no operator: tracing runs it for real and records nothing, so that export also seeds
the generator of the process. Strict export refuses it; non-strict export should, too.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        torch.manual_seed(3)
        return x + torch.rand(1)  # first difference


def make():
    return Model(), (torch.zeros(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    torch.manual_seed(0)
    return [model(*args), model(*args)], [program(*args), program(*args)]


def make_workaround():
    """Draw the numbers once, when the model is made."""

    class Drawing(Model):
        def __init__(self):
            super().__init__()
            noise = torch.rand(1, generator=torch.Generator().manual_seed(3))
            self.register_buffer("noise", noise, persistent=False)

        def forward(self, x):
            return x + self.noise

    return Drawing(), (torch.zeros(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: two calls give {expected} in eager, {got} in the exported program")
    raise SystemExit(bug)
