# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A loaded program has another name than its signature for a number named input"
# variant-of = "copy_renames_argument_named_input"
# path = "nonstrict+reload:module@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "signature", "inputs"]]
# fix = "load_restores_names_of_constant_inputs"
# upstream = ""
# at-fault = "torch/_export/serde/serialize.py, deserialize_graph: lets FX rename what is no tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Saved and loaded, the graph has an input `input_1`; its signature, and the graph before, say `input`.

FX keeps the names of nodes clear of builtins and of globals of the code, as inf and nan. Loading gives
tensors and sizes their names back; numbers, texts and None keep the name that FX made up.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, input=None):
        return x + 1


def make():
    return Model(), (torch.ones(1), 2)


def show():
    model, args = make()
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(model, args), buffer)
    program = torch.export.load(io.BytesIO(buffer.getvalue()))
    got = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    return got, [spec.arg.name for spec in program.graph_signature.input_specs]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: loaded, the inputs are {expected}, and the signature says {got}")
    raise SystemExit(bug)
