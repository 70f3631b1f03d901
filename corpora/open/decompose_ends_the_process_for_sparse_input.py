# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD366"
# title = "run_decompositions: aborts the process for a compressed sparse input that requires grad"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a graph network whose edge weights are trained, in a sparse CSR matrix"
# topics = ["layout", "autograd"]
# cause = """
# run_decompositions wraps each input in a FunctionalTensor, which is a plain TensorImpl in C++. For such a
# wrapper of a compressed sparse tensor, `layout_impl` raises. Autograd asks for the layout where nothing
# catches the error, so the process aborts. Without requires_grad, run_decompositions works."""
# path = "nonstrict+decompose:module@cpu"
# check = "alive"
# kind = "abort"
# status = "open"
# signatures = [["alive", "abort", "SIGABRT"]]
# trigger = ["idiom.sparse"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "c10/core/TensorImpl.h, layout_impl: raises for the FunctionalTensor of a compressed one"
# workaround = "none: detach the matrix; its values then get no gradients"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""A sparse CSR matrix that requires grad is an input. The exported program runs, but run_decompositions ends
the process with SIGABRT.

run_decompositions wraps each input in a FunctionalTensor, which is a plain TensorImpl in C++. For such a
wrapper of a compressed sparse tensor, `layout_impl` raises. Autograd asks for the layout where nothing
catches the error, so the process aborts. Without requires_grad, run_decompositions works.
"""

import os
import signal
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, edges, x):
        return edges @ x


def make():
    edges = torch.eye(1).to_sparse_csr().requires_grad_()
    return Model(), (edges, torch.ones(1, 1))


def show():
    """Return the result of eager, and the signal that ended a process that decomposes the program."""
    model, args = make()
    child = os.fork()
    if child == 0:
        torch.export.export(model, args).run_decompositions()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return model(*args), signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "nothing"


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    ended_by = show()[1]
    bug = ended_by != "nothing"
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, run_decompositions is ended by {ended_by}")
    raise SystemExit(bug)
