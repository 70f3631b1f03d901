"""Layers and statistics that update themselves; packed sequences; layers with other weights."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import OTHER, Idiom, Kind, joined

_ROWS = "nn.Embedding.from_pretrained(torch.linspace(-2.0, 2.0, 8).view(4, 2), freeze=False, max_norm=1.0)"
_STATISTICS = """
    class Statistics(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("running", torch.zeros(1))

        def forward(self, x):
            self.running.mul_(0.5).add_(x.detach().mean() * 0.5)
            return x - self.running.to(x.dtype)
"""
_PACK = "nn.utils.rnn.pack_padded_sequence"
_PAD = "nn.utils.rnn.pad_packed_sequence"
_PAIR = "rows = torch.stack([$x.flatten(), $x.flatten() * 2]).unsqueeze(-1)"
_HEAD = "self.head = nn.Linear(1, 1)"
_PRUNE = ("from torch.nn.utils import prune",)
_F32 = ("float32",)


def _packed(lengths: str, options: str = "", layer: str = "GRU") -> Idiom:
    """A recurrent layer on two sequences of these lengths."""
    return Idiom(
        f"""
            {_PAIR}
            rows = {_PACK}(rows, {lengths}, batch_first=True{options})
            rows, _ = {_PAD}(self.rnn(rows)[0], batch_first=True)
            $t = $x + rows[1].sum()
        """,
        lambda b, n: b + n,
        init=f"self.rnn = nn.{layer}(1, 1, batch_first=True)",
        random=True,
        trains=True,
        dtypes=_F32,
    )


def _replaced(weights: str) -> Idiom:
    """A layer called with these weights."""
    return Idiom(
        f"""
            weights = {weights}
            $t = torch.func.functional_call(self.head, weights, ($x.reshape(-1, 1),)).view($x.shape)
        """,
        lambda b, n: 4 * b + 4,
        init=_HEAD,
        random=True,
        trains=True,
        dtypes=_F32,
    )


def _pruned(statement: str, *, computes: bool = True) -> Idiom:
    """A pruned layer; ``computes``: whether its weight stays the product with the mask."""
    return Idiom(
        "$t = self.head($x.reshape(-1, 1).expand(-1, 2)).view($x.shape)",
        lambda b, n: 2 * b + 1,
        init=joined("self.head = nn.Linear(2, 1)", statement),
        imports=_PRUNE,
        random=True,
        computes=computes,
        trains=True,
        dtypes=_F32,
    )


TABLE: dict[str, Kind] = {
    "max_norm": Kind(
        "an embedding with max_norm or other options",
        (
            Idiom(
                "$t = $x + self.embedding($x.long().abs() % 4).sum(-1)",
                lambda b, n: b + 2,
                init=f"self.embedding = {_ROWS}",
                trains=True,
            ),
            Idiom(
                "$t = $x + self.embedding(torch.arange(4)).sum()",
                lambda b, n: b + 8,
                init=f"self.embedding = {_ROWS}",
                trains=True,
            ),
            Idiom(
                """
                    first = self.embedding(torch.tensor([0]))
                    second = self.embedding(torch.tensor([0, 3]))
                    $t = $x + first.sum() * second.sum()
                """,
                lambda b, n: b + 8,
                init=f"self.embedding = {_ROWS}",
                trains=True,
            ),
            Idiom(
                "$t = $x + F.embedding($x.long().abs() % 4, self.rows, max_norm=1.0).sum(-1)",
                lambda b, n: b + 2,
                init='self.register_buffer("rows", torch.linspace(-2.0, 2.0, 8).view(4, 2))',
            ),
            Idiom(
                "$t = $x + self.bag($x.long().abs().view(1, -1) % 4).sum()",
                lambda b, n: b + 2 * n,
                init="self.bag = nn.EmbeddingBag(4, 2, max_norm=1.0)",
                random=True,
                trains=True,
            ),
            Idiom(
                "$t = $x + self.embedding($x.long().abs() % 4).sum(-1)",
                lambda b, n: b + 8,
                init="self.embedding = nn.Embedding(4, 2, padding_idx=1, scale_grad_by_freq=True)",
                random=True,
                trains=True,
            ),
        ),
    ),
    "updated_twice": Kind(
        "statistics that are updated twice in one call",
        (
            Idiom(
                """
                    self.average.mul_(0.5).add_($x.detach().mean() * 0.5)
                    self.average.mul_(0.5).add_($x.detach().amax() * 0.5)
                    $t = $x - self.average.to($x.dtype)
                """,
                lambda b, n: 2 * b + 1,
                init='self.register_buffer("average", torch.zeros(1))',
                stateful=True,
            ),
            Idiom(
                """
                    self.average = self.average * 0.5 + $x.detach().mean().float()
                    $t = $x - self.average
                    self.average = self.average * 0.5 + $t.detach().mean().float()
                """,
                lambda b, n: 8 * b,
                init='self.register_buffer("average", torch.zeros(1))',
                stateful=True,
            ),
            Idiom(
                "$t = self.statistics(self.statistics($x) * 2)",
                lambda b, n: 8 * b,
                init="self.statistics = Statistics()",
                preamble=_STATISTICS,
                stateful=True,
            ),
            Idiom(
                """
                    first = self.norm($x.reshape(-1, 1))
                    $t = self.norm(first * 2).view($x.shape)
                """,
                lambda b, n: 2 * b + 9,
                init="self.norm = nn.BatchNorm1d(1)",
                trains=True,
                stateful=True,
                dtypes=_F32,
                least=2,
            ),
            Idiom(
                """
                    first = self.norm($x.reshape(-1, 1))
                    $t = self.norm(first + 1).view($x.shape)
                """,
                lambda b, n: 2 * b + 9,
                init="self.norm = nn.BatchNorm1d(1, momentum=None, affine=False)",
                stateful=True,
                dtypes=_F32,
                least=2,
            ),
            Idiom(
                """
                    self.count += 1
                    self.count += $x.shape[0]
                    $t = $x * 2
                """,
                lambda b, n: 2 * b,
                init='self.register_buffer("count", torch.tensor(0))',
                stateful=True,
            ),
            Idiom(
                """
                    flat = $x.reshape(-1, 1)
                    flat = F.batch_norm(flat, self.center, self.spread, training=True)
                    flat = F.batch_norm(flat * 2, self.center, self.spread, training=True)
                    $t = flat.view($x.shape) + self.center
                """,
                lambda b, n: b + 9,
                init="""
                    self.register_buffer("center", torch.zeros(1))
                    self.register_buffer("spread", torch.ones(1))
                """,
                stateful=True,
                dtypes=_F32,
                least=2,
            ),
        ),
    ),
    "packed": Kind(
        "packed sequences",
        (
            _packed("[$x.numel(), 1]"),
            _packed("[1, $x.numel()]", ", enforce_sorted=False"),
            _packed("torch.tensor([1, $x.numel()])", ", enforce_sorted=False", "LSTM"),
            _packed("torch.tensor([$x.numel(), $x.numel()])", layer="RNN"),
            Idiom(
                f"""
                    {_PAIR}
                    packed = {_PACK}(rows, [1, $x.numel()], batch_first=True, enforce_sorted=False)
                    $t = $x + packed.data.sum() + packed.batch_sizes.sum()
                """,
                lambda b, n: b + 2 * n * (b + 1) + 2,
            ),
            Idiom(
                f"""
                    rows = [$x.flatten()[:1], $x.flatten()]
                    packed = nn.utils.rnn.pack_sequence(rows, enforce_sorted=False)
                    packed = packed._replace(data=packed.data * 2)
                    rows, sizes = {_PAD}(packed, batch_first=True)
                    $t = rows[1].view($x.shape) + sizes[0]
                """,
                lambda b, n: 2 * b + n,
            ),
            Idiom(
                """
                    rows = nn.utils.rnn.pad_sequence([$x.flatten(), $x.flatten()[:1]], batch_first=True)
                    $t = $x + rows[1].view($x.shape)
                """,
                lambda b, n: 2 * b,
            ),
            Idiom(
                joined(_PAIR, f"$t = {_PACK}(rows, [1, $x.numel()], batch_first=True, enforce_sorted=False)"),
                gives=OTHER,
            ),
        ),
    ),
    "functional_call": Kind(
        "torch.func.functional_call of a child",
        (
            _replaced("{name: value * 2 for name, value in self.head.named_parameters()}"),
            _replaced('{"weight": $x.mean().view(1, 1)}'),
            _replaced('{"bias": self.head.weight[0] + 1}'),
            Idiom(
                """
                    state = {**dict(self.norm.named_parameters()), **dict(self.norm.named_buffers())}
                    state = {name: value.clone() for name, value in state.items()}
                    $t = torch.func.functional_call(self.norm, state, ($x.reshape(-1, 1),)).view($x.shape)
                """,
                lambda b, n: 2 * b + 9,
                init="self.norm = nn.BatchNorm1d(1)",
                trains=True,
                dtypes=_F32,
                least=2,
            ),
            Idiom(
                """
                    weights = {name: value + 1 for name, value in self.stack.state_dict().items()}
                    $t = torch.func.functional_call(self.stack, weights, ($x.reshape(-1, 1),)).view($x.shape)
                """,
                lambda b, n: 8 * b + 16,
                init="self.stack = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))",
                random=True,
                dtypes=_F32,
            ),
        ),
    ),
    "pruned": Kind(
        "a pruned layer",
        (
            _pruned('prune.l1_unstructured(self.head, "weight", amount=1)'),
            _pruned('prune.custom_from_mask(self.head, "weight", torch.tensor([[1.0, 0.0]]))'),
            _pruned(
                """
                    prune.random_unstructured(self.head, "weight", amount=1)
                    prune.l1_unstructured(self.head, "bias", amount=0)
                """
            ),
            _pruned(
                """
                    prune.l1_unstructured(self.head, "weight", amount=1)
                    prune.remove(self.head, "weight")
                """,
                computes=False,
            ),
            _pruned('prune.ln_structured(self.head, "weight", amount=1, n=2, dim=1)'),
        ),
    ),
}
