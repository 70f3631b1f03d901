# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: RuntimeError for clip_ of a buffer in a torch.cond"
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
"""One branch clips a buffer; export takes it, and run_decompositions raises "custom (non-ATen) operator".

Branches that write are traced through torch.func.functionalize. That knows clamp_, but not clip_,
matmul(out=) and two hundred more operators of ATen, and refuses each one whose schema says that it writes.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([2.0]))

    def clipped(self, x):
        self.scale.clip_(max=1)
        return x * 2

    def forward(self, x):
        with torch.no_grad():
            return torch.cond(x.sum() > 0, self.clipped, torch.neg, (x,))


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
    seen, expected = (module(*args), module.scale), (model(*args), model.scale)
    bug = any(not torch.equal(one, other) for one, other in zip(seen, expected, strict=True))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {seen}")
    sys.exit(bug)
