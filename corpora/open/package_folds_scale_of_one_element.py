# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD372"
# title = "AOTInductor: load_constants leaves a product with a scale as it was at compilation"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a package gets the weights of a later checkpoint, and computes with a scale of one element"
# topics = ["constants"]
# cause = """
# `UniformValueConstantFolder` computes what an operator makes of a parameter or buffer of one element, and
# writes the result into the graph, also with always_keep_tensor_constants. It should not take parameters and
# buffers of a package for constants, because `load_constants` replaces them."""
# path = "aoti:updated@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# trigger = ["state.buffer"]
# upstream = "https://github.com/pytorch/pytorch/pull/185077"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torch/_inductor/fx_passes/joint_graph.py, UniformValueConstantFolder: folds get_attr of weights"
# workaround = "none: keep such weights in tensors of two elements or more"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A package gets a new scale. It goes on with the double of the old one.

`UniformValueConstantFolder` computes what an operator makes of a parameter or buffer of one element, and
writes the result into the graph, also with always_keep_tensor_constants. It should not take parameters and
buffers of a package for constants, because `load_constants` replaces them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self, value=1.0):
        super().__init__()
        self.register_buffer("scale", torch.full((), value))

    def forward(self, x):
        return x + self.scale * 2  # first difference


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    program = torch.export.export(Model(5.0), args)
    options = {"always_keep_tensor_constants": True}
    compiled = torch._inductor.aoti_load_package(
        torch._inductor.aoti_compile_and_package(program, inductor_configs=options)
    )
    state, names = model.state_dict(), compiled.get_constant_fqns()
    compiled.load_constants({name: state[name] for name in names}, check_full_update=True)
    return model(*args), compiled(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the package with its weights {got}")
    raise SystemExit(bug)
