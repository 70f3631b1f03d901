# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: AssertionError for a torch._foreach operator in a branch of torch.cond"
# variant-of = "compile_drops_out_in_branch"
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "crash"
# stage = "run"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "BackendCompilerFailed",
#         "utils.py:create",
#         "cond.py:gen_schema",
#         "utils.py:check_input_alias_and_mutation_return_outputs",
#     ],
# ]
# fix = "branches_write_to_any_argument"
# upstream = ""
# at-fault = "torch/_higher_order_ops/utils.py, check_input_alias_and_mutation_return_outputs: node.args"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One branch of torch.cond updates two buffers with torch._foreach_add_. torch.compile fails an assertion.

`check_input_alias_and_mutation_return_outputs` looks for writes of branches, and expects that a tensor is
written to. Here it is a list of tensors: "Expected arg_val to be a Tensor".
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(2))
        self.register_buffer("count", torch.zeros(1))

    def counted(self, x):
        torch._foreach_add_([self.sum, self.count], 1)
        return x + 1

    @torch.no_grad()
    def forward(self, x):
        return torch.cond(x.sum() > 0, self.counted, torch.neg, (x,))


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    model.compile(backend="aot_eager")
    model(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "Expected arg_val to be a Tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {type(error).__name__}")
    print("ok: neither eager nor torch.compile raises")
