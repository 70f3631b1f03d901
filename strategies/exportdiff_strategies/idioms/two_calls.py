"""A submodule that one call of the model calls twice, with other Python arguments: two graphs of one module.

Most of these pairs of graphs have the same number of operators: only their contents tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

from exportdiff_strategies.idioms.spec import Idiom, Kind, joined


def _part(forward: str, result: str, bound: Callable[[float, int], float], init: str = "") -> Idiom:
    """A module ``Part`` with this method, and what the model computes with it."""
    made = f"def __init__(self):\n    super().__init__()\n    {init}\n\n" if init else ""
    return Idiom(
        f"$t = {result}",
        bound,
        init="self.part = Part()",
        preamble=f"class Part(nn.Module):\n{indent(made + joined(forward), ' ' * 4)}",
    )


TABLE: dict[str, Kind] = {
    "two_calls": Kind(
        "a submodule called twice, with other Python arguments",
        (
            _part(
                """
                def forward(self, x, negative):
                    return x - 1 if negative else x + 1
                """,
                "self.part($x, True) + self.part($x, False)",
                lambda b, n: 2 * b + 2,
            ),
            _part(
                """
                def forward(self, x, negative=False):
                    if negative:
                        return -x
                    return x.abs()
                """,
                "self.part($x) + self.part($x, negative=True) * 2 - self.part($x)",
                lambda b, n: 4 * b,
            ),
            _part(
                """
                def forward(self, x, other, swap):
                    return other - x if swap else x - other
                """,
                "self.part($x, $x * 2, True) * 3 + self.part($x, $x * 2, False)",
                lambda b, n: 12 * b,
            ),
            _part(
                """
                def forward(self, x, factor):
                    return x * factor
                """,
                "self.part($x, 2.0) - self.part($x, 3.0)",
                lambda b, n: 5 * b,
            ),
            _part(
                """
                def forward(self, x, name):
                    return getattr(torch, name)(x)
                """,
                "self.part($x, 'relu') - self.part($x, 'neg')",
                lambda b, n: 2 * b,
            ),
            _part(
                """
                def forward(self, x, dim):
                    return x.flip(dim)
                """,
                "self.part($x, 0) * 2 + self.part($x, -1)",
                lambda b, n: 3 * b,
            ),
            _part(
                """
                def forward(self, x, at):
                    return x.flatten()[at]
                """,
                "$x + self.part($x, 0) * 2 + self.part($x, -1)",
                lambda b, n: 4 * b,
            ),
            _part(
                """
                def forward(self, x, first):
                    return self.first(x) if first else self.second(x)
                """,
                "self.part($x, True) - self.part($x, False)",
                lambda b, n: 2,
                init="self.first, self.second = nn.Tanh(), nn.Sigmoid()",
            ),
            _part(
                """
                def forward(self, x, value):
                    self.last.fill_(value)
                    return x + self.last.to(x.dtype)
                """,
                "self.part($x, 1.0) - self.part($x, 2.0) * 2",
                lambda b, n: 3 * b + 5,
                init="self.register_buffer('last', torch.zeros(1))",
            ),
            _part(
                """
                def forward(self, x, swap):
                    pair = (x + 1, x * 2)
                    return pair[::-1] if swap else pair
                """,
                "self.part($x, True)[0] - self.part($x, False)[0] * 2",
                lambda b, n: 4 * b + 2,
            ),
            _part(
                """
                def forward(self, x, *, bias=None, scale=None):
                    if bias is not None:
                        return x + bias
                    return x * scale
                """,
                "self.part($x, bias=$x) - self.part($x, scale=$x)",
                lambda b, n: 2 * b + b * b,
            ),
        ),
    ),
}
