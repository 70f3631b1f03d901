"""Models that torch exports correctly: no finding may be reported, in any order of the models.

Every model was checked by hand. A finding here is a false alarm or a new bug in torch.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence

import pytest
import torch

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.finding import Finding
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths import Path, core_paths, select_paths
from support.new_findings import new_findings

PREAMBLES = {
    "Pair": 'from collections import namedtuple\n\nPair = namedtuple("Pair", ["left", "right"])\n',
    "Parts": """\
from dataclasses import dataclass


@dataclass
class Parts:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Parts)
""",
    "double": """\
@torch.library.custom_op("exportdiff_test::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)
""",
    "bump": """\
@torch.library.custom_op("exportdiff_test::bump", mutates_args=("x",))
def bump(x: torch.Tensor) -> None:
    x.add_(1)
""",
    "triple": """\
@torch.library.custom_op("exportdiff_test::double", mutates_args=())
def triple(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@triple.register_fake
def _(x):
    return torch.empty_like(x)
""",
    "Symmetric": """\
from torch.nn.utils import parametrize


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).t()
""",
    "checkpoint": "from torch.utils.checkpoint import checkpoint\n",
    "while_loop": "from torch._higher_order_ops.while_loop import while_loop\n",
    "scan": "from torch._higher_order_ops.scan import scan\n",
    "map": "from torch._higher_order_ops.map import map as over\n",
}

# Name: (preamble, lines of __init__, lines of forward(x, y), the arguments).
X = "torch.ones(2, 3)"
LINEAR = "self.l = nn.Linear(3, 3)"
BUFFER = 'self.register_buffer("b", torch.ones(3))'
MODELS: dict[str, tuple[str, str, str, str]] = {
    "a namedtuple in and out": ("Pair", "", "return Pair(x.right * 2, x.left)", f"Pair({X}, {X})"),
    "a dataclass in and out": ("Parts", "", "return Parts(x.right * 2, x.left + 1)", f"Parts({X}, {X})"),
    "a custom op": ("double", "", "return double(x) + 1", X),
    "another custom op of the same name": ("triple", "", "return triple(x) + 1", X),
    "a custom op that mutates": ("bump", BUFFER, "bump(self.b)\nbump(x)\nreturn x + self.b", X),
    "a hook on a shared child": (
        "",
        f"{LINEAR}\nself.m = self.l\nself.l.register_forward_hook(lambda m, args, out: out * 2)",
        "return self.m(self.l(x))",
        X,
    ),
    "a parametrized weight, tied": (
        "Symmetric",
        f'{LINEAR}\nself.m = self.l\nparametrize.register_parametrization(self.l, "weight", Symmetric())',
        "return self.m(self.l(x))",
        X,
    ),
    "a traced child": (
        "",
        "self.g = torch.fx.symbolic_trace(nn.Linear(3, 3))",
        "return self.g(self.g(x))",
        X,
    ),
    "a child that torch.jit traced": (
        "",
        f"self.g = torch.jit.trace(nn.Linear(3, 3), {X})",
        "return self.g(self.g(x))",
        X,
    ),
    "a frozen child": (
        "",
        "self.g = torch.jit.freeze(torch.jit.script(nn.Linear(3, 3).eval()))",
        "return self.g(self.g(x))",
        X,
    ),
    "a child that torch.compile made": (
        "",
        'self.g = torch.compile(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), backend="eager")',
        "return self.g(self.g(x))",
        X,
    ),
    "a child that does nothing in its second call": (
        "",
        "self.flatten = nn.Flatten()",
        "return self.flatten(self.flatten(x))",
        "torch.ones(1, 2, 3)",
    ),
    "cond": (
        "",
        BUFFER,
        "return torch.cond(x.sum() > 0, lambda x: x + self.b, lambda x: x * 2, (x,))",
        X,
    ),
    "cond on a size": (
        "",
        "",
        "return torch.cond(x.shape[0] > 1, lambda x: x + 1, lambda x: x * 2, (x,))",
        X,
    ),
    "while_loop": (
        "while_loop",
        "",
        "return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 0.5), (torch.tensor(0), x))",
        X,
    ),
    "while_loop with a weight": (
        "while_loop",
        LINEAR,
        "return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * self.l.bias), (torch.tensor(0), x))",
        X,
    ),
    "scan": ("scan", "", "return scan(lambda c, x: (c + x, c * x), torch.zeros(3), x)", X),
    "map": ("map", "", "return over(lambda x, y: x * y, x, torch.ones(3))", X),
    "autocast": ("", LINEAR, 'with torch.autocast("cpu", dtype=torch.bfloat16):\n    return self.l(x)', X),
    "no_grad around an update": (
        "",
        LINEAR,
        "with torch.no_grad():\n    self.l.weight.mul_(0.5)\nreturn self.l(x)",
        X,
    ),
    "half, bfloat16, complex, int, bool": (
        "",
        "",
        "return x.half() * 2, x.bfloat16() + 1, x + 1j, x.int() // 2, x > 0",
        X,
    ),
    "a lazy conjugate": ("", "", "return x + 1, x.conj(), x.imag", "torch.tensor([1 + 2j]).conj()"),
    "empty tensors": ("", "", "return x + 1, x.sum(), torch.cat([x, x[:0]])", "torch.ones(0, 3)"),
    "no dimensions": ("", "", "x.add_(1)\nreturn x, x.expand(3)", "torch.tensor(1.0)"),
    "overlapping inputs": ("", "", "x.add_(1)\nreturn x + y", "(t := torch.ones(4))[:3], t[1:]"),
    "containers": (
        "",
        "",
        'return {"a": [x, (x["b"] + 1, None)], "c": 3, "d": "s"}'.replace("[x,", '[x["b"],'),
        f'{{"b": {X}, "n": 3}}',
    ),
    "values moved in place": ("", BUFFER, "self.b.add_(x.sum())\nreturn self.b, self.b[1:], x", X),
    "a Python counter": ("", "self.n = 0", "self.n += 1\nreturn x + self.n", X),
    "a constant assigned": ("", "self.k = torch.ones(3)", "y = x + self.k\nself.k = y\nreturn y", X),
    "resized inside": ("", "", "y = x.clone()\ny.resize_(3, 2)\nreturn y + 1", X),
    "set inside": ("", "", "y = x.clone()\ny.set_(x)\nreturn y + 1", X),
    "random numbers": ("", "", "return x + torch.rand(3), torch.dropout(x, 0.5, True)", X),
    "a function as argument": ("", LINEAR, "return torch.relu(y(x)) if callable(y) else x", f"{X}, None"),
}


def source(name: str) -> str:
    preamble, init, forward, args = MODELS[name]
    second = ", y=None" if "y" in forward else ""
    return "\n".join(
        (
            "import torch\nfrom torch import nn\n",
            PREAMBLES.get(preamble, ""),
            "\nclass Model(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            textwrap.indent(init, " " * 8),
            f"\n    def forward(self, x{second}):",
            textwrap.indent(forward, " " * 8),
            f"\n\ndef make():\n    return Model(), ({args},)\n",
        )
    )


def verdict(name: str, paths: Sequence[Path]) -> Verdict:
    case: Case = case_from_source(source(name))
    return judge(case, paths)


def unexplained(name: str, seen: Verdict) -> list[Finding]:
    """Return the findings that no entry of the corpus explains."""
    return new_findings(case_from_source(source(name)), seen)


EXPORTED = tuple(path for path in core_paths() if path.mode != "compile")
COMPILED = tuple(path for path in core_paths() if path.mode == "compile")


@pytest.mark.parametrize("name", MODELS)
def test_no_new_finding_is_reported(name: str) -> None:
    seen = without_new_findings(name, EXPORTED)
    assert [result.status for result in seen.paths[:2]] == ["ok", "ok"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if number % 6 else ())
        for number, name in enumerate(MODELS)
    ],
)
def test_no_new_finding_is_reported_where_it_is_compiled(name: str) -> None:
    without_new_findings(name, COMPILED)


def without_new_findings(name: str, paths: Sequence[Path]) -> Verdict:
    seen = verdict(name, paths)
    assert seen.valid, seen.invalid_reason
    assert unexplained(name, seen) == []
    assert {result.status for result in seen.paths} <= {"ok", "unsupported"} or seen.findings
    return seen


def test_compiled_code_also_draws_random_numbers_that_are_not_used() -> None:
    text = source("random numbers").replace("return x", "torch.rand(3).add_(1)\n        return x")
    seen = judge(case_from_source(text), select_paths(["compile:aot_eager"]))
    assert seen.valid and seen.findings == ()


# These change the state of the process, unless the harness restores it.
CHANGE_THE_PROCESS = ("cond", "while_loop", "autocast", "a custom op", "another custom op of the same name")


def test_the_order_of_programs_does_not_matter() -> None:
    shuffled = list(CHANGE_THE_PROCESS)
    random.Random(0).shuffle(shuffled)
    torch.manual_seed(0)
    paths = select_paths(["nonstrict:*", "strict:module"])
    assert [unexplained(name, verdict(name, paths)) for name in shuffled] == [[]] * len(shuffled)


EXPORTED_BEFORE = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x) + x.shape[0]


def make():
    args = (torch.ones(2, 3),)
    shapes = {"x": {0: torch.export.Dim.DYNAMIC}}
    return torch.export.export(Part(), args, dynamic_shapes=shapes).module(), args
"""

LAZY = """
class Model(nn.modules.lazy.LazyModuleMixin, nn.Module):
    def initialize_parameters(self, x):
        pass

    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(2),)
"""


@pytest.mark.parametrize("source", [EXPORTED_BEFORE, LAZY], ids=["a module of an export", "a lazy module"])
def test_models_that_torch_makes_or_completes_show_nothing(source: str) -> None:
    case = case_from_source(f"import torch\nfrom torch import nn\n{source}")
    verdict = judge(case, select_paths(["nonstrict:module", "nonstrict:unflatten"]))
    assert verdict.findings == ()
    assert [each.outcome for each in verdict.paths] == ["agrees", "agrees"], verdict.invalid_reason
