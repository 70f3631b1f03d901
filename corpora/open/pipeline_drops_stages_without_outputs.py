# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline drops a stage that only writes to memory"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "mismatch",
#         "value",
#         "fresh",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: split.graph.eliminate_dead_code()"
# ///
"""What happens before the first child only updates a buffer through a view: it never happens.

split_module passes on what the graph passes on, and the graph passes on nothing of what is written to a view.
_from_traced then calls eliminate_dead_code on the split module, for which a call of a module without users
is dead whatever the module does.
"""

import sys
import warnings

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))
        self.child = nn.ReLU()

    def forward(self, x):
        self.count[:1].add_(1)
        return self.child(x) + self.count


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    model, args = make()
    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    (seen,) = pipeline(model, args, split_spec=points)(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: the pipeline gives {seen.tolist()}, eager {expected.tolist()}")
    sys.exit(bug)
