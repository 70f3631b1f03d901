"""Limits of Dynamo when it compiles again, for a call that differs from those before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.judging.checks.guards.recompiles import DeviatingCallRaised
from exportdiff.judging.exemptions.limits.limit import limit

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="Once sizes are dynamic, as they are after a call with another size, torch.cond does not take "
    "branches whose results are not dense in memory.",
    documented="torch/_higher_order_ops/cond.py, _merge_output: 'we cannot determine the expr of strides "
    "from the new shapes so we error out and hint users to call contiguous()'; as the refusal cond-strides",
    everywhere=True,
)
def cond_does_not_merge_strides(compared: Comparison) -> bool:
    """Whether cond refuses the strides of its branches when a deviating call is compiled."""
    evidence = compared.evidence
    return (
        isinstance(evidence, DeviatingCallRaised)
        and evidence.failure.name == "TorchRuntimeError"
        and re.search(_SAYS, evidence.failure.message) is not None
    )


_SAYS = (
    r"call_function cond\(.*: got RuntimeError\(.It seems one of cond's output stride is not a simple "
    r"accumulative multiplication of sizes\."
)
"""What Dynamo says of the operator that raised, and what the operator said."""


@limit(
    LIMITS,
    says="With fullgraph=True, Dynamo refuses a call for which it must compile again and break the graph.",
    documented="docs.pytorch.org, torch.compile, fullgraph: 'if there are graph breaks, then this will raise "
    "an error'; as the refusal dynamo-unsupported",
    everywhere=True,
)
def full_graphs_do_not_break(compared: Comparison) -> bool:
    """Whether Dynamo refuses to break the graph of a deviating call."""
    evidence = compared.evidence
    return (
        compared.path.runner == "fullgraph"
        and isinstance(evidence, DeviatingCallRaised)
        and "torch._dynamo.exc.Unsupported" in evidence.failure.types
    )
