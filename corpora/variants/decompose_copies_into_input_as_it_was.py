# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: the program raises if forward resizes its input and writes to it"
# variant-of = "decompose_asserts_on_mutated_alias"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError"]]
# fix = "decompose_refuses_metadata_mutation"
# upstream = ""
# at-fault = "torch/_functorch/_aot_autograd/graph_compile.py, aot_stage2_export: no ban outside is_export"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model resizes its input and adds to it. The decomposed program raises when it is called.

The program computes the new value in the new shape, and copies it into the input, which still has the old
shape. AOTAutograd refuses such models in plain words, but only if `is_export` is set, and
`aot_export_joint_with_descriptors` does not set it.
"""

import sys
import traceback

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.resize_(4)
        x.add_(1)


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    program.run_decompositions().module()(*make()[1])


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        bug = "run_decompositions" not in [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, decomposed it raises {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: neither eager nor the decomposed program raises")
