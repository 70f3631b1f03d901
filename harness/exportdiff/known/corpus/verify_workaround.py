"""Verifies the workaround of an entry: eager does the same with it, and its path is right."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.core.case import case_from_source, seed
from exportdiff.judging.judge_case import judge_case
from exportdiff.known.corpus.workaround import CALL, MODEL, OPTIONS
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.backends import runners_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from torch.export import ExportedProgram

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Consequence, Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.results import Verdict
    from exportdiff.known.corpus.entry import Entry


def workaround_problems(entry: Entry) -> list[str]:
    """Run an entry with its workaround; return a line for each thing that is wrong."""
    source = entry.file.read_text(encoding="utf-8")
    given = case_from_source(source, finite_only=False)
    given = replace(given, thorough=entry.shows_after_refusal or entry.path.startswith("compile"))
    names: dict[str, Any] = given.make.__globals__
    made = given if MODEL not in names else replace(given, make=names[MODEL])
    options = names[OPTIONS]() if OPTIONS in names else {}
    expected, got = _Behaviour.of(given, _call), _Behaviour.of(made, names.get(CALL, _call))
    problems = [f"eager has other {name} with the workaround" for name in expected.differences(got)]
    path = parse(entry.path)
    if CALL in names:
        # Called so, the result of the path does what the entry's model does.
        with _exported_with(options, made), _called_by(names[CALL], path):
            verdict = judge_case(given, (path,))
    else:
        with _exported_with(options):
            verdict = judge_case(made, (path,))
    return [*problems, *_wrong_on_path(verdict, given, entry)]


def _wrong_on_path(verdict: Verdict, given: Case, entry: Entry) -> Iterator[str]:
    """Yield what is wrong on the path. What other bugs of the entry's model cause is not wrong."""
    if not verdict.valid or not verdict.paths:
        yield f"eager and the path cannot be compared: {verdict.invalid_reason}"
        return
    (result,) = verdict.paths
    if result.outcome == "agrees":
        return
    before = judge_case(given, (result.path,))
    if result.outcome not in ("differs", *(each.outcome for each in before.paths)):
        yield f"the path is {result.outcome}: {result.message or result.reason}"
    others = {words for finding in before.findings for words in _all_words(finding)}
    for finding in verdict.findings:
        if _words(finding) not in others or any(map(finding.matches, entry.signatures)):
            yield f"still differs: {finding.title}"


def _all_words(finding: Finding) -> Iterator[tuple[str, ...]]:
    yield _words(finding)
    yield from map(_words, finding.consequences)


def _words(shown: Finding | Consequence) -> tuple[str, ...]:
    return (shown.check, shown.evidence.kind, *shown.evidence.words())


def _call(module: Callable[..., object], *args: object, **kwargs: object) -> object:
    return module(*args, **kwargs)


@dataclass(frozen=True)
class _Behaviour:
    """What one call of eager and its backward pass give. Names do not count: a workaround may rename."""

    results: Sequence[Any]
    inputs: Sequence[Any]
    state: Sequence[Any]
    gradients: Sequence[Any]

    @classmethod
    def of(cls, case: Case, call: Callable[..., object]) -> _Behaviour:
        built = case.build()
        seed(0)
        results = pytree.tree_leaves(call(built.model, *built.args, **built.kwargs))
        differentiable = [each for each in _tensors(results) if each.requires_grad]
        if differentiable:
            total = torch.stack([each.float().sum() for each in differentiable]).sum()
            total.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        inputs = _tensors(pytree.tree_leaves((built.args, built.kwargs)))
        # A tensor that has several names counts once.
        state = [*{id(each): each for each in built.model.state_dict(keep_vars=True).values()}.values()]
        flags = [each.requires_grad for each in _tensors(results)]
        return cls([*results, *flags], inputs, state, [each.grad for each in (*state, *inputs)])

    def differences(self, other: _Behaviour) -> Iterator[str]:
        """Yield the names of what differs."""
        for name, value in vars(self).items():
            if not _same(value, getattr(other, name)):
                yield name


def _tensors(values: Sequence[object]) -> list[torch.Tensor]:
    return [each for each in values if isinstance(each, torch.Tensor)]


def _same(expected: Sequence[Any], got: Sequence[Any]) -> bool:
    return len(expected) == len(got) and all(map(_equal, expected, got))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    return type(one) is type(other) and (one == other or repr(one) == repr(other) == "nan")


@contextlib.contextmanager
def _exported_with(options: Mapping[str, object], case: Case | None = None) -> Iterator[None]:
    """Inside the block, torch.export.export gets these keyword arguments, and the model of this case."""
    export = torch.export.export

    def exported(model: nn.Module, *args: Any, **given: Any) -> ExportedProgram:
        return export(model if case is None else case.build().model, *args, **{**given, **options})

    torch.export.export = exported  # type: ignore[assignment]  # it takes what export takes
    try:
        yield
    finally:
        torch.export.export = export


@contextlib.contextmanager
def _called_by(call: Callable[..., object], path: Path) -> Iterator[None]:
    """Inside the block, the results of a path are called by a function, with dicts in another order."""
    runners = runners_after(path.mode)
    runner = runners[path.runner]

    def run(program: ExportedProgram) -> Callable[..., object]:
        module: Callable[..., object] = runner.function(program)
        if not isinstance(module, nn.Module):  # what a backend returns
            return lambda *args, **kwargs: call(module, *map(_reordered, args), **kwargs)
        plain = type(module)

        def changed(self: nn.Module, *args: object, **kwargs: object) -> object:
            self.__class__ = plain
            try:
                return call(self, *map(_reordered, args), **kwargs)
            finally:
                self.__class__ = called

        called = type(plain.__name__, (plain,), {"__call__": changed})
        module.__class__ = called
        return module

    runners[path.runner] = replace(runner, function=run)
    try:
        yield
    finally:
        runners[path.runner] = runner


def _reordered(value: object) -> object:
    """Return a dict of several keys with its keys in the reverse order."""
    return dict(reversed(value.items())) if isinstance(value, dict) and len(value) > 1 else value
