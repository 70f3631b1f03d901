# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: a method reads an input as if it had the memory format of the example"
# id = "XE024"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an image in channels_last, for a model that was exported with a contiguous one"
# topics = ["layout", "arguments"]
# cause = """
# The program has a dim order for each input, that of the example. Method::set_input copies the memory of
# the tensor that is given, and compares only dtype and sizes. It should compare the dim orders too, and
# refuse the input if they differ. Kernels of two dim orders, such as permute_copy, fail with 0x12 instead."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "value"],
#   ["outputs", "mismatch", "value", "output-is-input"],
#   ["outputs", "crash", "run", "RuntimeError", "method failed with error"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error"],
# ]
# trigger = ["input.transposed"]
# upstream = "https://github.com/pytorch/executorch/issues/21837"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/runtime/executor/method.cpp, set_input: it does not compare the dim orders"
# workaround = "none: give each input the memory format of the example"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method returns the elements of the image in another order, and raises nothing.

The model is exported with a contiguous image, and called with the same image in channels_last. The runtime
copies the memory of the image as it is. It should refuse the image, or reorder it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, image):
        return image * 2  # first difference


def make():
    return Model(), (torch.arange(8.0).view(1, 2, 2, 2),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    image = args[0].to(memory_format=torch.channels_last)
    return model(image), method.execute([image])[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
