from __future__ import annotations

import json
import pathlib
import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.judging.checks.purity import FAKE, HeldTensorChanged, ModuleChanged
from exportdiff.judging.verdict import judge
from exportdiff.repro import repro_source
from exportdiff.runtime.paths import core_paths, select_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch
from support.in_process import run_script

FINE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        self.seen.add_(x.sum(0))
        return torch.dropout(self.linear(x), 0.5, True) + torch.rand_like(x)
"""

BROKEN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        base = torch.zeros(4)
        self.register_buffer("head", base[:3])
        self.register_buffer("tail", base[1:])

    def forward(self, x):
        self.head.add_(1)
        return x + self.tail
"""


def test_a_sound_model_is_ok_on_every_path(case: Callable[[str], Case]) -> None:
    verdict = judge(case(FINE), core_paths())
    assert verdict.valid and verdict.invalid_reason == "" and verdict.findings == ()
    assert [result.path for result in verdict.paths] == list(core_paths())
    assert {result.status for result in verdict.paths} == {"ok"}
    assert verdict.torch_seconds > 0


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("raise ValueError('no')", "eager raised ValueError in call 0: no"),
        ("return x / 0", "not finite"),
        ("return x + next(os.COUNT)", "disagrees with itself"),
    ],
)
def test_a_model_that_cannot_be_judged_is_invalid(
    case: Callable[[str], Case], forward: str, reason: str
) -> None:
    body = f"""
import itertools, os
os.COUNT = itertools.count()

class Model(nn.Module):
    def forward(self, x):
        {forward}
"""
    verdict = judge(case(body), core_paths())
    assert not verdict.valid and reason in verdict.invalid_reason
    assert verdict.findings == () and verdict.paths == ()


def test_an_input_that_is_state_is_invalid(case: Callable[[str], Case]) -> None:
    body = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1

STATE = torch.nn.Parameter(torch.ones(2))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = STATE

    def forward(self, x):
        return x + 1
"""
    odd = case(body)
    odd = Case(odd.name, odd.source, lambda: ((model := torch.nn.Linear(2, 2)), (model.weight,)))
    assert "shares memory" in judge(odd, core_paths()).invalid_reason


def test_python_state_is_judged_on_the_first_call_only(case: Callable[[str], Case]) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + self.calls
"""
    verdict = judge(case(body), select_paths(["nonstrict:*"]))
    assert verdict.valid and verdict.findings == ()


@pytest.mark.parametrize("held", ["[Inner()]", "{'u': (Inner(),)}"])
def test_state_of_a_module_that_no_module_registers_is_python_state(
    case: Callable[[str], Case], held: str
) -> None:
    body = f"""
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.ones(3)

    def forward(self, x):
        x = x + self.k
        self.k = -self.k
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {held}

    def forward(self, x):
        return torch.utils._pytree.tree_leaves(self.held)[0](x)
"""
    verdict = judge(case(body), select_paths(["nonstrict:module"]))
    assert [finding.check for finding in verdict.findings] == ["purity"]  # export leaves a fake tensor there
    (change,) = [finding.evidence for finding in verdict.findings]
    assert isinstance(change, ModuleChanged) and change.sort == "attribute of an unregistered module"


KEEPERS = {
    "list of an object": (
        "self.cache = type('Cache', (), {})(); self.cache.kept = []",
        "self.cache.kept.append(y)",
    ),
    "object": ("self.cache = type('Cache', (), {})()", "self.cache.last = y"),
    "closure": ("kept = {}; self.keep = lambda t: kept.update(last=t)", "self.keep(y)"),
    "method of a list": ("self.keep = [].append", "self.keep(y)"),
}


@pytest.mark.parametrize("keeper", KEEPERS)
def test_a_fake_tensor_left_in_an_object_changes_the_model(case: Callable[[str], Case], keeper: str) -> None:
    init, forward = KEEPERS[keeper]
    body = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        y = x * 2
        {forward}
        return y + 1
"""
    verdict = judge(case(body), select_paths(["nonstrict:module"]))
    (change,) = [finding.evidence for finding in verdict.findings]
    assert isinstance(change, ModuleChanged) and change.sort == FAKE
    keeps_a_number = case(body.replace("(y)", "(1)").replace("= y", "= 1"))
    assert judge(keeps_a_number, select_paths(["nonstrict:module"])).findings == ()


CACHED = """
import functools

@functools.{}
def table(n):
    return torch.arange(n) / 7
"""
APPENDING = """
TABLE = []

def table(t):
    TABLE.append(t)
    return t
"""
TABLES = {
    "dict": ("TABLE = {}", "TABLE.setdefault(len(x), torch.arange(3) / 7)"),
    "list of a function": (APPENDING, "table(x * 2)"),
    "cache": (CACHED.format("cache"), "table(3)"),
    "bounded cache": (CACHED.format("lru_cache"), "table(3)"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_fake_tensor_left_in_a_global_table_breaks_the_next_call(
    case: Callable[[str], Case], kind: str, tmp_path: pathlib.Path
) -> None:
    table, value = TABLES[kind]
    model = case(f"""{table}

class Model(nn.Module):
    def forward(self, x):
        return x + {value}
""")
    findings = judge(model, select_paths(["nonstrict:module"])).findings
    changes = [finding for finding in findings if isinstance(finding.evidence, ModuleChanged)]
    (change,) = [each for each in changes if getattr(each.evidence, "sort", "") == FAKE]
    file = tmp_path / "repro.py"
    file.write_text(repro_source(change, model.source))
    code, printed = run_script(file)
    assert code == 1 and "forward" in printed


def test_the_gradient_of_a_parameter_that_forward_replaces_is_not_compared(
    case: Callable[[str], Case],
) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = x * self.weight
        self.weight = nn.Parameter(torch.ones(3))
        return y
"""
    assert judge(case(body), select_paths(["nonstrict:module"]), ["gradients"]).findings == ()


@pytest.mark.parametrize("second", ["self.same", "self.held[0]"])
def test_what_functional_call_does_not_replace(case: Callable[[str], Case], second: str) -> None:
    body = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.held = [None]
        {second} = self.mean

    def forward(self, x):
        return x + {second}, {second}
"""
    verdict = judge(case(body), select_paths(["nonstrict+functional:unflatten"]), ["outputs"])
    assert verdict.findings == () and "attributes-are-not-replaced" in verdict.paths[0].excused


def test_an_output_may_be_either_of_two_aliased_inputs(
    case: Callable[[str, str], Case],
) -> None:
    body = """
class Model(nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return y
"""
    for inputs, excused in (("(x, x[...])", True), ("(x, x.clone())", False)):
        verdict = judge(
            case(body, f"(lambda x: {inputs})(torch.zeros(2))"),
            select_paths(["compile:aot_eager"]),
            ["outputs"],
        )
        assert verdict.findings == ()
        assert ("views-of-one-base-are-regenerated" in verdict.paths[0].excused) == excused


def test_a_history_left_on_a_tensor_in_a_dict_shows_in_calls(
    case: Callable[[str], Case],
) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(0.5))
        self.cache = {"k": torch.ones(1, 3).view(3)}  # the history of a view cannot be taken from it

    def forward(self, x):
        before = self.cache["k"] + 1
        self.cache["k"].copy_(x[0] * self.w)
        return before
"""
    verdict = judge(case(body), select_paths(["nonstrict:unflatten"]))
    (found,) = verdict.findings
    assert isinstance(found.evidence, HeldTensorChanged) and found.evidence.aspect == "requires-grad"
    assert found.evidence.name == "cache['k']" and found.consequences[0].check == "outputs"


ONCE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = [0]

    def forward(self, x):
        if self.calls[0]:
            raise ValueError("once is enough")
        self.calls[0] += 1
        return x * 2
"""


def test_a_model_that_refuses_a_second_call_is_judged_on_the_first(case: Callable[[str], Case]) -> None:
    paths = select_paths(["nonstrict:module"])
    owned = replace(case(ONCE), finite_only=False)
    verdict = judge(owned, paths, ["outputs"])
    assert verdict.valid and [result.status for result in verdict.paths] == ["ok"]
    wrong = case(ONCE.replace("x * 2", "x * (3 if torch.compiler.is_exporting() else 2)"))
    other = replace(wrong, finite_only=False)
    assert [finding.call for finding in judge(other, paths, ["outputs"]).findings] == [0]
    # A drawn program must not do so: the strategies promise that eager accepts every call.
    drawn = judge(replace(owned, finite_only=True), paths)
    assert not drawn.valid and "eager raised ValueError in call 1: once" in drawn.invalid_reason


HELD = """
class Child(nn.Module):
    def forward(self, x):
        return x * 2

class Model(nn.Module):
    of_class = {{"child": nn.Sequential(Child())}}

    def __init__(self):
        super().__init__()
        self.calls = 0
        {sets}

    def forward(self, x):
        self.calls += 1
        return {reads}(x)
"""


@pytest.mark.parametrize(
    ("sets", "reads", "excused"),
    [
        ("self.held = [Child()]", "self.held[0]", True),
        ("self.held = [nn.Flatten()]", "(lambda x: self.held[0](x.view(1, -1)))", True),
        ('object.__setattr__(self, "held", nn.Sequential(Child()))', "self.held", True),
        ('self.held = [Child()]; object.__setattr__(self, "first", self.held[0])', "self.first", True),
        ("pass", "self.of_class['child']", True),
        ("self.held = nn.ModuleList([Child()])", "self.held[0]", False),
    ],
    ids=["list", "nothing to do", "attribute", "attribute and list", "class", "registered"],
)
def test_only_registered_modules_have_names(
    case: Callable[[str], Case], sets: str, reads: str, excused: bool
) -> None:
    text = HELD.format(sets=sets, reads=reads)
    verdict = judge(case(text), select_paths(["strict:unflatten"]), ["structure"])
    assert ("modules-in-lists-are-not-registered" in verdict.paths[0].excused) == excused
    signatures = [finding.signature for finding in verdict.findings]
    assert signatures == ([] if excused else [("structure", "mismatch", "calls", "unknown")])


CHANGES = {
    "self.child.n.mul_(2)": True,
    # Without recomputing, autograd refuses to go back through the changed parameter.
    "self.child.w.detach().mul_(2)": True,
    "self.child.k = -self.child.k": True,
    "y = y + 1": False,
}


@pytest.mark.parametrize(
    ("change", "excused"), CHANGES.items(), ids=["buffer", "parameter", "attribute", "nothing"]
)
def test_gradients_that_a_checkpoint_computes_from_changed_state_are_no_finding(
    case: Callable[[str], Case], change: str, excused: bool
) -> None:
    body = f"""
from torch.utils.checkpoint import checkpoint

class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("n", torch.ones(3))
        self.k = torch.ones(3)

    def forward(self, x):
        return x * self.n * self.w**2 * self.k

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        y = checkpoint(self.child, x, use_reentrant=False)
        {change}
        return y
"""
    verdict = judge(case(body), select_paths(["nonstrict:module"]))
    assert verdict.findings == ()
    names = [name for result in verdict.paths for name in result.excused]
    assert ("checkpoints-recompute-from-changed-state" in names) == excused


def test_gradients_that_a_checkpoint_computes_after_functional_call_are_no_finding(
    case: Callable[[str, str], Case],
) -> None:
    body = """
from torch.utils.checkpoint import checkpoint

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return checkpoint(lambda x: torch.tanh(self.layer(x)), x, use_reentrant=False)
"""
    verdict = judge(
        case(body, "(torch.ones(2, 3, requires_grad=True),)"), select_paths(["nonstrict+functional:module"])
    )
    assert verdict.findings == ()
    assert "checkpoints-recompute-from-changed-state" in verdict.paths[0].excused


CHANGES_STRUCTURE = {
    "training": ("pass", "self.eval()\n        return x"),
    "a child": ("self.a, self.b = nn.Tanh(), nn.ReLU()", "self.a, self.b = self.b, self.a\n        return x"),
    "a buffer's dtype": (
        "self.register_buffer('n', torch.ones(3))",
        "self.n = self.n.double()\n        return x",
    ),
    "what a buffer shares memory with": (
        "self.register_buffer('n', torch.ones(3)); self.register_buffer('m', torch.zeros(3))",
        "self.n.add_(1)\n        self.n = self.m\n        return x",
    ),
    "an object's tensor": (
        "self.held = [type('Cache', (), {})()]; self.held[0].n = torch.ones(3)",
        "self.held[0].n = self.held[0].n - 1\n        return x",
    ),
    "a number in a namespace": (
        "import types; self.config = types.SimpleNamespace(n=0)",
        "self.config.n += 1\n        return x",
    ),
    "a buffer from None": ("self.register_buffer('n', None)", "self.n = x\n        return x"),
}


@pytest.mark.parametrize("change", CHANGES_STRUCTURE)
def test_structure_that_changes_counts_as_python_state(case: Callable[[str], Case], change: str) -> None:
    init, forward = CHANGES_STRUCTURE[change]
    body = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""
    assert observe_eager(case(body), "cpu", Stopwatch()).first_call_only


def test_an_assigned_attribute_may_reuse_memory(
    case: Callable[[str], Case],
) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.zeros(3)

    def forward(self, x):
        self.k = -self.k
        return x + 1
"""
    # A freed tensor's id is used again at once: after an even number of calls it is that of the first.
    even = replace(case(body), probes=lambda: [((torch.ones(2, 3),), {})])
    assert observe_eager(even, "cpu", Stopwatch()).assigned == {"k"}


def test_attributes_that_every_call_swaps_are_assigned(case: Callable[[str], Case]) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.c = torch.zeros(3), torch.ones(2)

    def forward(self, x):
        self.k, self.c = self.c, self.k
        return x + 1
"""
    # After an even number of calls they are where they were.
    even = replace(case(body), probes=lambda: [((torch.ones(2, 3),), {})])
    assert observe_eager(even, "cpu", Stopwatch()).assigned == {"k", "c"}


def test_state_that_moves_in_place_is_judged_on_all_calls(case: Callable[[str], Case]) -> None:
    assert not observe_eager(case(FINE), "cpu", Stopwatch()).first_call_only


def test_one_cause_is_one_finding_with_its_consequences(case: Callable[[str], Case]) -> None:
    verdict = judge(case(BROKEN), core_paths())
    assert [(finding.check, str(finding.path)) for finding in verdict.findings] == [
        ("sharing", "nonstrict:unflatten@cpu")
    ]
    finding = verdict.findings[0]
    assert "outputs" in {each.check for each in finding.consequences}
    assert list(map(str, finding.shown_on)) == ["nonstrict:unflatten@cpu", "strict:unflatten@cpu"]
    assert [result.status for result in verdict.paths] == ["ok", "finding", "ok", "finding", "ok"]


def test_only_the_chosen_checks_run(case: Callable[[str], Case]) -> None:
    verdict = judge(case(BROKEN), core_paths(), ["outputs"])
    assert [finding.check for finding in verdict.findings] == ["outputs"]
    with pytest.raises(ValueError, match="no check 'output'"):
        judge(case(BROKEN), core_paths(), ["output"])


def test_verdicts_travel(case: Callable[[str], Case]) -> None:
    verdict = judge(case(BROKEN), select_paths(["nonstrict:*"]))
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    document = json.loads(json.dumps(verdict.findings[0].as_dict()))
    assert document == verdict.findings[0].as_dict()
    assert document["shown_on"] == [document["path"]] == ["nonstrict:unflatten@cpu"]


def test_a_fingerprint_is_the_same_on_every_device(case: Callable[[str], Case]) -> None:
    finding = judge(case(BROKEN), select_paths(["nonstrict:*"])).findings[0]
    moved = replace(finding, path=replace(finding.path, device="cuda"), consequences=())
    assert moved.fingerprint == finding.fingerprint and len(finding.fingerprint) == 10
    other = replace(finding, path=replace(finding.path, runner="module"))
    assert other.fingerprint != finding.fingerprint


def test_the_caller_notices_nothing(
    case: Callable[[str], Case], capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    body = "class Model(nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else x + 1"
    judge(case(body), core_paths())
    assert torch.equal(before, torch.get_rng_state())
    assert capfd.readouterr() == ("", "") and not recwarn.list


def test_a_copied_parameter_may_begin_elsewhere_in_its_memory(case: Callable[[str], Case]) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4)[1:])

    def forward(self, x):
        return x + self.weight.view(3)
"""
    assert judge(case(body), select_paths(["nonstrict+deepcopy:module"])).findings == ()


@pytest.mark.parametrize(("mode", "status"), [("draft", "ok"), ("nonstrict", "finding")])
def test_draft_export_alone_may_draw_random_numbers(
    mode: str, status: str, case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = case("class Model(nn.Module):\n    def forward(self, x):\n        return x + torch.randn(3)\n")
    if mode != "draft":
        export = torch.export.export

        def drawing(*args: object, **kwargs: object) -> object:
            program = export(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came
            torch.rand(1)
            return program

        monkeypatch.setattr(torch.export, "export", drawing)
    (judged,) = judge(model, select_paths([f"{mode}:module"]), ["purity"]).paths
    assert judged.status == status


def test_a_view_whose_history_autograd_does_not_tell_is_judged(case: Callable[[str], Case]) -> None:
    model = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("kept", torch.zeros(2, 3))

    def forward(self, x):
        with torch.no_grad():
            view = self.kept.view(-1)
        self.kept.copy_(x * self.w)
        return view
"""
    assert judge(case(model), select_paths(["nonstrict:module"]), ["outputs", "gradients"]).valid
