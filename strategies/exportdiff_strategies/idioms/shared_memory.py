"""State that consists of several views of one tensor: they share memory, and are different tensors."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import Idiom, Kind

_HALVES = """
    table = torch.arange(4.0)
    self.register_buffer("left", table[:2])
    self.register_buffer("right", table[2:])
"""
_PARAMETERS = """
    table = torch.arange(4.0)
    self.left, self.right = nn.Parameter(table[:2]), nn.Parameter(table[2:])
"""
_CONSTANTS = "self.left, self.right = torch.arange(4.0).chunk(2)"
_ROWS = """
    self.register_buffer("rows", torch.arange(6.0).view(3, 2))
    self.left, self.right = self.rows[0], self.rows[2]
"""
_TURNED = """
    table = torch.arange(4.0).view(2, 2)
    self.register_buffer("left", table)
    self.register_buffer("right", table.t())
"""
_WHOLE = """
    table = torch.arange(4.0)
    self.register_buffer("left", table)
    self.register_buffer("right", table[1:3], persistent=False)
"""
_READ = "$t = $x + self.left[-1].to($x.dtype) - self.right[0].to($x.dtype) * 2"

TABLE: dict[str, Kind] = {
    "shared_memory": Kind(
        "state that is several views of one tensor",
        (
            Idiom(_READ, lambda b, n: b + 12, init=_HALVES),
            Idiom(_READ, lambda b, n: b + 12, init=_PARAMETERS, trains=True),
            Idiom(_READ, lambda b, n: b + 12, init=_CONSTANTS),
            Idiom(_READ, lambda b, n: b + 12, init=_ROWS),
            Idiom(
                "$t = $x + self.left[0, 1].to($x.dtype) - self.right[0, 1].to($x.dtype) * 2",
                lambda b, n: b + 12,
                init=_TURNED,
            ),
            Idiom(
                """
                    self.left.fill_(3)
                    $t = $x + self.left[-1].to($x.dtype) - self.right[0].to($x.dtype) * 2
                """,
                lambda b, n: b + 12,
                init=_HALVES,
            ),
            Idiom(
                """
                    self.right.fill_(5)
                    $t = $x + self.left[1].to($x.dtype)
                """,
                lambda b, n: b + 5,
                init=_WHOLE,
            ),
        ),
    ),
}
