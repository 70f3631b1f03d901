"""How alike programs are in what they use: which bug to suspect first, not which one it is."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Likeness:
    """Compares programs with a fixed set of texts by the words that they share, weighted by rarity (idf)."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Weigh the words of the texts: one that all of them have says nothing."""
        bags = [words(text) for text in texts]
        spread = Counter(word for bag in bags for word in bag)
        self._weights: Mapping[str, float] = {word: log(len(bags) / n) for word, n in spread.items()}
        self._bags = [(bag, self._length(bag)) for bag in bags]

    def of(self, text: str) -> list[float]:
        """Return for each of the texts how much of what it uses the given one has, from 0 to 1."""
        given = words(text)
        return [self._length(bag & given) / length if length else 0.0 for bag, length in self._bags]

    def _length(self, bag: frozenset[str]) -> float:
        # Sorted: a sum of floats depends on the order, that of a set on the process.
        return sqrt(sum(self._weights[word] ** 2 for word in sorted(bag)))


def words(text: str) -> frozenset[str]:
    """Return the names and operators in the code of a program, but for what runs it; or nothing."""
    code = text.partition('\nif __name__ == "__main__":')[0]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return frozenset()
    return frozenset(token.string for token in tokens if token.type in (tokenize.NAME, tokenize.OP))
