"""Control-flow operators in further forms, associative_scan and flex_attention."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import Idiom, Kind, joined

_FLEX = ("from torch.nn.attention.flex_attention import create_block_mask, flex_attention",)
_SCAN = ("from torch._higher_order_ops.associative_scan import associative_scan",)
_F32 = ("float32",)


def _attention(body: str) -> Idiom:
    """Attention of all elements to each other."""
    return Idiom(
        joined("rows = $x.detach().reshape(1, 1, -1, 1)", body, "$t = $x + rows.view($x.shape)"),
        lambda b, n: 2 * b,
        imports=_FLEX,
        dtypes=_F32,
    )


def _scan(body: str) -> Idiom:
    """A scan along the first dimension."""
    return Idiom(body, lambda b, n: n * b + n, imports=_SCAN, detached=True, dtypes=_F32)


TABLE: dict[str, Kind] = {
    "cond_form": Kind(
        "torch.cond with a list of results, an integer operand or a closure",
        (
            Idiom(
                """
                    first, second = torch.cond(
                        $x.sum() > 0, lambda v: [v + 1, v * 2], lambda v: [v - 1, v * 3], ($x,)
                    )
                    $t = first + second
                """,
                lambda b, n: 4 * b + 1,
            ),
            Idiom(
                """
                    both = torch.cond(
                        $x.sum() > 0,
                        lambda v: {"a": v + 1, "b": v * 2},
                        lambda v: {"a": v - 1, "b": v * 3},
                        ($x,),
                    )
                    $t = both["a"] - both["b"]
                """,
                lambda b, n: 4 * b + 1,
            ),
            Idiom(
                """
                    size = $x.shape[0]
                    $t = torch.cond($x.sum() > 0, lambda v: v * size, lambda v: v + size, ($x,))
                """,
                lambda b, n: 8 * b + 8,
            ),
            Idiom(
                "$t = torch.cond($x.sum() > 0, lambda v, n: v * n, torch.add, ($x, torch.tensor(2)))",
                lambda b, n: 2 * b + 2,
            ),
            Idiom(
                """
                    center = $x.mean()
                    $t = torch.cond($x.sum() > 0, lambda: $x - center, lambda: $x + center, ())
                """,
                lambda b, n: 2 * b,
            ),
            Idiom(
                "$t = torch.cond($x.shape[0] > 2, lambda v: v * 2, lambda v: v + 1, ($x,))",
                lambda b, n: 2 * b + 1,
            ),
            Idiom(
                "$t = torch.cond($x.sum() > 0, lambda v: v * self.gain, lambda v: v + self.gain, ($x,))",
                lambda b, n: 2 * b + 2,
                init='self.register_buffer("gain", torch.full((1,), 2.0))',
                dtypes=_F32,
            ),
            Idiom(
                """
                    $t = torch.cond(
                        $x.sum() > 0,
                        lambda v: torch.cond(v.max() > 1, torch.neg, torch.abs, (v,)),
                        lambda v: v + 1,
                        ($x,),
                    )
                """,
                lambda b, n: b + 1,
            ),
            Idiom(
                """
                    nested = torch.cond(
                        $x.sum() > 0, lambda v: ((v + 1,), [v * 2]), lambda v: ((v - 1,), [v * 3]), ($x,)
                    )
                    $t = nested[0][0] + nested[1][0]
                """,
                lambda b, n: 4 * b + 1,
            ),
        ),
    ),
    "associative_scan": Kind(
        "associative_scan",
        (
            _scan('$t = associative_scan(torch.add, $x.detach(), dim=0, combine_mode="generic")'),
            _scan('$t = associative_scan(lambda a, b: a.maximum(b), $x.detach(), 0, combine_mode="generic")'),
            _scan(
                """
                    decay = torch.full_like($x.detach(), 0.5)
                    _, $t = associative_scan(
                        lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
                        (decay, $x.detach()),
                        0,
                        combine_mode="generic",
                    )
                """
            ),
            _scan('$t = associative_scan(torch.add, $x.detach(), 0, reverse=True, combine_mode="generic")'),
        ),
        needs="torch._higher_order_ops.associative_scan.associative_scan",
    ),
    "flex_attention": Kind(
        "flex_attention",
        (
            _attention("rows = flex_attention(rows, rows, rows)"),
            _attention(
                "rows = flex_attention(rows, rows, rows, score_mod=lambda score, b, h, q, k: score + (q - k))"
            ),
            _attention(
                """
                    size = $x.numel()
                    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, size, size, device="cpu")
                    rows = flex_attention(rows, rows, rows, block_mask=mask)
                """
            ),
            _attention("rows, sums = flex_attention(rows, rows, rows, scale=0.5, return_lse=True)"),
        ),
        needs="torch.nn.attention.flex_attention.flex_attention",
    ),
}
