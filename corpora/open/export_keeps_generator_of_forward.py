# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD126"
# title = "torch.export(strict=False): a Generator created in forward is created once, at export"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "noise from a Generator that forward seeds, so that every call draws the same"
# topics = ["random"]
# cause = """
# The Generator is created once, while export traces. `lift_constants_pass` makes a constant of it, and each
# call continues its sequence. Export should refuse it. (unflatten raises AssertionError for such a
# program.)"""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "value", "fresh"],
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_sink_params",
#     ],
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:__init__",
#         "unflatten.py:_sink_params",
#         "unflatten.py:_sink_params",
#     ],
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:_sink_params",
#         "unflatten.py:_sink_params",
#         "unflatten.py:_sink_params",
#     ],
# ]
# trigger = ["op.seeded"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/lift_constants_pass.py, lift_constants_pass: a Generator is no constant"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward creates and seeds a Generator, so that eager draws the same numbers in each call. The program does
not.

The Generator is created once, while export traces. `lift_constants_pass` makes a constant of it, and each
call continues its sequence. Export should refuse it. (unflatten raises AssertionError for such a program.)
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.rand(1, generator=torch.Generator().manual_seed(3))  # first difference


def make():
    return Model(), (torch.zeros(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
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
