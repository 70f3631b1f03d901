"""Imported once by the fork server, so that every child is a fresh process with torch loaded.

Only imports run here: all children would share the state that anything else left.
The list holds what the first export imports, which saves every child half a second.
"""

from __future__ import annotations

import importlib
import warnings

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
    "networkx",
    "hypothesis",
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name in MODULES:
        try:
            importlib.import_module(name)
        # Private modules differ between torch versions; without one a child is only slower.
        except ImportError:
            continue
