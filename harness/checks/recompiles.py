"""The half of guards that is about torch.compile: what was compiled serves equal calls, and no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from harness.checks.aftermath import unequal
from harness.checks.compare import compare_leaf
from harness.checks.crash import crash_signature, shortened
from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observation import Call, Compilation, Failure, Observation


class Reason(NamedTuple):
    """One way in which Dynamo words the guard that failed."""

    word: str
    pattern: re.Pattern[str]


# torch/csrc/dynamo/guards.cpp (TensorCheck, GlobalStateGuard, the leaf guards) and torch/_dynamo/guards.py.
REASONS = (
    Reason("tensor-size", re.compile(r"size mismatch at index|\.size\(\)")),
    Reason("tensor-stride", re.compile(r"stride mismatch at index|\.stride\(\)")),
    Reason("tensor-rank", re.compile(r"rank mismatch")),
    Reason("tensor-dtype", re.compile(r"dtype mismatch|dispatch key set mismatch|device index mismatch")),
    Reason("tensor-requires-grad", re.compile(r"requires_grad mismatch")),
    Reason("tensor-aliasing", re.compile(r"Duplicate tensor|duplicate tensor| is L\[| is G\[|object_aliasing")),
    Reason("global-state", re.compile(r"GLOBAL_STATE changed|torch_function_mode_stack")),
    Reason("type", re.compile(r"check_type_id|expected type of|TYPE_MATCH")),
    Reason("identity", re.compile(r"check_obj_id|got deallocated")),
    Reason("value", re.compile(r" == ")),
)


def reason_word(because: str) -> str:
    """Name the sort of guard that failed."""
    line = because.strip().partition("\n")[0]
    return next((word for word, pattern in REASONS if pattern.search(line)), "other")


class Documented(NamedTuple):
    """A compilation that torch says will happen again, all being equal."""

    file: re.Pattern[str]
    code: re.Pattern[str]
    documented: str


DOCUMENTED = (
    Documented(
        re.compile(r"^torch/_higher_order_ops/"),
        re.compile(""),
        "torch/_higher_order_ops/utils.py, _maybe_compile_and_run_fn: torch.cond and its like, called outside "
        "of a graph, compile what they are given by themselves",
    ),
)
"""What is compiled in every call is no finding if it is one of these."""


def is_documented(compilation: Compilation) -> bool:
    """Whether torch announces this compilation."""
    return any(
        rule.file.search(compilation.file) and rule.code.search(compilation.code) for rule in DOCUMENTED
    )


def recompiles(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Look for work done again for an equal call, and for a call that another kind of call was compiled for."""
    if candidate.reference is None:
        return
    if candidate.restarted and len(candidate.calls) > 1 and _is_put_back(reference):
        yield from _again(candidate.calls[1])
    expected = {made.words: made.call for made in reference.off_spec}
    for made in candidate.off_spec:
        eager = expected.get(made.words)
        if made.call.failure is not None and eager is not None and eager.failure is None:
            yield _raised(made.alteration, made.words, made.call.failure, len(candidate.calls))


def _is_put_back(reference: Observation) -> bool:
    """Whether eager, put back to its start, does the same again: if not, something of it was not put back."""
    return not any(_unlike(*reference.calls[:2]))


def _again(call: Call) -> Iterator[Difference]:
    """Report what was compiled for a call that differs in nothing from the one before."""
    for compilation in call.compiled:
        if is_documented(compilation):
            continue
        sort = reason_word(compilation.because) if compilation.because else "first-time"
        guard = shortened(compilation.because, lines=1) or "this code was not compiled in the first call"
        yield mismatch(
            ("recompiled", sort),
            "a second call, with equal inputs and the model as it was, compiles again",
            f"compiled: {compilation.code} in {compilation.file}",
            f"because: {guard}",
        )


def _raised(alteration: str, words: str, failure: Failure, number: int) -> Difference:
    message = f"a call in which {words} raised {failure.name}, eager did not\n{shortened(failure.message)}"
    what = ("served", alteration, *crash_signature(failure))
    return Difference("crash", "run", what, message, number, follows=True)


def _unlike(one: Call, other: Call) -> Iterator[object]:
    """Yield what differs between two calls of one model."""
    for ours, theirs in ((one.outputs, other.outputs), (one.inputs, other.inputs)):
        if ours is None or theirs is None or ours.structure != theirs.structure:
            yield from () if ours is theirs else (ours,)
        else:
            yield from filter(None, (compare_leaf(a.value, b.value, metadata=True) for a, b in zip(ours.leaves, theirs.leaves, strict=True)))
    for name in {**one.state.tensors, **other.state.tensors}:
        a, b = one.state.tensors.get(name), other.state.tensors.get(name)
        if a is None or b is None or compare_leaf(a, b, metadata=True):
            yield name
    if one.aftermath is not None and other.aftermath is not None:
        yield from unequal(one.aftermath.attributes, other.aftermath.attributes)
