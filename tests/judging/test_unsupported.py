"""Documented refusals: models that torch.export refuses on purpose are unsupported and no findings."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
import torch

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.torch_versions import has
from exportdiff.judging.checks.outputs import PathRaised
from exportdiff.judging.exemptions.refusal import refused_by
from exportdiff.judging.exemptions.refusals import REFUSALS
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.failure import Failure
from exportdiff.runtime.paths import parse, select_paths

TRANSPOSES = """
class Model(nn.Module):
    def forward(self, x):
        return x.t_() + 1
"""
BRANCHES = """
class Model(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else x + 1
"""
SLICES = """
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: -x[:, 1:], lambda x: x[:, 1:].neg(), (x,))
"""
REFUSES_CONTIGUOUS = pytest.mark.skipif(
    has("torch._higher_order_ops.cond._merge_ints_to_symint"),
    reason="since torch 2.14, cond takes contiguous outputs whose sizes are not known",
)
TO_NUMPY = """
class Model(nn.Module):
    def forward(self, x):
        return x + float(x.numpy().sum())
"""
SCANS = """
from torch._higher_order_ops.scan import scan

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.ones(3)

    def forward(self, x):
        return scan(lambda carry, row: (carry + row, row + self.k), torch.zeros(3), x)[1]
"""


OUTPUTS = """
class Model(nn.Module):
    def forward(self, x):
        return x, {1}
"""
RETURNS_A_CACHE = """
class Cache:
    def __init__(self, x):
        self.x = x

class Model(nn.Module):
    def forward(self, x):
        return x + 1, Cache(x)
"""
WITHOUT_KEY_PATHS = """
class Box:
    def __init__(self, inside):
        self.inside = inside

torch.utils._pytree.register_pytree_node(Box, lambda box: ([box.inside], None), lambda items, _: Box(*items))

class Model(nn.Module):
    def forward(self, x):
        return x.inside + 1
"""

CHANGES_THE_CLASS = """
class Tagged(torch.Tensor):
    pass

class Model(nn.Module):
    def forward(self, x):
        return x.as_subclass(Tagged)
"""
CALLS_WITH_FUNCTION = """
class Child(nn.Module):
    def forward(self, x, function):
        return function(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, torch.neg)
"""
FILLS_DIAGONAL_OF_VIEW = """
class Model(nn.Module):
    def forward(self, x):
        x = x + 1
        x.narrow(0, 0, 2).fill_diagonal_(0)
        return x
"""


COMPRESSES = """
class Model(nn.Module):
    def forward(self, x):
        return (x * 2).to_sparse_csr()
"""


@pytest.mark.parametrize(
    ("body", "path", "reason"),
    [
        (FILLS_DIAGONAL_OF_VIEW, "nonstrict+decompose:module", "as-strided-mutated"),
        (COMPRESSES, "nonstrict+functionalize:module", "no-fake-implementation"),
        (CALLS_WITH_FUNCTION, "nonstrict+preserve:unflatten", "preserved-call"),
        (OUTPUTS, "nonstrict:module", "output-type"),
        (OUTPUTS, "strict:module", "output-type"),
        (RETURNS_A_CACHE, "nonstrict:module", "output-type"),
        (RETURNS_A_CACHE, "strict:module", "output-type"),
        (TRANSPOSES, "strict:module", "dynamo-unsupported"),
        (BRANCHES, "nonstrict:module", "data-dependent"),
        (BRANCHES, "strict:module", "dynamo-unsupported"),
        (TO_NUMPY, "nonstrict:module", "tensor-to-numpy"),
        (CHANGES_THE_CLASS, "nonstrict:module", "class-of-fake-tensor"),
        pytest.param(SLICES, "nonstrict:module", "cond-strides", marks=REFUSES_CONTIGUOUS),
    ],
)
def test_a_refusal_by_torch_is_recognized(
    case: Callable[[str], Case], body: str, path: str, reason: str
) -> None:
    verdict = judge(case(body), select_paths([path]))
    assert verdict.valid and verdict.findings == ()
    assert [(result.status, result.reason) for result in verdict.paths] == [("unsupported", reason)]


def test_of_the_paths_that_share_a_refused_export_one_is_judged(case: Callable[[str], Case]) -> None:
    paths = select_paths(["nonstrict:module", "nonstrict:unflatten", "strict:module"])
    verdict = judge(case(BRANCHES), paths, once=True)
    assert [each.path.without_device for each in verdict.paths] == ["nonstrict:module", "strict:module"]
    assert [(each.path.without_device, each.reason) for each in verdict.unjudged] == [
        ("nonstrict:unflatten", "torch refuses this export: data-dependent")
    ]


def test_what_torch_itself_asks_of_a_fake_tensor_is_no_refusal(case: Callable[[str], Case]) -> None:
    """The model reads no data; torch asks for the address of a fake tensor to clone it."""
    (finding,) = judge(case(SCANS), [parse("nonstrict:module")], ["outputs"]).findings
    assert isinstance(finding.evidence, PathRaised) and finding.evidence.failure.by_torch
    assert "Cannot access data pointer of Tensor" in finding.evidence.failure.message


def test_export_refuses_an_input_container_without_key_paths(case: Callable[[str, str], Case]) -> None:
    verdict = judge(case(WITHOUT_KEY_PATHS, "(Box(torch.ones(2)),)"), select_paths(["*strict:*"]))
    assert verdict.valid and {result.reason for result in verdict.paths} == {"input-type"}


TAKES_A_DTYPE = """
class Model(nn.Module):
    def forward(self, x, dtype):
        return x.to(dtype)

def make():
    return Model(), (torch.ones(2), torch.float64)
"""


@pytest.mark.parametrize("path", ["nonstrict:module", "strict:module"])
def test_export_refuses_a_dtype_as_input(path: str) -> None:
    verdict = judge(case_from_source(f"import torch\nfrom torch import nn\n{TAKES_A_DTYPE}"), [parse(path)])
    assert [(result.status, result.reason) for result in verdict.paths] == [("unsupported", "input-type")]


CONTIGUOUS_BRANCHES = (
    "torch.cond(x.sum() > 0, lambda x: -x.t().contiguous(), lambda x: x.t().contiguous() + 1, (x[::2],))"
)
NAMED, HINT = "{0: torch.export.Dim('n')}", "{0: torch.export.Dim.DYNAMIC}"


@pytest.mark.parametrize(
    ("forward", "args", "spec", "nonstrict", "strict"),
    [
        ("x if x.shape[0] > 3 else -x", "x", NAMED, "constraint-violation", "constraint-violation"),
        ("x.view(4, 3)", "x", NAMED, "constraint-violation", "constraint-violation"),
        ("x.view(4, 3)", "x", HINT, "constraint-violation", "constraint-violation"),
        ("x * 2", "x[:1]", NAMED, "constraint-violation", "constraint-violation"),
        ("x * 2", "x[:1]", HINT, "constraint-violation", "constraint-violation"),
        ("x * 2", "x", "{0: torch.export.Dim('n', min=5)}", "constraint-violation", "constraint-violation"),
        (
            "x @ x.t() @ x",
            "x[:, :2]",
            "{0: torch.export.Dim('n'), 1: torch.export.Dim('n')}",
            *2 * ("user-error",),
        ),
        ("x * 2", "x", "None, None", "user-error", "user-error"),
        ("x * {4: 2, 5: 3}[x.shape[0]]", "x", NAMED, "size-as-key", "constraint-violation"),
        ("x.sort(descending=x.shape[0] == x.shape[1])[0]", "x", HINT, "size-as-flag", "dynamo-unsupported"),
        ("torch.sum(x, 0, keepdim=x.shape[0] > 5)", "x", HINT, "size-as-flag", "dynamo-unsupported"),
        (
            "torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=x.shape[0] > 5)",
            *("x", HINT, "size-as-flag", "dynamo-unsupported"),
        ),
        ("x if x.sum() > 0 else -x", "x", NAMED, "data-dependent", "dynamo-unsupported"),
        pytest.param(
            CONTIGUOUS_BRANCHES, "x", NAMED, "cond-strides", "cond-strides", marks=REFUSES_CONTIGUOUS
        ),
    ],
)
def test_a_refusal_of_dynamic_shapes_is_recognized(
    forward: str, args: str, spec: str, nonstrict: str, strict: str
) -> None:
    source = (
        f"import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return {forward}\n"
        f"def make():\n    x = torch.ones(4, 3)\n    return Model(), ({args},)\n"
        f"def dynamic_shapes():\n    return ({spec},)\n"
    )
    # Other checks would report that a refused export changes the inputs.
    verdict = judge(
        case_from_source(source), select_paths(["nonstrict:module", "strict:module"]), ["outputs", "guards"]
    )
    assert verdict.valid and verdict.findings == ()
    assert [result.reason for result in verdict.paths] == [nonstrict, strict]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("AssertionError", "expected output node"),
        ("AssertionError", "in_spec mismatch for child"),
        ("KeyError", "'b_n'"),
        ("torch._export.verifier.SpecViolationError", "Buffer is not in the state dict"),
        ("RuntimeError", "r.num() INTERNAL ASSERT FAILED"),
        ("RuntimeError", "The size of tensor a (2) must match"),
        ("ValueError", "too many values to unpack"),
        ("torch._dynamo.exc.InternalTorchDynamoError", "IndexError: list index out of range"),
    ],
)
def test_an_internal_error_is_not_a_refusal(kind: str, message: str) -> None:
    assert refused_by(Failure("export", (kind, "Exception"), message, ()), REFUSALS) is None


def test_functionalization_refuses_set_to_a_plain_tensor() -> None:
    # Plain torch gets there only past other bugs.
    says = "set__functionalize: We do not currently support x.set_(y) where y is not a FunctionalTensor."
    rule = refused_by(Failure("lower", ("RuntimeError", "Exception"), says, ()), REFUSALS)
    assert rule is not None and rule.name == "set-to-plain-tensor"


def test_a_model_that_torch_cannot_save_in_eager_is_not_picklable() -> None:
    model = torch.nn.Module()
    model.register_buffer("mean", torch.zeros(2))
    model.register_buffer("bits", model.get_buffer("mean").view(torch.int32))
    with pytest.raises(RuntimeError) as raised:
        torch.save(model, io.BytesIO())
    rule = refused_by(Failure("lower", ("RuntimeError", "Exception"), str(raised.value), ()), REFUSALS)
    assert rule is not None and rule.name == "not-picklable"


def test_calls_of_a_scripted_module_are_not_preserved(case: Callable[[str], Case]) -> None:
    frozen = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.jit.freeze(torch.jit.script(nn.Linear(3, 3).eval()))

    def forward(self, x):
        return self.child(x)
"""
    verdict = judge(case(frozen), select_paths(["nonstrict+preserve:unflatten"]))
    assert [each.reason for each in verdict.paths] == ["no-hooks-of-scripted-modules"]


def test_a_refusal_does_not_cover_an_error_in_a_run() -> None:
    for rule in (each for each in REFUSALS if not each.runner):
        types = (rule.type, "Exception")
        at_run = Failure("run", types, "no fake impl registered", ())
        assert not rule.covers(at_run)


WRITES_TO_VIEW = """
class Model(nn.Module):
    def forward(self, x, y):
        x.neg_()
        return x + y
"""


def test_a_backend_refuses_in_the_call_that_compiles(case: Callable[[str, str], Case]) -> None:
    given = case(WRITES_TO_VIEW, "(x := torch.ones(1, 3).view(3), x.detach())")
    verdict = judge(given, [parse("compile:aot_eager")])
    assert [(each.status, each.reason) for each in verdict.paths] == [("unsupported", "mutated-aliases")]


WRITES_TO_VIEW_OF_ANOTHER_TYPE = """
class Model(nn.Module):
    def forward(self, x, y):
        x.neg_()
        return y + 1
"""
BRANCHES_READ_THE_OPERAND = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {"u": torch.ones(2)}

    def forward(self, x):
        def first(y):
            return y + self.held["u"]

        def second(y):
            return y - self.held["u"]

        return torch.cond(x.sum() > 0, first, second, (self.held["u"].neg_(),))
"""


WRITES_TO_MEMORY_BEFORE_SET = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.ones(2))

    def forward(self, x):
        self.state.detach().set_(x)
        return self.state.add_(1) + x
"""


@pytest.mark.parametrize(
    ("body", "args", "path", "reason"),
    [
        (
            WRITES_TO_MEMORY_BEFORE_SET,
            "(torch.ones(2),)",
            "nonstrict+decompose:module",
            "memory-before-set-mutated",
        ),
        (
            WRITES_TO_VIEW_OF_ANOTHER_TYPE,
            "(x := torch.ones(3, dtype=torch.complex64), torch.view_as_real(x))",
            "nonstrict+decompose:module",
            "mutated-aliases",
        ),
        (BRANCHES_READ_THE_OPERAND, "(torch.ones(2),)", "compile:aot_eager", "control-flow-op"),
    ],
)
def test_a_backend_says_which_aliases_it_does_not_take(
    case: Callable[[str, str], Case], body: str, args: str, path: str, reason: str
) -> None:
    verdict = judge(case(body, args), [parse(path)])
    assert [(each.status, each.reason) for each in verdict.paths] == [("unsupported", reason)]


BRANCHES_READ_A_CHUNK = """
class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, torch.tanh, (x.chunk(2, 1)[0],))
"""


@REFUSES_CONTIGUOUS
def test_a_refusal_by_torch_in_a_call_that_compiles_again_is_recognized(
    case: Callable[[str, str], Case],
) -> None:
    """The first call compiles for its own sizes, the call with another size for dynamic ones."""
    given = case(BRANCHES_READ_A_CHUNK, "(torch.ones(3, 2),)")
    verdict = judge(given, [parse("compile:compiled")])
    assert verdict.valid and verdict.findings == ()
    assert [(each.status, each.excused) for each in verdict.paths] == [
        ("ok", ("cond-does-not-merge-strides",))
    ]


def test_every_refusal_says_where_it_is_documented() -> None:
    assert all(rule.documented and rule.name for rule in REFUSALS)
