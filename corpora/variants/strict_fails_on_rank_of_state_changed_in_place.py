# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): IndexError for self.buffer.flatten().unsqueeze_(0)"
# variant-of = "strict_records_mutated_input_shape"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "IndexError", "guards.py:SHAPE_ENV"]]
# fix = "inplace_view_of_input_by_any_name"
# upstream = ""
# at-fault = "torch/_dynamo/variables/tensor.py, var_getattr: recognizes inputs by their source only"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`flatten()` of a vector returns the vector itself, so that `unsqueeze_` changes the buffer. Strict export
raises IndexError.

Dynamo refuses `self.buffer.unsqueeze_(0)`, but recognizes state only by its source, and the result of flatten
has none. Then guards are made for the changed buffer, which has one dimension more than it had.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self):
        self.buffer.flatten().unsqueeze_(0)


def make():
    model = Model()
    model.register_buffer("buffer", torch.ones(1))
    return model, ()


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    except torch._dynamo.exc.Unsupported:
        print("ok: export refuses the model")
        raise SystemExit(0) from None
    print("ok: neither eager nor export raises")
