# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: two methods of a program overwrite each other's mutable buffers"
# id = "XE001"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a file with two methods of which one keeps state, such as a KV cache, run from Python"
# topics = ["buffers"]
# cause = """
# PyProgram allocates one set of arenas for all methods of a program. Temporary values may share it, but the
# mutable buffers are in it too, and must last from call to call. Each method should have arenas of its own,
# as in the module of portable_lib."""
# path = "executorch:methods@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["inplace.buffer|state.rebound*|state.running_statistics|hierarchy.*hook|idiom.*"]
# runners = ["methods"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/extension/pybindings/pybindings.cpp, PyProgram: one ProgramMemory for all methods"
# workaround = "none: executorch.runtime has no other arenas; load the file with portable_lib instead"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The buffer of one method has a wrong value after another method of the same program was called.

The documentation of ExecuTorch says: "Mutable buffers are not shared between methods." `Program.load_method`
of `executorch.runtime` gives all methods the same memory, also for their buffers. Each method should have
memory of its own.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count  # first difference


def make():
    return Model(), (torch.zeros(1),)


def show():
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
    from executorch.runtime import Runtime

    model, args = make()
    exported = {name: torch.export.export(model, args) for name in ("first", "second")}
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["count"])])
    program = Runtime.get().load_program(to_edge(exported).to_executorch(config).buffer)
    first, second = program.load_method("first"), program.load_method("second")
    first.execute(args)
    second.execute(args)
    model(*args)
    return model(*args), first.execute(args)[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the method {got}")
    raise SystemExit(bug)
