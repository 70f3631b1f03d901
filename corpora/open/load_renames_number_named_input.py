# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD308"
# title = "torch.export.load: a number argument called input is called input_1 in the graph"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "a number or None for an argument called input"
# topics = ["names", "arguments"]
# cause = """
# FX renames nodes with the name of a Python builtin, such as `input`. `deserialize_graph` gives inputs that
# are tensors or sizes their old names again. It should do so for numbers, strings and None as well."""
# path = "nonstrict+reload:module@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "signature", "inputs"]]
# fix = "load_restores_names_of_constant_inputs"
# upstream = ""
# at-fault = "torch/_export/serde/serialize.py, deserialize_graph: restores no names of numbers"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After save and load, the graph has an input `input_1`, but the signature calls it `input`.

FX renames nodes with the name of a Python builtin, such as `input`. `deserialize_graph` gives inputs that are
tensors or sizes their old names again. It should do so for numbers, strings and None as well.
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
