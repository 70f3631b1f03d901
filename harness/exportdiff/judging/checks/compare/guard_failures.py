"""Recognizes by its message that torch refused a call because of its inputs, before anything ran."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Call

# How torch says that the inputs of a call do not fit what was exported. Key: what does not fit
# (torch/export/_unlift.py, torch/_export/utils.py, torch/export/unflatten.py).
_REFUSALS = {
    "size": re.compile(
        r"Guard failed: .*\.size\(\)|Expected input (at )?(\*args|'\w+'|\w+)\S*\.shape\S* (to be|= )"
        r"|Unexpected number of dimensions in input"
    ),
    "value": re.compile(r"Guard failed: |Expected input (at )?(\*args|'\w+'|\w+)\S* (to be|= )"),
    "structure": re.compile(
        r"Unexpected number of inputs|Trying to flatten user inputs with exported input tree spec"
        r"|There is no flat args adapter specified"
    ),
}


# Where torch.compile traces ep.module(), Dynamo wraps what the guard raises (torch/_dynamo/utils.py,
# _wrap_graph_break_with_torch_runtime_err).
_WRAPPED = re.compile(r"got AssertionError\(['\"](Guard failed: .*)")


# What export could not decide for all sizes, it asserts in the graph (torch/fx/passes/runtime_assert.py).
_ASSERTION = re.compile(r"Runtime assertion failed for expression ")


def input_misfit(failure: Failure, *, probe: bool) -> str | None:
    """Return what does not fit, such as ``size``; None if the call was not refused because of its inputs."""
    if failure.stage != "run":
        return None
    if probe and _ASSERTION.match(failure.message):
        return "assertion"
    wrapped = _WRAPPED.search(failure.message) if failure.name == "TorchRuntimeError" else None
    message = wrapped[1] if wrapped else failure.message
    return next((word for word, rule in _REFUSALS.items() if rule.match(message)), None)


def relates_sizes(failure: Failure) -> bool:
    """Whether a refusal names several dimensions: it says how their sizes must relate."""
    return input_misfit(failure, probe=True) is not None and len(set(_SIZE.findall(failure.message))) > 1


# ``x.size()[0]`` in a guard, ``s77`` in an assertion of the graph.
_SIZE = re.compile(r"[\w.\[\]']+\.size\(\)\[\d+\]|\bs\d+\b")


def is_guard_failure(call: Call) -> bool:
    """Whether a call was refused because of its inputs, before anything ran."""
    return call.failure is not None and input_misfit(call.failure, probe=call.probe) is not None
