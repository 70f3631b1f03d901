# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD129"
# title = "ep.module(): does not update a list or dict argument whose items forward replaces"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a key-value cache given in a list, dict or dataclass: silently not updated"
# evidence = ["https://github.com/huggingface/transformers/pull/33179"]
# topics = ["kv-cache", "containers"]
# cause = """
# Export runs forward with new containers, which it makes from the tensors. Changes of these containers are
# lost, and nothing warns. Export should refuse them."""
# path = "nonstrict:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "shape"]]
# trigger = ["input.dict"]
# upstream = "https://github.com/pytorch/pytorch/issues/147213"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, Wrapper.forward of _non_strict_export: drops what forward changed"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The caller passes a cache as a dict. forward puts longer keys into it; the program leaves it as it is.

Export runs forward with new containers, which it makes from the tensors. Changes of these containers are
lost, and nothing warns. Export should refuse them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, cache):
        cache["keys"] = torch.cat([cache["keys"], x])  # first difference
        return cache["keys"].sum()


def make():
    return Model(), (torch.ones(1), {"keys": torch.zeros(1)})


def show():
    model, (x, cache) = make()
    program = torch.export.export(model, (x, cache)).module()
    expected = dict(cache)
    model(x, expected)
    program(x, cache)
    return expected, cache


def make_workaround():
    """Return the new keys, and put them into the cache after the call."""

    class Returning(Model):
        def forward(self, x, cache):
            keys = torch.cat([cache["keys"], x])
            return keys.sum(), keys

    return Returning(), (torch.ones(1), {"keys": torch.zeros(1)})


def workaround_call(module, x, cache):
    result, cache["keys"] = module(x, cache)
    return result


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        print("ok: torch refuses in words:", error)
        raise SystemExit(0) from None
    bug = len(expected["keys"]) != len(got["keys"])
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected}, the exported program {got}")
    raise SystemExit(bug)
