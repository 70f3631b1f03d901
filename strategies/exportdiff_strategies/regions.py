"""The tables of code around code: ``with`` blocks, hooks, parametrizations, and preambles.

A preamble is what the source must define before the classes: an import, a custom op, a dataclass. To add an
entry to one of the four, add it to its table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """A ``with`` block: how it is written, the grad mode inside, and the dtype that autocast lowers to."""

    template: str
    grad: bool | None = None
    autocast: str = ""
    whole: bool = False
    """Whether only all of a model can be inside: what is made there cannot be used outside with gradients."""


REGIONS: dict[str, Region] = {
    "no_grad": Region("torch.no_grad()", grad=False),
    "enable_grad": Region("torch.enable_grad()", grad=True),
    "autocast": Region('torch.autocast("cpu", dtype=torch.bfloat16)', autocast="bfloat16"),
    "inference_mode": Region("torch.inference_mode()", grad=False, whole=True),
    "annotate": Region('torch.fx.traceback.annotate({"stage": 1})'),
}
"""Every ``with`` block by its name."""


@dataclass(frozen=True, slots=True)
class HookSpec:
    """A forward hook that applies an op to the result or, if ``before``, a pre-hook on the first argument."""

    op: str
    lines: tuple[str, ...]
    before: bool = False

    @property
    def registration(self) -> str:
        """The method of ``nn.Module`` that registers the hook."""
        return "register_forward_pre_hook" if self.before else "register_forward_hook"


HOOKS: dict[str, HookSpec] = {
    "double_output": HookSpec(
        "double", ("def double_output(module, args, output):", "    return output * 2")
    ),
    "add_to_output": HookSpec("add_", ("def add_to_output(module, args, output):", "    output.add_(1)")),
    "shift_input": HookSpec(
        "add_one", ("def shift_input(module, args):", "    return (args[0] + 1, *args[1:])"), before=True
    ),
}
"""Every hook by the name of its function."""


@dataclass(frozen=True, slots=True)
class Parametrization:
    """What a weight is computed from.

    ``template`` is over ``m``, the module, and its parameter: ``name`` and ``w``. ``op`` is a key of OPS that
    has the same effect, or empty if only the layer reads the weight. ``lines`` are the source of the class.
    ``trains``: the class has parameters. ``rank`` is the number of dimensions that it needs.
    """

    lines: tuple[str, ...] = ()
    op: str = ""
    template: str = 'parametrize.register_parametrization({m}, "{name}", {cls}())'
    trains: bool = False
    rank: int | None = None
    updates: bool = False
    """Whether it updates buffers in train mode."""

    @property
    def preamble(self) -> str:
        """The key of PREAMBLES that the template needs."""
        return "parametrize" if self.template.startswith("parametrize") else "parametrizations"


PARAMETRIZATIONS: dict[str, Parametrization] = {
    "Doubled": Parametrization(
        ("class Doubled(nn.Module):", "    def forward(self, w):", "        return w * 2"), "double"
    ),
    "LowRank": Parametrization(
        (
            "class LowRank(nn.Module):",
            "    def __init__(self, w):",
            "        super().__init__()",
            "        self.down = nn.Parameter(torch.full((w.shape[0], 1), 0.5, dtype=w.dtype))",
            "        self.up = nn.Parameter(torch.full((1, w.shape[1]), 0.25, dtype=w.dtype))",
            "",
            "    def forward(self, w):",
            "        return w + self.down @ self.up",
        ),
        "add_one",
        'parametrize.register_parametrization({m}, "{name}", {cls}({w}))',
        trains=True,
        rank=2,
    ),
    "weight_norm": Parametrization(template='parametrizations.weight_norm({m}, "{name}")'),
    "spectral_norm": Parametrization(template='parametrizations.spectral_norm({m}, "{name}")', updates=True),
}
"""Every parametrization by its name, which is that of its class."""

FIELDS_HERE = "    ..."
"""The line of a preamble that the fields of the namedtuple or dataclass replace."""


def _function(name: str, forward: tuple[str, ...], backward: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of a custom autograd function of one tensor."""
    return (
        f"class {name}(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, x):",
        *(f"        {line}" for line in forward),
        "",
        "    @staticmethod",
        "    def backward(ctx, grad):",
        *(f"        {line}" for line in backward),
    )


PREAMBLES: dict[str, tuple[str, ...]] = {
    "graph": (
        "class Tracer(torch.fx.Tracer):",
        "    proxy_buffer_attributes = True",
        "",
        "    def is_leaf_module(self, module, name):",
        "        return True",
        "",
        "",
        "def graph_of(model):",
        "    return torch.fx.GraphModule(model, Tracer().trace(model))",
    ),
    "checkpoint": ("from torch.utils.checkpoint import checkpoint",),
    "packed": (
        "def packed(layer, x):",
        "    lengths = torch.tensor([max(x.shape[1] - row, 1) for row in range(x.shape[0])])",
        "    rows = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)",
        "    return nn.utils.rnn.pad_packed_sequence(layer(rows)[0], batch_first=True)[0].contiguous()",
    ),
    "parametrize": ("from torch.nn.utils import parametrize",),
    "parametrizations": ("from torch.nn.utils import parametrizations",),
    "while_loop": ("from torch._higher_order_ops.while_loop import while_loop",),
    "scan": ("from torch._higher_order_ops.scan import scan",),
    "map": ("from torch._higher_order_ops.map import map as map_rows",),
    "named": ("class Pair(NamedTuple):", FIELDS_HERE),
    "data": (
        "@dataclass",
        "class Parts:",
        FIELDS_HERE,
        "",
        "",
        "torch.export.register_dataclass(Parts)",
    ),
    "StraightThrough": _function("StraightThrough", ("return x.round()",), ("return grad",)),
    "ReversedGradient": _function("ReversedGradient", ("return x.view_as(x)",), ("return -grad",)),
    "ClippedGradient": _function("ClippedGradient", ("return x * 2",), ("return grad.clamp(-1, 1)",)),
    "SavedInput": _function(
        "SavedInput",
        ("ctx.save_for_backward(x)", "return x.clamp(-1, 1)"),
        ("(x,) = ctx.saved_tensors", "return grad * (x.abs() < 2)"),
    ),
    "gradient_of_square": (
        "def gradient_of_square(x):",
        "    with torch.enable_grad():",
        "        x = x.detach().requires_grad_()",
        "        return torch.autograd.grad((x * x).sum(), x)[0]",
    ),
    "double_gradient": (
        "def double_gradient(x):",
        "    if x.requires_grad:",
        "        x.register_hook(lambda grad: grad * 2)",
        "    return x",
    ),
    "seeded_noise": (
        "def seeded_noise(x):",
        "    torch.manual_seed(3)",
        "    return x + torch.rand_like(x)",
    ),
    "generated_noise": (
        "def generated_noise(x):",
        "    generator = torch.Generator().manual_seed(3)",
        "    return x + torch.rand(x.shape, generator=generator, dtype=x.dtype)",
    ),
    "custom_op": (
        '@torch.library.custom_op("exportdiff::twice", mutates_args=())',
        "def twice(x: torch.Tensor) -> torch.Tensor:",
        "    return x * 2",
        "",
        "",
        "@twice.register_fake",
        "def _(x):",
        "    return torch.empty_like(x)",
    ),
    "mutating_op": (
        '@torch.library.custom_op("exportdiff::bump", mutates_args=("x",))',
        "def bump(x: torch.Tensor) -> None:",
        "    x.add_(1)",
    ),
}
"""Name that an op, a form or a kind of container refers to -> what the source must define first."""
