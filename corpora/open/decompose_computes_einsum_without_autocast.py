# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD041"
# title = "run_decompositions: einsum, inner and nn.GRU ignore autocast and compute in float32"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "einsum, inner or nn.GRU in an autocast block, decomposed: another dtype"
# evidence = ["https://github.com/pytorch/pytorch/issues/137274"]
# topics = ["autocast", "recurrent"]
# cause = """
# einsum is composed of other operators, among them bmm, for which autocast has a rule. Eager and the exported
# program run them with autocast. run_decompositions decomposes einsum in
# `FunctionalTensorMode.__torch_dispatch__`, where autocast is off."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype", "fresh"]]
# fix = "decomposed_operators_run_with_autocast"
# upstream = "https://github.com/pytorch/pytorch/issues/137274"
# upstream-match = "mechanism"
# at-fault = "torch/_subclasses/functional_tensor.py, FunctionalTensorMode.__torch_dispatch__: func.decompose"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Within autocast, einsum gives bfloat16. The decomposed program gives float32.

einsum is composed of other operators, among them bmm, for which autocast has a rule. Eager and the exported
program run them with autocast. run_decompositions decomposes einsum in
`FunctionalTensorMode.__torch_dispatch__`, where autocast is off.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return torch.einsum("ij,kj->ik", x, x)  # first difference


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    return model(*args).dtype, torch.export.export(model, args).run_decompositions().module()(*args).dtype


def make_workaround():
    """Cast the arguments of einsum, instead of leaving it to autocast."""

    class Casting(Model):
        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                x = x.to(torch.bfloat16)
                return torch.einsum("ij,kj->ik", x, x)

    return Casting(), (torch.ones(2, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
