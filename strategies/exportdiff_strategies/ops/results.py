"""The table of ops that return a named tuple of torch: a rule for each field.

To add one, add one entry to RESULTS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exportdiff_strategies.ops.reductions import TABLE
from exportdiff_strategies.ops.spec import Choices, Operand, OpResult, OpSpec, Params


@dataclass(frozen=True, slots=True)
class ResultSpec:
    """One entry: its text, as in OpSpec, and for each field an op that has the same result."""

    template: str
    fields: dict[str, OpSpec]

    @property
    def choices(self) -> Choices:
        """The constants that may fit the operand."""
        return next(iter(self.fields.values())).choices


def _indices(values: OpSpec) -> OpSpec:
    """The indices that belong to these values."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        found = values.rule(operands, params)
        return OpResult(replace(found.type, dtype="int64"), float(operands[0].type.numel))

    return replace(values, rule=rule, stops_grad=True)


def _with_indices(template: str, values: str) -> ResultSpec:
    return ResultSpec(template, {"values": TABLE[values], "indices": _indices(TABLE[values])})


RESULTS: dict[str, ResultSpec] = {
    "max": _with_indices("{0}.max({p[0]})", "max_values"),
    "min": _with_indices("{0}.min({p[0]})", "max_values"),
    "sort": _with_indices("{0}.sort(stable=True, dim={p[0]})", "sort"),
    "topk": _with_indices("{0}.topk(1, dim={p[0]})", "topk"),
    "cummax": _with_indices("{0}.cummax({p[0]})", "cummax"),
    "aminmax": ResultSpec("torch.aminmax({0}, dim={p[0]})", {"min": TABLE["amin"], "max": TABLE["amax"]}),
}
"""Every such op by its name."""
