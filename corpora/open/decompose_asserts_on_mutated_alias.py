# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions asserts where a tensor with two names is written to"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "AssertionError", "_trace.py:_export_to_aten_ir",
#         "_trace.py:_aot_export_joint_with_descriptors", "graph_compile.py:aot_stage2_export",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_functorch/_aot_autograd/graph_compile.py, aot_stage2_export"
# ///
"""A module with two names that counts its calls can be exported, but not decomposed: an internal assertion.

Its buffer is among the arguments of the graph twice, and written to. AOTAutograd has wrappers for that,
which refuse with a message for the author where it exports; but that is asked under is_export only, which
aot_export_joint_with_descriptors leaves at False, so that they wrap and aot_stage2_export finds no graph.
The same happens with a buffer that is a view of another one, and with one tensor given twice.
"""

import sys
import warnings

import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Counter()
        self.b = self.a

    def forward(self, x):
        return self.b(self.a(x))


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    try:
        ep.run_decompositions()
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: run_decompositions raises {seen}")
    sys.exit(bug)
