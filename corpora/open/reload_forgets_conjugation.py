# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD186"
# title = "torch.export.load: a buffer saved as x.conj() comes back without the conjugation"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a buffer that is the conj() of a tensor, in a program that is saved"
# topics = ["dtypes", "buffers"]
# cause = """
# conj() only sets a bit of the tensor. `_get_raw_tensor_bytes` writes the bytes of the storage, and the file
# does not say that the bit is set. The same holds for the negative bit."""
# path = "nonstrict+reload:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer", "at-start"]]
# fix = "save_pickles_lazy_conjugates"
# upstream = "https://github.com/pytorch/pytorch/issues/81690"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/pt2_archive/_package.py, _get_raw_tensor_bytes: the storage, whatever the bits"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer is `torch.tensor(1 + 2j).conj()`. After save and load it is 1 + 2j.

conj() only sets a bit of the tensor. `_get_raw_tensor_bytes` writes the bytes of the storage, and the file
does not say that the bit is set. The same holds for the negative bit.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buf", torch.tensor(1 + 2j).conj())

    def forward(self, x):
        return x * self.buf


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return model.buf.item(), torch.export.load(file).module().buf.item()


def make_workaround():
    """Resolve the conjugation before registering the buffer."""

    class Resolved(Model):
        def __init__(self):
            torch.nn.Module.__init__(self)
            self.register_buffer("buf", torch.tensor(1 + 2j).conj().resolve_conj())

    return Resolved(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the buffer is {expected} in eager, {got} after loading")
    raise SystemExit(bug)
