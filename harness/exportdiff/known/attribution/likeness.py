"""The similarity of programs: the share of their operators and names that they have in common.

It decides which known bugs to try first, not which bug a finding is.
"""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Likeness:
    """Compares a program with a fixed set of programs by their words; rare words count more (idf)."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Compute the weight of each word. A word that all programs contain has the weight 0."""
        word_sets = [words(text) for text in texts]
        counts = Counter(word for word_set in word_sets for word in word_set)
        self._weights: Mapping[str, float] = {word: log(len(word_sets) / n) for word, n in counts.items()}
        self._word_sets = [(word_set, self._length(word_set)) for word_set in word_sets]

    def of(self, text: str) -> list[float]:
        """Return, for each program of the set, the share of its words that ``text`` also has: 0 to 1."""
        given = words(text)
        return [
            self._length(word_set & given) / length if length else 0.0 for word_set, length in self._word_sets
        ]

    def _length(self, word_set: frozenset[str]) -> float:
        # Sorted, because the sum depends on the order, and processes have different orders of a set.
        return sqrt(sum(self._weights[word] ** 2 for word in sorted(word_set)))


def words(text: str) -> frozenset[str]:
    """Return the names and operators in a program's code, without its ``__main__`` block.

    Return an empty set if the text is not Python.
    """
    code = text.partition('\nif __name__ == "__main__":')[0]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return frozenset()
    return frozenset(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))
