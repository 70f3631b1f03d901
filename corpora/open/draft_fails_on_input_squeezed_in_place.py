# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD068"
# title = "draft_export: IndexError for x.squeeze_() on an input"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "squeeze_, unsqueeze_ or set_ on an input, in a draft export"
# topics = ["in-place"]
# cause = """
# draft_export keeps a real tensor for each fake one, and `squeeze_` changes the rank of both. The graph has a
# snapshot of the fake input. `fast_detach`, which makes it, gives it the real tensor of the input itself.
# `_free_unbacked_symbols_with_path` then reads a size of this one for each dimension of the snapshot.
# `fast_detach` should detach the real tensor as well."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "IndexError"]]
# fix = "snapshots_detach_their_real_tensors"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/fake_impls.py, fast_detach: real_tensor=x.real_tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model squeezes its input in place. torch.export accepts it, draft_export raises IndexError.

draft_export keeps a real tensor for each fake one, and `squeeze_` changes the rank of both. The graph has a
snapshot of the fake input. `fast_detach`, which makes it, gives it the real tensor of the input itself.
`_free_unbacked_symbols_with_path` then reads a size of this one for each dimension of the snapshot.
`fast_detach` should detach the real tensor as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.squeeze_() + 1


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    return model(*make()[1]), torch.export.draft_export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, draft_export raises {error!r}")
    print(f"ok: eager returns {expected}, draft_export raises nothing")
