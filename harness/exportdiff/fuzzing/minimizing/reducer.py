"""Makes any Python text smaller: passes propose edits, a predicate decides."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from exportdiff.fuzzing.minimizing.passes import PASSES, Pass
from exportdiff.fuzzing.minimizing.size import Size, size
from exportdiff.fuzzing.minimizing.tree import Edit, SourceTree, merged

LAST_LEVEL = max(each.level for each in PASSES.values())


@dataclass(frozen=True)
class Problem:
    """A text, and the predicate that every smaller text has to satisfy."""

    source: str
    is_interesting: Callable[[str], bool]


class Reducer:
    """Makes the text of a problem smaller until no pass can.

    Only the answers of the predicate decide which texts are tried, so two runs try the same ones.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        passes: Mapping[str, Pass] = PASSES,
        over: Callable[[], bool] = lambda: False,
        tried: Iterable[str] = (),
        on_rejected: Callable[[str], None] = lambda digest: None,
        on_tried: Callable[[Reducer], None] = lambda reducer: None,
    ) -> None:
        """``over``: whether to stop; ``tried``: the digests of texts that an earlier run rejected."""
        self.best = problem.source
        self.tried = 0
        """The number of texts that the predicate has judged."""
        self.at = ""
        """The pass that is running."""
        self.finished = False
        """Whether no pass makes the text smaller."""
        self._is_interesting = problem.is_interesting
        self._passes = tuple(passes.values())
        self._over = over
        self._rejected = set(tried)
        self._on_rejected = on_rejected
        self._on_tried = on_tried
        self._size: Size = size(problem.source)
        self._tree = SourceTree(problem.source)

    @property
    def lines(self) -> int:
        """How many lines of code the best text has."""
        return self._size[0]

    def run(self) -> None:
        """Reduce until no pass helps or the time is over; ``best`` is always the smallest text so far."""
        level = 0
        while level <= LAST_LEVEL:
            before = self.best
            for each in self._passes:
                if each.level == level:
                    self._sweep(each)
                if self._over():
                    return
            # After a change, start again with the first level: new edits may be possible there.
            level = level + 1 if self.best == before else 0
        self.finished = True

    def _sweep(self, each: Pass) -> None:
        """Try every edit that a pass proposes; after a success, continue at the same place."""
        self.at = each.name
        edits = list(each.propose(self._tree))
        for length in _lengths(each, len(edits)):
            start = 0
            while start < len(edits) and not self._over():
                if self._try(edits[start : start + length]):
                    edits = list(each.propose(self._tree))
                else:
                    start += length

    def _try(self, edits: Sequence[Edit]) -> bool:
        text = self._text(merged(edits))
        if text is None or text == self.best:
            return False
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        if digest in self._rejected:
            return False
        measured = _measured(text)
        if measured is None or measured >= self._size:
            return False
        self.tried += 1
        accepted = self._is_interesting(text)
        if accepted:
            self.best, self._size, self._tree = text, measured, SourceTree(text)
        else:
            self._rejected.add(digest)
            self._on_rejected(digest)
        self._on_tried(self)
        return accepted

    def _text(self, edit: Edit) -> str | None:
        """Return the text after an edit; None if the edit makes no valid tree."""
        try:
            return self._tree.edited(edit)
        except (cst.CSTValidationError, AttributeError, TypeError, ValueError):
            return None  # such a node is not allowed there


def _lengths(each: Pass, count: int) -> Sequence[int]:
    """Return how many neighbouring edits to try at once, one length after the other."""
    if each.together == "never" or count < 2:
        return (1,)
    if each.together == "all":
        return (count, 1)
    lengths = [count]
    while lengths[-1] > 1:
        lengths.append(lengths[-1] // 2)
    return lengths


def _measured(text: str) -> Size | None:
    """Return the size of a text; None if it is not valid Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler warns about candidates
        try:
            compile(text, "<candidate>", "exec", dont_inherit=True)
            return size(text)
        except (SyntaxError, ValueError):
            return None
