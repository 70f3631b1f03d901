# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a decomposed program copies what it computes into an input of the shape from before the call"
# variant-of = "decompose_asserts_on_mutated_alias"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError"]]
# fix = "decompose_refuses_metadata_mutation"
# upstream = ""
# affected = ["2.11.0", "2.13.0", "2.14.1"]
# unaffected = ["2.9.1"]
# regression-since = "2.11.0"
# at-fault = "torch/_functorch/_aot_autograd/graph_compile.py, aot_stage2_export: no ban outside is_export"
# ///
"""An input is resized and then written to: the decomposed program fails when it is called.

It returns the input's new value, of the new shape, and copies it into the input, which still has the old one.
AOTAutograd bans such a model where it exports, but not where run_decompositions comes from.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.resize_(4)
        x.add_(1)


def make():
    return Model(), (torch.ones(2, 2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    program = torch.export.export(*make())
    call = "run_decompositions"
    try:
        program = program.run_decompositions().module()
        call = "the program"
        program(*make()[1])
        seen = "nothing"
    except RuntimeError as error:
        seen = repr(error)
    bug = call == "the program" and seen != "nothing"
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, {call} raises {seen}")
    raise SystemExit(bug)
