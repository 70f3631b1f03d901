# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: a method reads freed memory if nobody keeps the program or its bytes"
# id = "XE055"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a function that loads a program from bytes, and returns only its method"
# topics = ["arguments"]
# cause = """
# The native program points into the bytes that load_program gets. Program keeps these bytes alive, but Method
# keeps neither the Program nor the bytes. So they are freed with the Program, and the method reads whatever
# is there. Method should keep the Program that it was loaded from."""
# path = "executorch:portable@cpu"
# check = "alive"
# kind = "abort"
# status = "open"
# signatures = []
# undetected-because = "exportdiff keeps the program as long as its methods"
# upstream = "https://github.com/pytorch/executorch/issues/10725"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/runtime/__init__.py, Program.load_method: the Method does not keep the Program"
# workaround = "none: keep the Program as long as its methods, or load it from the path of a file"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The process dies of SIGSEGV in a call of a method, because the bytes of its program were freed.

A function loads a program from bytes, and returns its method. The method still reads these bytes, but does
not keep them. Here, other objects get the memory.
"""

import multiprocessing
import sys

import torch


def make():
    return torch.nn.Linear(3, 2), (torch.ones(1, 3),)


def load(data):
    from executorch.runtime import Runtime

    return Runtime.get().load_program(data).load_method("forward")


def show():
    from executorch.exir import to_edge

    model, args = make()
    data = to_edge(torch.export.export(model, args)).to_executorch().buffer
    method = load(bytes(bytearray(data)))  # nobody else refers to this copy
    others = [bytes(len(data)) for _ in range(3)]  # one of these gets its memory
    method.execute(args)  # the process dies here
    return others


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    process = multiprocessing.get_context("spawn").Process(target=show)
    process.start()
    process.join()
    if process.exitcode not in (0, -11):
        raise RuntimeError(f"another error: exit code {process.exitcode}")
    bug = process.exitcode == -11
    print(f"{'BUG' if bug else 'ok'}: the call of the method ends with exit code {process.exitcode}")
    raise SystemExit(bug)
