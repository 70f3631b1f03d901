# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): the program of a model with torch.func.grad returns fake tensors"
# variant-of = "export_of_func_grad_returns_fake_tensors"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind"]]
# fix = "export_refuses_gradients_of_torch_func"
# upstream = "https://github.com/pytorch/pytorch/issues/146719"
# upstream-match = "symptom"
# at-fault = "torch/_functorch/eager_transforms.py, _wrap_tensor_for_grad: a C function that no mode sees"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns `torch.func.grad(torch.sin)(x)`. Strict export raises nothing, and the program returns a
FakeTensor.

`_wrap_for_grad`, a C++ function, makes the tensor that grad differentiates. No mode sees it, so that this
tensor has no proxy, and operators that read it get a fake constant. Export should record it, or refuse
torch.func.grad.
"""

import sys
import warnings

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.func.grad(torch.sin)(x)


def make():
    return Model(), (torch.tensor(1.0),)


def show():
    warnings.simplefilter("ignore")
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "cannot record torch.func.grad" not in str(error):
            raise
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program gives {got!r}")
    raise SystemExit(bug)
