# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A copied program has another name than its signature for an argument named input"
# path = "nonstrict+deepcopy:module@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "signature", "inputs"]]
# fix = "graph_copies_keep_names"
# upstream = ""
# affected = "2.13.0"
# at-fault = "torch/fx/graph.py, Graph.__deepcopy__: makes nodes by create_node, which renames them"
# ///
"""The graph of a program has the input `input`, its deep copy `input_1`; both signatures say `input`.

The nodes of a copied graph get their names as new nodes do, which are kept clear of builtins and of globals
of the code, as inf and torch. Export gives placeholders the names of arguments, without that care. A copy
cannot be saved; where `input` is written to, neither ep.module() nor unflatten takes it. PyTorch PR 133269
met this, and mends it for one experimental function.
"""

import copy
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, input):
        return input + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    program = copy.deepcopy(torch.export.export(*make()))
    seen = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    told = [spec.arg.name for spec in program.graph_signature.input_specs]
    print(f"{'ok' if seen == told else 'BUG'}: the copy has the inputs {seen}, its signature says {told}")
    raise SystemExit(seen != told)
