# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge raises a SpecViolationError if the model overwrites a parameter"
# id = "XE036"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a model that sets a parameter in forward, under no_grad"
# topics = ["in-place"]
# cause = """
# remove_unused_parameters_pass removes each parameter whose input nothing in the graph uses. The graph writes
# to this parameter, and does not read it. Its output of the kind PARAMETER_MUTATION stays, and the check of
# the program does not find the parameter. The pass should keep a parameter that an output writes to."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "lower", "SpecViolationError", "exported_program.py:_validate", "verifier.py:check",
#    "verifier.py:_verify_exported_program_signature"],
# ]
# trigger = ["inplace.parameter"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/passes/remove_unused_parameters_pass.py: it does not look at the outputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge raises SpecViolationError: "Parameter output x does not point to a parameter that exists".

The model copies its input into a parameter, under no_grad. to_edge removes the parameter, because nothing
reads it, and then does not find what the graph writes to. It should keep the parameter.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Parameter(torch.zeros(2))

    def forward(self, x):
        with torch.no_grad():
            self.last.copy_(x)
        return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    from executorch.exir import to_edge

    model, args = make()
    to_edge(torch.export.export(model, args))


def make_workaround():
    """Make the parameter a buffer."""

    class Buffer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(2))

        def forward(self, x):
            self.last.copy_(x)
            return x + 1

    return Buffer(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "does not point to a parameter that exists" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.100}")
    print("ok: neither eager nor to_edge raises")
