# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export: eager's checkpoint does not load, as buffers that forward does not read are missing"
# severity = "B"
# severity-because = "every BatchNorm in eval mode has such a buffer; load_state_dict of the exported module"
# cause = """
# Dynamo makes no inputs of the graph for state that nothing reads. Then the graph signature does not name it,
# and ExportedProgram.module() registers what the signature names."""
# path = "strict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "missing", "buffer"], ["structure", "mismatch", "order", "buffers"]]
# trigger = ["state.running_statistics"]
# affected = ["2.13.0"]
# upstream = ""
# at-fault = "torch/export/_trace.py, _strict_export: the signature names what the graph reads"
# ///
"""After strict export, `load_state_dict` of the program's module refuses the state dict of the model.

A BatchNorm in eval mode does not read `num_batches_tracked`. `state_dict` of the program has it, its module
has not; after non-strict export both have it.
"""

import sys

import torch


def make():
    return torch.nn.BatchNorm1d(1).eval(), (torch.ones(2, 1),)


def show():
    model, args = make()
    module = torch.export.export(model, args, strict=True).module()
    return list(model.state_dict()), list(module.state_dict())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager has {expected}, the exported program {got}")
    raise SystemExit(bug)
