# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD375"
# title = "torch.compile: recompiles at each call if forward defines a class, until it gives up"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "a NamedTuple or a small helper class that is defined in forward"
# topics = ["graph-modules"]
# cause = """
# By default, Dynamo does not trace the definition of a class (`enable_trace_load_build_class` is off), and
# breaks the graph there. Each call defines another class, and a guard on the identity of the class fails each
# time. At the recompile limit, eight, Dynamo gives up, and eager runs this part. Dynamo should not guard on
# an object that each call makes anew."""
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "recompiled", "identity"]]
# trigger = ["idiom.local_class"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/variables/builtin.py, call___build_class__: breaks the graph by default"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Forward defines a small class. With torch.compile, each call compiles again, until Dynamo gives up.

By default, Dynamo does not trace the definition of a class (`enable_trace_load_build_class` is off), and
breaks the graph there. Each call defines another class, and a guard on the identity of the class fails each
time. At the recompile limit, eight, Dynamo gives up, and eager runs this part. Dynamo should not guard on an
object that each call makes anew.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        class Doubled:
            def __init__(self, x):
                self.x = x * 2

        return Doubled(x).x + 1


def make():
    return Model(), (torch.ones(1),)


def compilations(model, args):
    """Return how many times a second call compiles."""
    compiled = torch.compile(model, backend="eager")
    compiled(*args)
    torch._dynamo.utils.clear_compilation_metrics()
    compiled(*args)
    return len(torch._dynamo.utils.get_compilation_metrics())


def show():
    return 0, compilations(*make())


def make_workaround():
    """Define the class outside of forward."""

    class Doubled:
        def __init__(self, x):
            self.x = x * 2

    class Outside(nn.Module):
        def forward(self, x):
            return Doubled(x).x + 1

    return Outside(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    print(f"{'BUG' if got else 'ok'}: a second call with equal inputs compiles {got} times, not {expected}")
    raise SystemExit(bool(got))
