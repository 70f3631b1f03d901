# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "an in-place t_() on an input must not change what is recorded about that input"
# upstream = "https://github.com/pytorch/pytorch/issues/93610"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "seed"
# ///
"""The forward transposes its inputs in place: their size and stride differ before and after it.

What export and compile record about an input (placeholder metadata, guards) must describe it as it
was handed in: recorded afterwards, it rejects the very inputs that the program was made from.
"""

import sys
import warnings

import torch
from torch import nn


class M(nn.Module):
    def forward(self, x, y):
        x.t_()
        y.t_()
        return x + y


def make():
    return M(), (torch.arange(6.0).reshape(2, 3), torch.ones(2, 3))


def run(f):
    """What the call returns and how it leaves its inputs; fresh ones, since it changes them."""
    _, args = make()
    out = f(*args)
    return [(t.tolist(), t.stride()) for t in (out, *args)]


def differences():
    model, args = make()
    expected = run(model)
    candidates = {"compile": torch.compile(model, backend="eager")}
    try:
        ep = torch.export.export(model, args, strict=False)
    except RuntimeError as error:
        # Refusing such a mutation, as torch 2.5 does, is not a wrong answer.
        if "metadata mutation" not in str(error):
            raise
    else:
        candidates |= {"module": ep.module(), "unflatten": torch.export.unflatten(ep)}
        handed_in = [(t.shape, t.stride()) for t in args]
        nodes = [node for node in ep.graph.nodes if node.op == "placeholder"]
        recorded = [(node.meta["val"].shape, node.meta["val"].stride()) for node in nodes]
        if recorded != handed_in:
            yield f"inputs handed in as {handed_in}, recorded as {recorded}"
    for name, candidate in candidates.items():
        for call in (1, 2):
            try:
                seen = run(candidate)
            except Exception as error:
                seen = f"{type(error).__name__}: {str(error).strip()[:200]}"
            if seen != expected:
                yield f"{name}, call {call}: eager gives {expected}, this gives {seen}"


def show():
    warnings.simplefilter("ignore")
    return [], list(differences())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"BUG: {got[0]}" if bug else "ok: metadata and guards describe the inputs as handed in")
    raise SystemExit(bug)
