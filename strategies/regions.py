"""The tables of code around code: ``with`` blocks, hooks, parametrizations, and preambles.

To add one, add one entry to its table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """A ``with`` block: how it is written, the grad mode inside, and the dtype that autocast lowers to."""

    template: str
    grad: bool | None = None
    autocast: str = ""


REGIONS: dict[str, Region] = {
    "no_grad": Region("torch.no_grad()", grad=False),
    "enable_grad": Region("torch.enable_grad()", grad=True),
    "autocast": Region('torch.autocast("cpu", dtype=torch.bfloat16)', autocast="bfloat16"),
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

PARAMETRIZATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Doubled": ("double", ("class Doubled(nn.Module):", "    def forward(self, w):", "        return w * 2")),
}
"""Name of the class of a parametrization -> the op that it applies, and its source."""

FIELDS_HERE = "    ..."
"""The line of a preamble that the fields of the namedtuple or dataclass replace."""

PREAMBLES: dict[str, tuple[str, ...]] = {
    "checkpoint": ("from torch.utils.checkpoint import checkpoint",),
    "parametrize": ("from torch.nn.utils import parametrize",),
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
