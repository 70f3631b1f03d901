# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: RuntimeError for a custom operator that writes in a branch of torch.cond"
# variant-of = "decompose_fails_on_write_in_branch"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "cond.py:cond_fake_tensor_mode",
#         "auto_functionalize.py:__call__",
#         "eager_transforms.py:wrapped",
#     ],
# ]
# trigger = ["region.cond"]
# upstream = ""
# at-fault = "torch/_higher_order_ops/auto_functionalize.py, FunctionalCallableWithEpilogue.__call__"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One branch of torch.cond updates a buffer with a custom operator. The model exports, but run_decompositions
raises.

Branches that write are traced through torch.func.functionalize, which refuses operators that write unless
they are from ATen. (On torch 2.15.0 it accepts them, and then the verifier refuses the write.)
"""

import sys

import torch


@torch.library.custom_op("exportdiff::count", mutates_args=("calls",))
def count(calls: torch.Tensor) -> None:
    calls.add_(1)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def counted(self, x):
        count(self.calls)
        return x * 2

    def forward(self, x):
        with torch.no_grad():
            return torch.cond(x.sum() > 0, self.counted, torch.neg, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False)
    module = program.run_decompositions().module()
    got = module(*args), module.calls
    return (model(*args), model.calls), got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except (RuntimeError, torch._export.verifier.SpecViolationError) as error:
        if not str(error).startswith(("Found a custom (non-ATen) operator", "operator 'aten.copy_.default'")):
            raise
        sys.exit(f"BUG: run_decompositions raises {error!r:.100}")
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
