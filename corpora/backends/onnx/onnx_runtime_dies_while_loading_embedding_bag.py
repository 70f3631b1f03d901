# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "ONNX Runtime dies of SIGSEGV while it loads an EmbeddingBag, converted with optimize=False"
# id = "XO019"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "nn.EmbeddingBag and optimize=False; the default optimizes and does not die"
# topics = ["indexing"]
# cause = """
# The conversion of embedding_bag has a Loop with nested Ifs. The optimizations of ONNX Runtime, already the
# basic ones, kill the process on this graph. With ORT_DISABLE_ALL the graph loads and the result is right.
# ONNX Runtime should load the file, or raise an error."""
# path = "onnx:plain@cpu"
# check = "alive"
# kind = "abort"
# status = "open"
# signatures = [["alive", "abort", "SIGSEGV"]]
# trigger = ["op.embedding_bag"]
# runners = ["plain"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxruntime, an optimization of level ORT_ENABLE_BASIC: which of them is not known"
# workaround = "none: leave optimize=True, which is the default, or load the file with ORT_DISABLE_ALL"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The process dies while ONNX Runtime loads a model with an EmbeddingBag, if it was not optimized before.

The conversion makes a Loop with nested Ifs. The optimizations of ONNX Runtime die on them; without these, the
same file gives the right result.
"""

import multiprocessing
import sys

import torch


def make():
    return torch.nn.EmbeddingBag(4, 2).eval(), (torch.tensor([[0, 1, 2]]),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False, optimize=False)
    program.initialize_inference_session()  # the process dies here


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    process = multiprocessing.get_context("spawn").Process(target=show)
    process.start()
    process.join()
    if process.exitcode not in (0, -11):
        raise RuntimeError(f"another error: exit code {process.exitcode}")
    bug = process.exitcode == -11
    print(f"{'BUG' if bug else 'ok'}: loading the model ends with exit code {process.exitcode}")
    raise SystemExit(bug)
