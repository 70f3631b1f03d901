"""Imported once by the fork server, so that every child is a fresh process with torch loaded.

The list holds what the first export imports, which saves every child half a second. Apart from the imports,
the server only prepares to end what is left of its children: all children would share any other state.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import warnings

from exportdiff.runtime.processes.descendants import ask_for_orphans, end_all
from exportdiff.runtime.processes.server import SAFE_PATH

MODULES = (
    "torch",
    "torch.export",
    "torch.export._trace",
    "torch.export._unlift",
    "torch.export.unflatten",
    "torch._dynamo",
    "torch._dynamo.debug_utils",
    "torch._dynamo.testing",
    "torch._export.non_strict_utils",
    "torch._export.passes.lift_constants_pass",
    "torch._export.passes.replace_with_hop_pass_util",
    "torch._export.serde.serialize",
    "torch._functorch.aot_autograd",
    "torch._functorch.partitioners",
    "torch._functorch.compilers",
    "torch._inductor.codecache",
    "torch.distributed.pipelining",
    "sympy.tensor.tensor",
    "networkx",
    "hypothesis",
)

gc.disable()  # imports make little garbage, and to look for it takes a fifth of their time; see freeze
if os.environ.get("PYTHONSAFEPATH") == SAFE_PATH:
    del os.environ["PYTHONSAFEPATH"]
ask_for_orphans()
# The server ends with the command, also if that was killed. Children leave without this.
atexit.register(end_all)
# An orphan that ends is no child that the server knows.
warnings.filterwarnings("ignore", "forkserver: waitpid returned unexpected pid")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name in MODULES:
        try:
            importlib.import_module(name)
        # Private modules differ between torch versions; without one a child is only slower.
        except ImportError:
            continue
