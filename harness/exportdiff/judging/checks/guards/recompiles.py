"""Part of the guards check, for torch.compile: compiled code serves equal calls, and no others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from exportdiff.core.difference import MEASURED
from exportdiff.judging.checks.compare.crash import crash_lines, crash_words, shortened
from exportdiff.judging.checks.compare.deviating import Altered
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.compare.mappings import unequal
from exportdiff.judging.checks.evidence import InCall, WithoutCall
from exportdiff.runtime.observing.observation import CompiledObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Call, Compilation, Observation
    from exportdiff.runtime.observing.tensors import State, Tree


class Reason(NamedTuple):
    """How Dynamo describes the guard that failed."""

    word: str
    pattern: re.Pattern[str]


# torch/csrc/dynamo/guards.cpp (TensorCheck, GlobalStateGuard, the leaf guards) and torch/_dynamo/guards.py.
REASONS = (
    Reason("tensor-size", re.compile(r"size mismatch at index|\.size\(\)")),
    Reason("tensor-stride", re.compile(r"stride mismatch at index|\.stride\(\)")),
    Reason("tensor-rank", re.compile(r"rank mismatch")),
    Reason("tensor-dtype", re.compile(r"dtype mismatch|dispatch key set mismatch|device index mismatch")),
    Reason("tensor-requires-grad", re.compile(r"requires_grad mismatch")),
    Reason("tensor-aliasing", re.compile(r"[Dd]uplicate tensor| is L\[| is G\[|object_aliasing")),
    Reason("global-state", re.compile(r"GLOBAL_STATE changed|torch_function_mode_stack")),
    Reason("type", re.compile(r"check_type_id|expected type of|TYPE_MATCH")),
    Reason("identity", re.compile(r"check_obj_id|got deallocated")),
    Reason("value", re.compile(r" == ")),
)


def reason_word(because: str) -> str:
    """Name the sort of guard that failed; without one, the code was not compiled before."""
    line = because.strip().partition("\n")[0]
    if not line:
        return "first-time"
    return next((reason.word for reason in REASONS if reason.pattern.search(line)), "other")


class DocumentedRecompilation(NamedTuple):
    """A compilation that torch makes in every call, even if all calls are equal."""

    why: str
    documented: str
    file: str = ""
    """Regular expression to find in the name of the file that was compiled."""
    because: str = ""
    """Regular expression to find in the reason."""


DOCUMENTED_RECOMPILATIONS = (
    DocumentedRecompilation(
        "torch.cond and its like, called outside of a graph, compile what they are given by themselves.",
        "torch/_higher_order_ops/utils.py, _maybe_compile_and_run_fn",
        file=r"^torch/_higher_order_ops/",
    ),
    DocumentedRecompilation(
        "Fresh objects have other addresses: a model that asks for them did not get an equal call.",
        "docs.python.org, id(): 'unique and constant for this object during its lifetime'; docs.pytorch.org, "
        "Tensor.data_ptr; ints are guarded on their value: docs.pytorch.org, Dealing with Recompilations, "
        "'Wrapping Constants with Tensors'",
        # The reason ends with a comment that shows the line of the model.
        because=r"# .*\b(id|data_ptr)\(",
    ),
)
"""A second compilation is not a finding if one of these covers it.

The other documented reasons to compile again (docs.pytorch.org, Dealing with Recompilations: other sizes,
numbers, attributes, grad modes; automatic dynamic shapes) do not arise here: the two calls that are
compared agree in all of these, values included.
"""


def is_documented(compilation: Compilation) -> bool:
    """Whether torch documents that it compiles again."""
    because = compilation.because.strip().partition("\n")[0]
    return any(
        re.search(rule.file, compilation.file) and re.search(rule.because, because)
        for rule in DOCUMENTED_RECOMPILATIONS
    )


@dataclass(frozen=True)
class Recompiled(WithoutCall):
    """A second call, equal to the first one, compiles again."""

    code: str
    """The name of the code object that is compiled."""
    file: str
    """Its file: a path inside torch, or ``program``."""
    because: str = field(metadata=MEASURED)
    """The guard that failed, in torch's words; empty: the first call did not compile this code."""

    stage = "run"

    def words(self) -> tuple[str, ...]:
        return ("recompiled", reason_word(self.because))

    def lines(self) -> Iterator[str]:
        yield "a second call, with equal inputs and the model as it was, compiles again"
        yield f"compiled: {self.code} in {self.file}"
        guard = shortened(self.because, lines=1) or "this code was not compiled in the first call"
        yield f"because: {guard}"


@dataclass(frozen=True)
class DeviatingCallRaised(InCall):
    """A deviating call raises after compilation, and does not in eager."""

    call: int
    altered: Altered
    failure: Failure

    kind = "crash"

    in_deviating_call = True

    def words(self) -> tuple[str, ...]:
        return ("served", *crash_words(self.failure), self.altered.deviation)

    def lines(self) -> Iterator[str]:
        yield from crash_lines(f"a call in which {self.altered.description}", self.failure)


def recompiles(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Look for equal calls that compile again, and for other calls that fail because of compiled code."""
    if not isinstance(candidate, CompiledObservation):
        return
    if candidate.restarted and len(candidate.calls) > 1 and _is_restored(reference):
        for compilation in candidate.calls[1].compiled:
            if not is_documented(compilation):
                yield Recompiled(compilation.code, compilation.file, compilation.because)
    expected = {made.key: made.call for made in reference.deviations}
    for made in candidate.deviations:
        eager = expected.get(made.key)
        if made.call.failure is not None and eager is not None and eager.failure is None:
            yield DeviatingCallRaised(len(candidate.calls), Altered.of(made), made.call.failure)


def _is_restored(reference: Observation) -> bool:
    """Whether restored eager does the same again: if not, some of its state was not restored."""
    return len(reference.calls) > 1 and not _differ(*reference.calls[:2])


def _differ(one: Call, other: Call) -> bool:
    """Whether two calls of one model differ in what they give, take and leave."""
    if _trees_differ(one.outputs, other.outputs) or _trees_differ(one.inputs, other.inputs):
        return True
    if one.aftermath is not None and other.aftermath is not None:
        return _states_differ(one.state, other.state) or any(
            unequal(one.aftermath.attributes, other.aftermath.attributes)
        )
    return _states_differ(one.state, other.state)


def _trees_differ(one: Tree | None, other: Tree | None) -> bool:
    if one is None or other is None or one.structure != other.structure:
        return one is not other
    pairs = zip(one.leaves, other.leaves, strict=True)
    return any(compare_leaf(a.value, b.value, metadata=True) for a, b in pairs)


def _states_differ(one: State, other: State) -> bool:
    if one.tensors.keys() != other.tensors.keys():
        return True
    return any(compare_leaf(t, other.tensors[name], metadata=True) for name, t in one.tensors.items())
