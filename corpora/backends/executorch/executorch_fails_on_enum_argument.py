# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge raises a TypeError if an Enum is among the arguments of forward"
# id = "XE003"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an Enum among the arguments of forward, which chooses a mode"
# topics = ["arguments"]
# cause = """
# torch.export makes an Enum an input of the kind CUSTOM_OBJ. _get_updated_graph_signature makes each argument
# again from its class and a name alone, and a CustomObjArgument needs the name of its class too. It should
# copy the argument with the new name."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "missing required positional argument"]]
# trigger = ["input.enum"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/_program_utils.py, _get_updated_graph_signature: it leaves out class_fqn"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge raises a TypeError: "CustomObjArgument.__init__() missing 1 required positional argument".

An argument of the model is an Enum. torch.export makes an input of it that has a name and a class; to_edge
makes this input again without the class. It should keep the class.
"""

import enum
import sys

import torch


class Mode(enum.Enum):
    DOUBLE = 1
    HALF = 2


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x * 2 if mode is Mode.DOUBLE else x / 2


def make():
    return Model(), (torch.ones(2), Mode.DOUBLE)


def show():
    from executorch.exir import to_edge

    model, args = make()
    to_edge(torch.export.export(model, args)).to_executorch()


def make_workaround():
    """Give the model the Enum when it is made."""

    class Fixed(Model):
        def forward(self, x):
            return super().forward(x, Mode.DOUBLE)

    return Fixed(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        if "class_fqn" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.100}")
    print("ok: neither eager nor to_edge raises")
