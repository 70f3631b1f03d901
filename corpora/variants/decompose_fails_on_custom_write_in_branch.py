# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: RuntimeError for a custom operator that updates a buffer in a torch.cond"
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
# fix = "branches_may_write_when_decomposed"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/_higher_order_ops/auto_functionalize.py, FunctionalCallableWithEpilogue.__call__"
# ///
"""One branch counts with a custom operator; export takes it, and run_decompositions raises.

Branches that write are traced through torch.func.functionalize. That knows the operators of ATen alone, and
refuses every other one whose schema says that it writes.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args, strict=False)
    try:
        module = program.run_decompositions().module()
    except RuntimeError as error:
        if not str(error).startswith("Found a custom (non-ATen) operator"):
            raise
        print(f"BUG: run_decompositions raises RuntimeError: {error}")
        sys.exit(1)
    seen, expected = (module(*args), module.calls), (model(*args), model.calls)
    bug = any(not torch.equal(one, other) for one, other in zip(seen, expected, strict=True))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {seen}")
    sys.exit(bug)
