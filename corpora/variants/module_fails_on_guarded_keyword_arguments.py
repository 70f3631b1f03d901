# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): NameError if an argument that **kwargs collects has a dynamic size and a guard"
# variant-of = "export_fails_on_dynamic_keyword_arguments"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AssertionError", "non_strict_utils.py:make_constraints"]]
# fix = "order_further_keywords_as_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/150022"
# upstream-match = "symptom"
# at-fault = "torch/export/_unlift.py, _force_gm_signature_match: renames the values of *args only"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An argument that `**options` collects has a dynamic size, and the model needs a guard on it. The program
cannot be called.

The guard is written for `L['options']['scale']`, but the exported module calls the argument `scale`.
`_force_gm_signature_match` renames only the values of *args. (torch 2.13 fails before, with an assertion in
export.)
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, **options):
        return options["scale"].chunk(2)[1]


def make():
    return Model(), (), {"scale": torch.ones(5)}


def dynamic_shapes():
    return {"options": {"scale": {0: torch.export.Dim.AUTO}}}


def show():
    model, args, kwargs = make()
    torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes()).module()(*args, **kwargs)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AssertionError, NameError) as error:
        if "when there might be a mismatch" not in str(error) and "'L' is not defined" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the exported module {error!r}")
    print("ok: neither eager nor the exported module raises")
