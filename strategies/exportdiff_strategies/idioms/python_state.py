"""State that Python keeps in objects, classes and modules; classes in forward; random numbers."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import Idiom, Kind

_TABLE = "TABLES = {}"
_CACHED = """
    @functools.lru_cache
    def positions(size):
        return torch.arange(size) / size
"""
_CACHED_ROWS = """
    @functools.cache
    def scale_of(dim):
        return 1.0 / dim
"""
_COUNTER = """
    class Counter:
        calls = 0
        sizes = []
"""

TABLE: dict[str, Kind] = {
    "python_state": Kind(
        "Python state in an attribute, a class or a module",
        (
            Idiom(
                """
                self.calls += 1
                $t = $x * 2
            """,
                lambda b, n: 2 * b,
                init="self.calls = 0",
                stateful=True,
            ),
            Idiom(
                """
                Counter.calls += 1
                $t = $x * 2
            """,
                lambda b, n: 2 * b,
                preamble=_COUNTER,
                stateful=True,
            ),
            Idiom(
                """
                    Counter.sizes.append($x.shape[0])
                    $t = $x * 2
                """,
                lambda b, n: 2 * b,
                preamble=_COUNTER,
                stateful=True,
            ),
            Idiom(
                """
                    self.history.append($x.numel())
                    $t = $x + 1
                """,
                lambda b, n: b + 1,
                init="self.history = []",
                stateful=True,
            ),
            Idiom(
                """
                    self.history.append($x.detach())
                    $t = $x + self.history[-1]
                """,
                lambda b, n: 2 * b,
                init="self.history = collections.deque(maxlen=2)",
                imports=("import collections",),
                stateful=True,
            ),
            Idiom(
                """
                    if tuple($x.shape) not in self.masks:
                        self.masks[tuple($x.shape)] = torch.ones($x.shape)
                    $t = $x * self.masks[tuple($x.shape)]
                """,
                init="self.masks = {}",
            ),
            Idiom(
                """
                    if tuple($x.shape) not in TABLES:
                        TABLES[tuple($x.shape)] = torch.ones($x.shape)
                    $t = $x * TABLES[tuple($x.shape)]
                """,
                preamble=_TABLE,
            ),
            Idiom(
                "$t = $x + positions($x.numel()).view($x.shape)",
                lambda b, n: b + 1,
                preamble=_CACHED,
                imports=("import functools",),
            ),
            Idiom("$t = $x * scale_of($x.dim())", preamble=_CACHED_ROWS, imports=("import functools",)),
            Idiom(
                """
                    if Rotary.table is None:
                        Rotary.table = torch.ones(1)
                    $t = $x + Rotary.table
                """,
                lambda b, n: b + 1,
                preamble="""
                    class Rotary:
                        table = None
                """,
            ),
            Idiom(
                """
                    if self.limit is None:
                        self.limit = float($x.shape[0])
                    $t = $x.clamp(-self.limit, self.limit)
                """,
                init="self.limit = None",
            ),
            Idiom(
                """
                    self.seen["shape"] = $x.shape
                    self.seen["last"] = $x.detach() * 2
                    $t = $x + self.seen["last"]
                """,
                lambda b, n: 3 * b,
                init="self.seen = {}",
                stateful=True,
            ),
            Idiom(
                """
                    self.config.scale = 0.5
                    $t = $x * self.config.scale
                """,
                init="self.config = types.SimpleNamespace(scale=2.0)",
                imports=("import types",),
            ),
            Idiom(
                """
                    self.shapes.add(tuple($x.shape))
                    $t = $x * len(self.shapes)
                """,
                lambda b, n: 4 * b,
                init="self.shapes = set()",
            ),
        ),
    ),
    "local_class": Kind(
        "a class that is defined or instantiated in forward",
        (
            Idiom(
                "$t = Span(-1.0, 1.0).clip($x)",
                lambda b, n: min(b, 1.0),
                preamble=(
                    """
                        class Span:
                            def __init__(self, low, high):
                                self.low, self.high = low, high

                            def clip(self, x):
                                return x.clamp(self.low, self.high)
                    """
                ),
            ),
            Idiom(
                """
                class Scale:
                    value = 2.0

                $t = $x * Scale.value
            """,
                lambda b, n: 2 * b,
            ),
            Idiom(
                """
                    class Double:
                        def __call__(self, x):
                            return x * 2

                    $t = Double()($x)
                """,
                lambda b, n: 2 * b,
            ),
            Idiom("$t = nn.Softplus()($x)", lambda b, n: b + 1),
            Idiom("$t = nn.LayerNorm($x.shape[-1], dtype=$x.dtype)($x)", lambda b, n: 8.0, trains=True),
            Idiom("$t = nn.Sequential(nn.Tanh(), nn.Softsign())($x)", lambda b, n: 1.0),
            Idiom(
                """
                    bounds = Bounds(-1.0, high=1.0)
                    $t = $x.clamp(bounds.low, bounds.high)
                """,
                lambda b, n: min(b, 1.0),
                preamble='Bounds = collections.namedtuple("Bounds", "low high")',
                imports=("import collections",),
            ),
            Idiom(
                """
                    config = dataclasses.replace(Config(), scale=0.5)
                    $t = $x * config.scale
                """,
                preamble="""
                    @dataclasses.dataclass(frozen=True)
                    class Config:
                        scale: float = 2.0
                """,
                imports=("import dataclasses",),
            ),
            Idiom(
                """
                    halves = Halves($x, $x * 2)
                    $t = halves.total()
                """,
                lambda b, n: 3 * b,
                preamble=(
                    """
                        @dataclasses.dataclass
                        class Halves:
                            first: torch.Tensor
                            second: torch.Tensor

                            def total(self):
                                return self.first + self.second
                    """
                ),
                imports=("import dataclasses",),
            ),
            Idiom(
                """
                    box = Box()
                    box.value = $x
                    $t = box.doubled
                """,
                lambda b, n: 2 * b,
                preamble=(
                    """
                        class Box:
                            __slots__ = ("value",)

                            @property
                            def doubled(self):
                                return self.value * 2
                    """
                ),
            ),
            Idiom(
                """
                    double = functools.partial(torch.mul, other=2)
                    $t = double($x)
                """,
                lambda b, n: 2 * b,
                imports=("import functools",),
            ),
            Idiom("$t = [scale($x) for scale in (lambda v: v * 2, lambda v: v + 1)][0]", lambda b, n: 2 * b),
        ),
    ),
    "seed": Kind(
        "a seed that forward sets",
        (
            Idiom(
                """
                torch.manual_seed(0)
                $t = $x + torch.rand($x.shape)
            """,
                lambda b, n: b + 1,
                stateful=True,
            ),
            Idiom(
                """
                torch.manual_seed(0)
                $t = $x + torch.rand_like($x)
            """,
                lambda b, n: b + 1,
                stateful=True,
            ),
            Idiom(
                """
                    with torch.random.fork_rng():
                        torch.manual_seed(1)
                        noise = torch.rand($x.shape)
                    $t = $x + noise
                """,
                lambda b, n: b + 1,
            ),
            Idiom("$t = $x + random.Random(0).random()", lambda b, n: b + 1, imports=("import random",)),
            Idiom(
                """
                    torch.manual_seed(0)
                    order = torch.randperm($x.numel())
                    $t = $x.flatten()[order].view($x.shape)
                """,
                stateful=True,
            ),
            Idiom(
                """
                    before = torch.get_rng_state()
                    torch.manual_seed(0)
                    noise = torch.rand($x.shape)
                    torch.set_rng_state(before)
                    $t = $x + noise
                """,
                lambda b, n: b + 1,
            ),
        ),
    ),
}
