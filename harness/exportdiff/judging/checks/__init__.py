"""Checks: pure functions from (what eager did, what a path did) to evidence of how they differ.

A check is one file, or one sub-package, with its evidence classes and its comparison. Adding one takes an
import and one line below.
"""

from exportdiff.judging.checks.aliasing import aliasing
from exportdiff.judging.checks.evidence import Check
from exportdiff.judging.checks.fake import fake
from exportdiff.judging.checks.gradients import gradients
from exportdiff.judging.checks.guards.check import guards
from exportdiff.judging.checks.inputs import inputs
from exportdiff.judging.checks.memory import memory
from exportdiff.judging.checks.outputs import outputs
from exportdiff.judging.checks.purity import purity
from exportdiff.judging.checks.sharing import sharing
from exportdiff.judging.checks.state import state
from exportdiff.judging.checks.structure.check import structure

OF_CALLS: dict[str, Check] = {
    check.__name__: check for check in (outputs, inputs, state, aliasing, gradients)
}
"""Checks of what every run shows, call by call: they can also compare two runs of eager."""

CHECKS: dict[str, Check] = OF_CALLS | {
    check.__name__: check for check in (sharing, structure, guards, purity, fake, memory)
}
"""All checks by name, in the order in which findings are reported."""

__all__ = ["CHECKS", "OF_CALLS", "Check"]
