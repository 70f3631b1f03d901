# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges a call that calls a child with one that calls a child of the child"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "calls", "order"]]
# fix = "unflatten_compares_graphs_by_content"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The second call of `outer` passes `inner` by and calls its child; the unflattened module calls `inner`.

`inner` does nothing but call its child, so that all values are right, but code that hooks or swaps `inner`
meets a call that eager does not make. The two graphs of `outer` differ in the target of their call_module
node alone, which _check_graph_equivalence does not compare.
"""

import sys

import torch


class Outer(torch.nn.Module):
    def forward(self, x):
        return self.inner(x) if x.dim() else self.inner[0](x)


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x).sum())


def make():
    model = Model()
    model.outer = Outer()
    model.outer.inner = torch.nn.Sequential(torch.nn.ReLU())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    for module in (model, unflattened):
        module.outer.inner.register_forward_hook(lambda module, args, output: output * 10)
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: inner hooked to give * 10, eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
