"""The size of a program, by which the minimizer compares two texts."""

from __future__ import annotations

import io
import tokenize

from exportdiff.core.program_text.line_count import LAYOUT, code_lines

Size = tuple[int, int, int, str]

PLAIN = frozenset(
    {"Model", "Child", "Inner", "Other", "child", "other", "weight", "buffer", "x", "y", "z", "self"}
    | {"make", "ones", "zeros"}
)
"""Usual names, which do not count."""


def size(source: str) -> Size:
    """Return the lines of code, the number of tokens, their length, and the text, which decides ties.

    Texts that differ only in layout have the same size. Raises SyntaxError.
    """
    lines = code_lines(source)
    try:
        tokens = [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type not in LAYOUT
        ]
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from None
    length = sum(len(token) for token in tokens if token not in PLAIN)
    return lines, len(tokens), length, " ".join(tokens)
