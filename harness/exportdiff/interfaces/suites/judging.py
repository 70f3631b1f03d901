"""Judges one call, in a copy of the process that made it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.explaining import explained
from exportdiff.interfaces.checking.in_process import judge_in_process
from exportdiff.interfaces.checking.loading import case_of
from exportdiff.interfaces.checking.path_choice import chosen
from exportdiff.interfaces.suites.judged_call import Unjudgeable
from exportdiff.known.corpus.entry import default_corpora

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.case import Case
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.interfaces.checking.path_choice import Paths
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.interfaces.suites.apis import Call


class UnjudgeableError(Exception):
    """A call cannot be judged."""

    def __init__(self, why: Unjudgeable) -> None:
        """Keep the reason."""
        super().__init__(why.reason)
        self.why = why


def judge_call(call: Call, paths: Paths) -> Iterator[Report | Unjudgeable]:
    """Yield the report on a call: first with findings that are not explained, then better ones.

    ``paths``: other paths than those of the call; empty: those of the call.
    """
    try:
        case = _case(call)
    except UnjudgeableError as error:
        yield error.why
        return
    report = judge_in_process(case, chosen(paths or call.paths, "cpu"))
    corpora = default_corpora()
    if not report.found or corpora is None:
        yield report
        return
    parts: list[tuple[Found, ...]] = [(replace(each, searched=False),) for each in report.found]
    yield _with(report, parts)
    for number, better in enumerate(explained(case, report, corpora)):
        parts[number] = better
        yield _with(report, parts)


def _with(report: Report, parts: list[tuple[Found, ...]]) -> Report:
    return report.with_found(tuple(each for found in parts for each in found))


def _case(call: Call) -> Case:
    """Return the case of a call, or raise UnjudgeableError."""
    if not isinstance(call.model, nn.Module):
        raise UnjudgeableError(
            Unjudgeable("the model is not an nn.Module", f"it is a {type(call.model).__name__}")
        )
    if getattr(torch._functorch.config, "fake_tensor_propagate_real_tensors", False):
        # Export then compares each operator with its fake kernel, and assumes the values of the example.
        raise UnjudgeableError(
            Unjudgeable("made with fake_tensor_propagate_real_tensors, which is for debugging")
        )
    tensors = [*call.model.parameters(), *call.model.buffers()]
    tensors += pytree.tree_leaves((call.args, call.kwargs))
    if any(map(_has_no_values, tensors)):
        raise UnjudgeableError(Unjudgeable("no values: fake, meta or uninitialized tensors"))
    # A GPU build of torch counts torch.cuda.is_available() as a use of CUDA. Without tensors there, that does
    # no harm.
    if torch.cuda._is_in_bad_fork() and any(map(_is_on_cuda, tensors)):
        raise UnjudgeableError(Unjudgeable("tensors on CUDA: the copy of a process cannot use them"))
    try:
        copy.deepcopy((call.model, call.args, call.kwargs))
    except Exception as error:
        why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise UnjudgeableError(Unjudgeable("the model or its inputs cannot be copied", why)) from None
    try:
        return case_of(
            call.model,
            call.args,  # type: ignore[arg-type]  # it checks them
            call.kwargs,  # type: ignore[arg-type]  # as above
            dynamic_shapes=call.dynamic_shapes,
        )
    except UsageError as error:
        raise UnjudgeableError(Unjudgeable("the arguments are not those of an export", str(error))) from None


def _has_no_values(leaf: object) -> bool:
    if not isinstance(leaf, torch.Tensor):
        return False
    return isinstance(leaf, FakeTensor) or bool(is_lazy(leaf)) or leaf.is_meta


def _is_on_cuda(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.is_cuda
