# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD370"
# title = "AOTInductor: load_constants leaves a bias of up to eight elements as it was at compilation"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a package gets the weights of a later checkpoint, and has a scale or a short bias"
# topics = ["constants"]
# cause = """
# `GraphLowering.get_attr` writes a tensor without dimensions, or with up to eight elements in one
# dimension, into the generated code. It does so with parameters and buffers of a package too. These have no
# name in the package, so `load_constants(..., check_full_update=True)` does not ask for them. They should
# stay constants that have a name."""
# path = "aoti:updated@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# undetected-because = "the path compiles with always_keep_tensor_constants: most small models show it"
# trigger = ["state.parameter"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_inductor/graph.py, GraphLowering.get_attr: can_inline_constant of a parameter"
# workaround = "none: compile with inductor_configs={'always_keep_tensor_constants': True}"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A package gets new weights. Its matrix becomes the new one, its bias of four elements stays the old one.

`GraphLowering.get_attr` writes a tensor without dimensions, or with up to eight elements in one dimension,
into the generated code. It does so with parameters and buffers of a package too. These have no name in the
package, so `load_constants(..., check_full_update=True)` does not ask for them. They should stay constants
that have a name.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self, value=1.0):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        torch.nn.init.constant_(self.linear.weight, value)
        torch.nn.init.constant_(self.linear.bias, value)

    def forward(self, x):
        return self.linear(x)  # first difference


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    compiled = torch._inductor.aoti_load_package(
        torch._inductor.aoti_compile_and_package(torch.export.export(Model(2.0), args))
    )
    state, names = model.state_dict(), compiled.get_constant_fqns()
    compiled.load_constants({name: state[name] for name in names}, check_full_update=True)
    return model(*args), compiled(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected[0]}, the package with its weights {got[0]}")
    raise SystemExit(bug)
