"""Limits that all backends share: each follows from what a backend states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.leaves import ValuesDiffer
from exportdiff.judging.checks.outputs import OutputLeaf
from exportdiff.judging.exemptions.backend import backend_of
from exportdiff.judging.exemptions.limits.limit import limit

if TYPE_CHECKING:
    from exportdiff.judging.exemptions.limits.limit import Comparison, Limit

LIMITS: list[Limit] = []


@limit(
    LIMITS,
    says="A backend computes with kernels of its own, which round differently.",
    documented="the tolerance that the backend states for the dtype",
)
def kernels_round_differently(compared: Comparison) -> bool:
    """Whether an output is as near to the float64 reference as the backend states."""
    backend, evidence = backend_of(compared.path), compared.evidence
    if backend is None or not isinstance(evidence, OutputLeaf) or not isinstance(evidence.leaf, ValuesDiffer):
        return False
    leaf = evidence.leaf
    if leaf.closeness is not None:
        return False  # the user says what is tolerated
    stated = backend.tolerance.get(leaf.tensor.partition("[")[0])
    return stated is not None and leaf.error <= stated[0] * leaf.largest + stated[1]


@limit(
    LIMITS,
    says="A backend draws random numbers from a generator of its own.",
    documented="the backend does not promise the random numbers of eager",
)
def random_numbers_are_others(compared: Comparison) -> bool:
    """Whether a call of eager draws random numbers, on a backend that draws others."""
    backend = backend_of(compared.path)
    return (
        backend is not None and "random numbers" in backend.not_promised and "calls" in compared.eager.draws
    )
