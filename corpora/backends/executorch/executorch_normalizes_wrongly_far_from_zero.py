# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: LayerNorm and GroupNorm are wrong if the mean is much larger than the deviation"
# id = "XE027"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that normalizes raw values, such as pressures of 1000 hPa that differ by 1"
# topics = ["norms"]
# cause = """
# The portable kernels compute the variance as the mean of the squares minus the square of the mean, in
# float32. These two are almost equal, so that the difference is mostly rounding: it can be 0 or below.
# The kernels should sum the squares of the distances from the mean, as eager does."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"], ["outputs", "mismatch", "value", "fresh", "probe"]]
# trigger = ["layer.layer_norm|layer.group_norm"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/kernels/portable/cpu/op_native_layer_norm.cpp and op_native_group_norm.cpp: variance"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""LayerNorm of 10000, 10001 and 10002 gives -316, 0 and 316, instead of about -1.22, 0 and 1.22.

The kernel computes the variance as the mean of the squares minus the square of the mean. In float32, nothing
of it is left. It should sum the squares of the distances from the mean.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(3, elementwise_affine=False)

    def forward(self, x):
        return self.norm(x)  # first difference


def make():
    return Model(), (torch.tensor([10000.0, 10001.0, 10002.0]),)


def wrong_call(operator, args, kwargs):
    """The mean is larger than ten deviations: the error of the variance is above 1e-5."""
    if operator == "aten.native_layer_norm.default":
        rows = args[0].double().flatten(-len(args[1]))
    elif operator == "aten.native_group_norm.default":
        rows = args[0].double().reshape(args[0].shape[0] * args[6], -1)
    else:
        return False
    return bool((rows.mean(-1).abs() > 10 * rows.std(-1, unbiased=False)).any())


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    made = to_edge(torch.export.export(model, args)).to_executorch()
    program = Runtime.get().load_program(made.buffer)
    got = program.load_method("forward").execute(list(args))[0]
    return model(*args).tolist(), got.tolist()


def make_workaround():
    """Subtract the mean before the normalization."""

    class Centering(Model):
        def forward(self, x):
            return self.norm(x - x.mean(-1, keepdim=True))

    return Centering(), (torch.tensor([10000.0, 10001.0, 10002.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(torch.tensor(expected), torch.tensor(got), atol=0.01)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, ExecuTorch {got}")
    raise SystemExit(bug)
