"""Containers that are registered with pytree; tensors with parts: subclasses, sparse and jagged tensors."""

from __future__ import annotations

from exportdiff_strategies.idioms.spec import OTHER, Idiom, Kind, joined

_BATCH = """
    class Batch:
        def __init__(self, values, scale=1.0):
            self.values, self.scale = values, scale


    register_pytree_node(
        Batch,
        lambda batch: ([batch.values], batch.scale),
        lambda parts, scale: Batch(*parts, scale),
        serialized_type_name=f"{__name__}.Batch",
        flatten_with_keys_fn=lambda batch: ([(GetAttrKey("values"), batch.values)], batch.scale),
    )
"""
_REGISTER = ("from torch.utils._pytree import GetAttrKey, register_pytree_node",)
_LOSSY = """
    class Lossy:
        def __init__(self, values, note=None):
            self.values, self.note = values, note


    register_pytree_node(
        Lossy,
        lambda lossy: ([lossy.values], None),
        lambda parts, _: Lossy(*parts),
        serialized_type_name=f"{__name__}.Lossy",
        flatten_with_keys_fn=lambda lossy: ([(GetAttrKey("values"), lossy.values)], None),
    )
"""
_OUTPUT = """
    @dataclasses.dataclass
    class Output:
        logits: torch.Tensor
        hidden: torch.Tensor | None = None
        count: int = 0


    torch.export.register_dataclass(Output)
"""
_UNPACK = """
    class Unpack(nn.Module):
        def forward(self, {0}):
            return {1}
"""
_DATACLASSES = ("import dataclasses",)

_TWO = """class Two(torch.Tensor):
    @staticmethod
    def __new__(cls, first, second):
        return torch.Tensor._make_wrapper_subclass(
            cls, first.shape, strides=first.stride(), dtype=first.dtype, requires_grad=first.requires_grad
        )

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __tensor_flatten__(self):
        return ["first", "second"], None

    @staticmethod
    def __tensor_unflatten__(parts, meta, size, stride):
        return Two(parts["first"], parts["second"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def of(name):
            return tree_map_only(Two, lambda two: getattr(two, name), (args, kwargs or {}))

        (args_1, kwargs_1), (args_2, kwargs_2) = of("first"), of("second")
        first, second = func(*args_1, **kwargs_1), func(*args_2, **kwargs_2)
        if not isinstance(first, torch.Tensor):
            return first
        return return_and_correct_aliasing(func, args, kwargs or {}, Two(first, second))"""
_TWO_IMPORTS = (
    "from torch.utils._python_dispatch import return_and_correct_aliasing",
    "from torch.utils._pytree import tree_map_only",
)
_TAGGED = """
    class Tagged(torch.Tensor):
        pass
"""


def _two(body: str, bound: int = 8, given: str = "", init: str = "", detached: bool = False) -> Idiom:
    """An idiom with the subclass of two tensors."""
    return Idiom(
        body,
        lambda b, n: bound * (b + 1),
        preamble=_TWO,
        imports=_TWO_IMPORTS,
        given=given,
        init=init,
        detached=detached,
        dtypes=("float32",),
    )


TABLE: dict[str, Kind] = {
    "registered": Kind(
        "a container registered with pytree",
        (
            Idiom("$t = Batch($x * 2, 3.0)", gives=OTHER, imports=_REGISTER, preamble=_BATCH),
            Idiom(
                "$t = [Batch($x * 2, 3.0), Batch($x + 1)]", gives=OTHER, imports=_REGISTER, preamble=_BATCH
            ),
            Idiom("$t = Output($x * 2)", gives=OTHER, preamble=_OUTPUT, imports=_DATACLASSES),
            Idiom("$t = Output($x * 2, $x + 1, 3)", gives=OTHER, preamble=_OUTPUT, imports=_DATACLASSES),
            Idiom(
                "$t = collections.OrderedDict(b=$x * 2, a=$x + 1)",
                gives=OTHER,
                imports=("import collections",),
            ),
            Idiom(
                "$t = collections.deque([$x * 2, $x + 1], maxlen=2)",
                gives=OTHER,
                imports=("import collections",),
            ),
            Idiom(
                "$t = collections.defaultdict(list, b=$x * 2, a=$x + 1)",
                gives=OTHER,
                imports=("import collections",),
            ),
            Idiom(
                "$t = $x * extra.values.sum() * extra.scale",
                lambda b, n: 10 * b,
                imports=_REGISTER,
                preamble=_BATCH,
                given="Batch(torch.ones(2), 2.0)",
            ),
            Idiom(
                "$t = $x * extra.logits.sum()",
                lambda b, n: 4 * b,
                preamble=_OUTPUT,
                imports=_DATACLASSES,
                given="Output(torch.ones(2))",
            ),
            Idiom(
                "$t = self.unpack(Batch($x, 2.0))",
                lambda b, n: 2 * b,
                init="self.unpack = Unpack()",
                imports=_REGISTER,
                preamble=joined(_BATCH, "", "", _UNPACK.format("batch", "batch.values * batch.scale")),
            ),
            Idiom(
                "$t = self.unpack(Lossy($x, 2.0))",
                lambda b, n: 2 * b,
                init="self.unpack = Unpack()",
                imports=_REGISTER,
                preamble=joined(
                    _LOSSY, "", "", _UNPACK.format("lossy", "lossy.values * (1 if lossy.note is None else 2)")
                ),
            ),
            Idiom(
                "$t = self.unpack($x).logits * 2",
                lambda b, n: 4 * b,
                init="self.unpack = Unpack()",
                preamble=joined(_OUTPUT, "", "", _UNPACK.format("x", "Output(x * 2, count=3)")),
                imports=_DATACLASSES,
            ),
        ),
    ),
    "subclass": Kind(
        "a tensor subclass as a parameter, an input, a buffer or a result",
        (
            _two(
                "$t = ($x * self.gain).second",
                init="self.gain = nn.Parameter(Two(torch.ones(1), torch.full((1,), 2.0)))",
                detached=True,
            ),
            _two(
                """
                    scaled = $x * self.gain
                    $t = scaled.first + scaled.second
                """,
                init='self.register_buffer("gain", Two(torch.ones(1), torch.full((1,), 2.0)))',
                detached=True,
            ),
            _two("$t = $x + (extra * 2).sum().second", given="Two(torch.ones(2), torch.zeros(2))"),
            _two("$t = $x + extra.first.sum()", given="Two(torch.ones(2), torch.zeros(2))"),
            _two(
                """
                    pair = Two($x, $x * 2) + 1
                    $t = pair.first + pair.second
                """,
                detached=True,
            ),
            Idiom(
                "$t = Two($x * 2, $x + 1)",
                gives=OTHER,
                preamble=_TWO,
                imports=_TWO_IMPORTS,
                dtypes=("float32",),
            ),
            Idiom(
                "$t = $x * extra",
                gives=OTHER,
                preamble=_TWO,
                imports=_TWO_IMPORTS,
                given="Two(torch.ones(1), torch.zeros(1))",
                dtypes=("float32",),
            ),
            Idiom("$t = ($x * 2).as_subclass(Tagged)", gives=OTHER, preamble=_TAGGED),
            Idiom(
                "$t = ($x.as_subclass(Tagged) * 2).as_subclass(torch.Tensor)",
                lambda b, n: 2 * b,
                preamble=_TAGGED,
            ),
        ),
    ),
    "sparse": Kind(
        "a sparse or jagged tensor",
        (
            Idiom("$t = $x.to_sparse()", gives=OTHER),
            Idiom("$t = $x.reshape(1, -1).to_sparse_csr()", gives=OTHER),
            Idiom("$t = torch.sparse_coo_tensor([[0, 2]], $x.flatten()[:1].expand(2), (3,))", gives=OTHER),
            Idiom("$t = $x.to_sparse().to_dense() * 2", lambda b, n: 2 * b),
            Idiom(
                "$t = (torch.eye($x.numel(), dtype=$x.dtype).to_sparse() @ $x.reshape(-1, 1)).view($x.shape)"
            ),
            Idiom(
                """
                    offsets = torch.tensor([0, 1, $x.numel()])
                    $t = torch.nested.nested_tensor_from_jagged($x.reshape(-1, 1), offsets)
                """,
                gives=OTHER,
            ),
            Idiom(
                "$t = torch.nested.as_nested_tensor([$x.flatten(), $x.flatten()[:1]], layout=torch.jagged)",
                gives=OTHER,
            ),
            Idiom(
                """
                    jagged = torch.nested.nested_tensor_from_jagged(
                        $x.reshape(-1, 1), torch.tensor([0, 1, $x.numel()])
                    )
                    $t = (jagged * 2).values().view($x.shape)
                """,
                lambda b, n: 2 * b,
            ),
            Idiom(
                "$t = $x * extra.to_dense().sum()",
                lambda b, n: 4 * b,
                given="torch.eye(2).to_sparse()",
            ),
        ),
    ),
}
