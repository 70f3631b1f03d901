# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD338"
# title = "unflatten: calls in two threads run each other's call variants of a preserved submodule"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "two threads call an unflattened model that keeps signatures and calls a submodule twice"
# topics = ["shared-modules"]
# cause = """
# InterpreterModuleDispatcher.forward counts the calls of a module in an attribute that all threads share: a
# call in one thread moves the count of the other."""
# path = "nonstrict+preserve+threaded:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "value", "fresh"],
#   ["outputs", "crash", "run", "AssertionError", "length does not match length"],
#   ["outputs", "crash", "run", "RuntimeError", "Expected positional argument for parameter but one was"],
# ]
# trigger = ["calls.repeated"]
# upstream = "https://github.com/pytorch/pytorch/issues/112775"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, InterpreterModuleDispatcher.forward: self._num_calls"
# workaround = "none: call it with a lock, or unflatten the program once for each thread"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A thread that calls an unflattened model while another one does so gets a wrong result, without an error.

The first call of the step doubles, the second adds one. Both threads move the one count. The second thread
starts between the two calls of the first. So it adds one, and then doubles.
"""

import sys
import threading

import torch


class Step(torch.nn.Module):
    def forward(self, x, double):
        return x * 2 if double else x + 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x):
        return self.step(self.step(x, True), False)  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("step",))
    module = torch.export.unflatten(ep)
    steps, results = [], []

    def let_another_thread_call(step, step_args):
        steps.append(step)
        if len(steps) == 2:
            thread = threading.Thread(target=lambda: results.append(module(*args)))
            thread.start()
            thread.join()

    module.step.register_forward_pre_hook(let_another_thread_call)
    results.append(module(*args))
    return [model(*args)] * 2, results


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the two threads get {got}")
    raise SystemExit(bug)
