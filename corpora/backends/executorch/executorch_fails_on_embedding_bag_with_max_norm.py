# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge_transform_and_lower fails with an unclear error on EmbeddingBag with max_norm"
# id = "XE028"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model with EmbeddingBag whose rows are kept short by max_norm"
# topics = ["in-place"]
# cause = """
# _generate_edge_program runs its passes with gradients on. ReplaceViewOpsWithViewCopyOpsPass calls each
# operator, and the derivative of _embedding_bag_forward_only fails if the weight needs one. The passes
# should run in no_grad. Then the verifier says which operator is not supported, embedding_renorm."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "lower", "RuntimeError", "replace_view_ops_with_view_copy_ops_pass.py:call_operator",
#    "pass_base.py:call_operator", "pass_base.py:_fx"],
# ]
# trigger = ["idiom.max_norm"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/program/_program.py, _generate_edge_program: runs passes with gradients on"
# workaround = "none: without gradients, the verifier refuses embedding_renorm, which max_norm needs"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering an EmbeddingBag with max_norm raises "Autograd not support dtype: Long".

A pass calls the operator _embedding_bag_forward_only while gradients are on. It should run in no_grad. Then
the verifier of ExecuTorch says which operator it does not support.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(4, 3, max_norm=1.0)

    def forward(self, x):
        return self.bag(x)


def make():
    return Model(), (torch.tensor([[0, 1], [2, 3]]),)


def show():
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    to_edge_transform_and_lower(torch.export.export(model, args))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Autograd not support dtype" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {str(error)[:30]!r}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
