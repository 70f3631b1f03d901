# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: the process dies on an empty input with unusual strides, such as boxes[:, :4]"
# id = "XE051"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "detections[:, :4] if nothing was detected: a slice without rows"
# topics = ["arguments", "dynamic-sizes", "layout"]
# cause = """
# make_tensor_ptr computes strides from the sizes, and asserts that those of the given tensor are the same. It
# ignores the strides of dimensions of size 1, which do not matter. If a tensor has no elements, none of its
# strides matter, so torch calls such a slice contiguous, and contiguous() does not help. make_tensor_ptr
# should ignore them as well. A failed assertion calls abort, so Python cannot catch the error."""
# path = "executorch:portable@cpu"
# check = "alive"
# kind = "abort"
# status = "open"
# signatures = [["alive", "abort", "SIGABRT"]]
# trigger = ["dynamic.zero", "input.sliced|input.negative|input.real|input.transposed|input.windows"]
# upstream = "https://github.com/pytorch/executorch/pull/12280"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = "extension/tensor/tensor_ptr.cpp, make_tensor_ptr: it compares the strides of an empty tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The process dies of SIGABRT: "assert failed (strides[i] == computed_strides[i] || sizes[i] == 1)".

The input is an empty batch of half rows. A tensor without elements is always contiguous, so `contiguous()`
does not help. The runtime compares its strides (6, 1) with (3, 1), and aborts.
"""

import multiprocessing
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def make():
    return Model(), (torch.ones(4, 6)[:, :3],)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("batch", max=4)}}


def probes():
    return [((torch.ones(0, 6)[:, :3],), {})]


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args, dynamic_shapes=dynamic_shapes())).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    method.execute(probes()[0][0])  # the process dies here


def workaround_call(module, x):
    """Give a new empty tensor in place of an empty slice."""
    return module(x.new_empty(x.shape) if x.numel() == 0 else x)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    process = multiprocessing.get_context("spawn").Process(target=show)
    process.start()
    process.join()
    if process.exitcode not in (0, -6):
        raise RuntimeError(f"another error: exit code {process.exitcode}")
    bug = process.exitcode == -6
    print(f"{'BUG' if bug else 'ok'}: the call with an empty batch ends with exit code {process.exitcode}")
    raise SystemExit(bug)
