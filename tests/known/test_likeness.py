"""The likeness of programs: it compares words of code, and ranks the program itself first."""

from __future__ import annotations

from exportdiff.known.attribution.likeness import Likeness, words

COND = "def forward(self, x):\n    return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))\n"
MUTATING = "def forward(self, x):\n    x.t_()\n    return x + 1\n"
PLAIN = "def forward(self, x):\n    return x\n"


def test_words_come_only_from_code() -> None:
    text = f'"""Docstring."""\n# comment\n{PLAIN}\n\nif __name__ == "__main__":\n    run()\n'
    assert words(text) == words(PLAIN) == {"def", "forward", "self", "x", "return", *"(,):"}
    assert words("no program (") == frozenset()


def test_likeness_is_1_if_a_program_has_all_words_of_another() -> None:
    likeness = Likeness([COND, MUTATING, PLAIN])
    assert likeness.of(COND)[0] == 1.0
    assert likeness.of(f"{MUTATING}y = 2\n")[1] == 1.0
    scores = likeness.of("def forward(self, x):\n    return torch.cond(x.sum() > 0, f, f, (x,))\n")
    assert scores[0] > scores[1] and all(0 <= score <= 1 for score in scores)


def test_words_that_all_programs_have_do_not_count() -> None:
    assert Likeness([PLAIN, PLAIN]).of(PLAIN) == [0.0, 0.0]
