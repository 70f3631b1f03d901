# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A program whose no_grad region returns nothing can be saved, but not loaded"
# path = "nonstrict+reload:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SpecViolationError",
#         "verifier.py:check",
#         "verifier.py:_check_graph_module",
#         "verifier.py:_check_val",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_export/serde/serialize.py, GraphModuleDeserializer.deserialize_outputs: no outputs"
# ///
"""A region that only updates a buffer, or whose result is never used, has an empty tuple for its `val`.

Saving writes no outputs for it. deserialize_outputs returns at once where there are none, and leaves the
node without `val`, which the verifier allows only for an operator whose schema returns nothing; a
higher-order operator has none. Regions of torch.autocast do the same.
"""

import io
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        with torch.no_grad():
            self.count.add_(1)
        return x + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args, strict=False), file)
    file.seek(0)
    try:
        torch.export.load(file)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("SpecViolationError")
    print(f"{'BUG' if bug else 'ok'}: saving raises nothing, loading raises {seen}")
    sys.exit(bug)
