# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD328"
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
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# trigger = ["calls.repeated"]
# upstream = "https://github.com/pytorch/pytorch/issues/112775"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, InterpreterModuleDispatcher.forward: self._num_calls"
# workaround = "none: call it with a lock, or unflatten the program once for each thread"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# "2.15.0" = "shows"
# ///
"""A thread that calls an unflattened model while another one does so gets a wrong result, without an error.

The first call of the scale multiplies by two, the second by three. Both threads move the one count, so one of
them multiplies by two twice, and the other by three twice.
"""

import sys
import threading

import torch


class Scale(torch.nn.Module):
    def forward(self, x, factor):
        return x * factor


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        return self.scale(self.scale(x, 2), 3)  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("scale",))
    module = torch.export.unflatten(ep)
    meeting = threading.Barrier(2)
    results = []

    def wait(part, args):  # both threads make the same call at the same time
        meeting.wait(60)

    module.scale.register_forward_pre_hook(wait)
    threads = [threading.Thread(target=lambda: results.append(module(*args))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [model(*args)] * 2, results


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, two threads get {got}")
    raise SystemExit(bug)
