# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: without memory for outputs, to_executorch fails if a buffer is written to itself"
# id = "XE007"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a buffer that is copied to itself, and alloc_graph_output=False"
# topics = ["buffers"]
# cause = """
# The new value of such a buffer is the buffer: it is an input of the graph and an output. Memory planning
# leaves out the outputs if alloc_graph_output is False, and with them the buffer, which needs memory in
# any case. It should plan a mutable buffer though it is an output."""
# path = "executorch:unplanned@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "InternalError"]]
# trigger = ["inplace.buffer"]
# runners = ["unplanned"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/memory_planning.py, get_graph_output_tensors: it takes mutable buffers"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_executorch raises an InternalError: 'Mutable buffer "mean" must have a memory id and offset'.

A buffer is copied to itself, so that it is an output of the graph. alloc_graph_output=False means that
callers give memory for the outputs. A buffer that the model writes to should get memory all the same.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(2))

    def forward(self, x):
        self.mean.copy_(self.mean)
        return x + self.mean


def make():
    return Model(), (torch.ones(2),)


def show():
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.exir.passes import MemoryPlanningPass

    model, args = make()
    planning = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    to_edge(torch.export.export(model, args)).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=planning)
    )


def make_workaround():
    """Leave out the copy, which changes nothing."""

    class Reading(Model):
        def forward(self, x):
            return x + self.mean

    return Reading(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "must have a memory id" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_executorch raises {error!r:.100}")
    print("ok: neither eager nor to_executorch raises")
