# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD065"
# title = "draft_export: RuntimeError for an input that is x.conj()"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a lazy conjugate such as x.conj() as the example of a draft export"
# topics = ["dtypes"]
# cause = """
# conj() changes no memory; it sets a bit of the tensor. draft_export keeps a real tensor for each fake one,
# and `MetaConverter` sets the bit of the fake one only. So the two have different values. It should set the
# bit of both."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "RuntimeError", "fake_tensor.py:_maybe_infer_fake"]]
# fix = "draft_export_marks_real_tensors_as_conjugate"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/meta_utils.py, MetaConverter.meta_tensor: _set_conj(r), not the real tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The input is `x.conj()`. torch.export accepts it, draft_export raises RuntimeError.

conj() changes no memory; it sets a bit of the tensor. draft_export keeps a real tensor for each fake one, and
`MetaConverter` sets the bit of the fake one only. So the two have different values. It should set the bit of
both.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[1:]


def make():
    return Model(), (torch.tensor([1 + 1j, 2 + 2j]).conj(),)


def show():
    model, args = make()
    return model(*args), torch.export.draft_export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, draft_export raises {error!r}")
    print(f"ok: eager returns {expected}, draft_export raises nothing")
