# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD011"
# title = "torch.compile(backend=\"eager\"): backward raises if a layer is checkpointed twice within autocast"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a shared or recurrent layer, checkpointed and trained within autocast; backend eager"
# topics = ["checkpoint", "autocast", "shared-modules"]
# cause = """
# The second call of the layer takes the cast weight from the cache of autocast. When backward runs it again,
# the cache is empty and the weight is cast again. `tag_activation_checkpoint_impl` makes every checkpoint a
# selective one, which demands the same operators in backward. It should do so only where something is
# traced."""
# path = "compile:compiled@cpu"
# check = "gradients"
# kind = "crash"
# status = "open"
# signatures = [
#     ["gradients", "crash", "backward", "run", "RuntimeError",
#      "wrap.py:run_with_interpreter", "_compile.py:inner", "checkpoint.py:__torch_dispatch__"],
# ]
# fix = "checkpoint_is_selective_only_when_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/193338"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, tag_activation_checkpoint_impl: selective without a trace"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One layer is checkpointed twice within autocast. Compiled with backend="eager", its backward raises.

The second call of the layer takes the cast weight from the cache of autocast. When backward runs it again,
the cache is empty and the weight is cast again. `tag_activation_checkpoint_impl` makes every checkpoint a
selective one, which demands the same operators in backward. It should do so only where something is traced.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = checkpoint(self.layer, x, use_reentrant=False)
            return checkpoint(self.layer, x, use_reentrant=False)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    model(*args).sum().backward()
    expected = model.layer.weight.grad
    model, args = make()
    torch.compile(model, backend="eager")(*args).sum().backward()
    return expected, model.layer.weight.grad


def make_workaround():
    """Cast the weights once, outside of the checkpoint."""

    class Casting(Model):
        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                weight, bias = (each.to(torch.bfloat16) for each in self.layer.parameters())
                x = checkpoint(torch.nn.functional.linear, x, weight, bias, use_reentrant=False)
                return checkpoint(torch.nn.functional.linear, x, weight, bias, use_reentrant=False)

    torch.manual_seed(0)
    return Casting(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "not found in storage" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the compiled model raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager's gradient is {expected}, compiled: {got}")
    raise SystemExit(bug)
