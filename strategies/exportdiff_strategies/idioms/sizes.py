"""Sizes as results, as keys of dicts and in texts; checks of sizes."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import OTHER, SAME, Idiom, Kind

_MODE = """
    class Mode(Enum):
        TRAIN = 1
        EVAL = 2
"""
_ENUM = ("from enum import Enum",)

TABLE: dict[str, Kind] = {
    "shape_result": Kind(
        "x.shape or a size returned",
        (
            Idiom("$t = $x.shape", gives=OTHER),
            Idiom("$t = $x.size()", gives=OTHER),
            Idiom("$t = ($x * 2, $x.shape, $x.size(0))", gives=OTHER),
            Idiom('$t = {"values": $x + 1, "shape": $x.shape}', gives=OTHER),
            Idiom("$t = [*$x.shape, $x.numel()]", gives=OTHER),
            Idiom("$t = ($x.dtype, $x.device, $x.dim())", gives=OTHER),
        ),
    ),
    "text_of_sizes": Kind(
        "an f-string of sizes, as a key or as a text",
        (
            Idiom('$t = {f"rows {$x.shape[0]}": $x * 2}', gives=OTHER),
            Idiom('$t = {f"{tuple($x.shape)}": $x + 1, "size": $x.numel()}', gives=OTHER),
            Idiom('$t = ($x * 2, f"shape {tuple($x.shape)}")', gives=OTHER),
            Idiom(
                """
                    scales = {f"s{size}": size for size in $x.shape}
                    $t = $x * scales[f"s{$x.shape[0]}"]
                """,
                lambda bound, count: bound * 8,
            ),
            Idiom(
                """
                name = f"level{$x.dim()}"
                $t = $x * getattr(self, name, 2.0)
            """,
                lambda b, n: 2 * b,
            ),
            Idiom('$t = $x * len(f"{$x.shape[0]}")', lambda b, n: 2 * b),
        ),
    ),
    "keys": Kind(
        "a dict with keys that are tuples, members of an enumeration or numbers",
        (
            Idiom("$t = {(0, 1): $x * 2, (1, 0): $x + 1}", gives=OTHER),
            Idiom("$t = {Mode.EVAL: $x * 2, Mode.TRAIN: $x + 1}", gives=OTHER, preamble=_MODE, imports=_ENUM),
            Idiom("$t = {2: $x * 2, 1: $x + 1}", gives=OTHER),
            Idiom("$t = {tuple($x.shape): $x * 2, None: $x + 1}", gives=OTHER),
            Idiom("$t = {torch.float32: $x * 2, torch.int64: $x.long()}", gives=OTHER),
            Idiom('$t = {"a": {(0, 1): $x * 2}, ("b", 0): [$x + 1]}', gives=OTHER),
            Idiom(
                """
                scales = {(0, 1): 2.0, (1, 0): 0.5}
                $t = $x * scales[0, 1]
            """,
                lambda b, n: 2 * b,
            ),
            Idiom(
                """
                    scales = {Mode.TRAIN: $x * 2, Mode.EVAL: $x + 1}
                    $t = scales[Mode.TRAIN if self.training else Mode.EVAL]
                """,
                lambda b, n: 2 * b + 1,
                preamble=_MODE,
                imports=_ENUM,
                reads_mode=True,
            ),
            Idiom(
                "$t = $x * extra[0, 1].sum()",
                lambda b, n: 4 * b,
                given="{(0, 1): torch.ones(2), (1, 0): torch.zeros(2)}",
            ),
            Idiom(
                "$t = $x * extra[Mode.EVAL].sum()",
                lambda b, n: 4 * b,
                preamble=_MODE,
                imports=_ENUM,
                given="{Mode.TRAIN: torch.zeros(2), Mode.EVAL: torch.ones(2)}",
            ),
        ),
    ),
    "check": Kind(
        "torch._check",
        (
            Idiom("torch._check($x.shape[0] > 0)", gives=SAME),
            Idiom('torch._check($x.shape[0] < 100, lambda: f"got {$x.shape}")', gives=SAME),
            Idiom(
                """
                torch._check_value($x.dim() > 0)
                torch._check_type($x.is_floating_point())
            """,
                gives=SAME,
            ),
            Idiom(
                """
                    count = ($x > 0).sum().item()
                    torch._check(count >= 0)
                    torch._check(count <= $x.numel())
                    $t = $x * (count / $x.numel())
                """,
            ),
            Idiom(
                """
                    size = $x.max().abs().long().item() + 2
                    torch._check(size > 0)
                    $t = $x + torch.ones(size).mean()
                """,
                lambda b, n: b + 1,
            ),
            Idiom(
                """
                    rows = ($x.flatten() > 0).nonzero()
                    torch._check(rows.shape[0] <= $x.numel())
                    $t = $x + rows.shape[0]
                """,
                lambda b, n: b + n,
            ),
            Idiom(
                """
                    if $x.shape[0] > 1:
                        torch._check($x.shape[0] < 100)
                        $t = $x * 2
                    else:
                        torch._check($x.shape[0] == 1)
                        $t = $x + 1
                """,
                lambda b, n: 2 * b + 1,
            ),
            Idiom(
                """
                    if self.training:
                        torch._check($x.numel() > 0)
                        $t = $x * 2
                    else:
                        torch._check($x.numel() < 1000)
                        $t = $x + 1
                """,
                lambda b, n: 2 * b + 1,
                reads_mode=True,
            ),
            Idiom(
                """
                    try:
                        torch._check($x.dim() > 9)
                        $t = $x * 2
                    except RuntimeError:
                        $t = $x + 1
                """,
                lambda b, n: b + 1,
            ),
            Idiom('torch._assert($x.shape[0] > 0, "no rows")', gives=SAME),
            Idiom('assert $x.dim() > 0, f"got {$x.shape}"', gives=SAME),
        ),
    ),
}
