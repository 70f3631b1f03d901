"""The structure check on real models: hard ones that are right, and broken exports that it reports."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import runpy
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
import torch.export._trace as trace
from torch import nn
from torch.export import UnflattenedModule
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from exportdiff.core.case import Case
from exportdiff.core.finding import Evidence
from exportdiff.judging.checks.structure.check import structure
from exportdiff.judging.checks.structure.translation import StepDiffers
from exportdiff.judging.verdict import judge
from exportdiff.lab.faults.registry import wrapped
from exportdiff.repro import repro_source
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.paths.read.rebuilt import read_rebuilt
from exportdiff.runtime.paths.run.by_export import observe_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch

unflattening = sys.modules[UnflattenedModule.__module__]


HARD = {
    "calls of a shared module by several names": """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(1)
        return self.linear(x) + self.count

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Child()
        self.two = nn.Sequential(self.one, nn.Identity(), nn.Dropout(0.5))

    def forward(self, x):
        return self.two(self.one(x)) + self.one(x)
""",
    "a call of what is not below its caller": """
class Child(nn.Module):
    def forward(self, x, other):
        return other(x * 2) + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Child()
        self.two = nn.Linear(3, 3)

    def forward(self, x):
        return self.one(x, self.two)
""",
    "regions, hooks, dead code and an update that nobody sees": """
class Child(nn.Module):
    def forward(self, x):
        x.sin()
        with torch.no_grad():
            y = x.cos()
        with torch.autocast("cpu"):
            y = y + x @ x.t() @ x
        (y * 3).mul_(2)
        return y + torch.rand_like(y)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleDict({"a": Child(), "b": nn.ReLU()})
        self.inner["a"].register_forward_hook(lambda m, args, out: self.inner["b"](out))

    def forward(self, x):
        return self.inner["a"](x)
""",
    "a call for each flag": """
class Child(nn.Module):
    def forward(self, x, flag):
        return torch.split(x, 1)[flag] if flag else torch.relu(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        y = self.child(x, 0) + self.child(x, 0)
        return {"a": self.child(y, 1), "b": (self.child(y, 0), x)}
""",
    "torch.cond, and a constant": """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.ones(3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,)) + self.k

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.child(self.linear(x))
""",
    "a graph module and a parametrization": """
class Twice(nn.Module):
    def forward(self, x):
        return x * 2

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.traced = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
        self.linear = nn.utils.parametrize.register_parametrization(nn.Linear(3, 3), "weight", Twice())

    def forward(self, x):
        return self.traced(self.linear(x))
""",
}


def differences(case: Case, mode: str) -> list[Evidence]:
    reference = observe_eager(case, "cpu", Stopwatch(), {mode})
    assert reference.hierarchy is not None and reference.hierarchy.visits
    found: list[Evidence] = []
    for observation in observe_paths(case, select_paths([f"{mode}:*"]), Stopwatch()):
        assert isinstance(observation, ExportedObservation)
        assert observation.failure is None and observation.exported is not None
        found += structure(reference, observation)
    return found


@pytest.mark.parametrize("name", HARD)
def test_models_that_are_hard_and_right(name: str, case: Callable[[str], Case]) -> None:
    assert differences(case(f"torch.manual_seed(0)\n{HARD[name]}"), "nonstrict") == []


@pytest.mark.parametrize("name", list(HARD)[:2])
def test_strict_models_that_are_hard_and_right(name: str, case: Callable[[str], Case]) -> None:
    assert differences(case(HARD[name]), "strict") == []


# --- broken exports ---


def test_a_spec_that_does_not_fit_what_it_is_given_is_told() -> None:
    outer = nn.Sequential(nn.Sequential(nn.ReLU()))
    program = torch.export.export(outer, (torch.ones(2),), preserve_module_call_signature=("0",))
    lowered = torch.export.unflatten(program)
    inner: Any = lowered.get_submodule("0")
    inner._spec_0 = pytree.tree_structure(((torch.Size([2]),), {}))
    rebuilt = read_rebuilt(lowered)
    assert rebuilt is not None and re.match(r"tree_flatten_spec\w* does not fit", rebuilt.broken or "")


class Pair(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, x + 1


class Switched(nn.Module):
    """Calls a module that returns a tuple, and has a graph for each of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair()

    def forward(self, x: torch.Tensor, *, first: bool) -> torch.Tensor:
        one, two = self.pair(x)
        result: torch.Tensor = one - two if first else two - one
        return result


class CalledTwice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.switched = Switched()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.switched(x, first=True) + self.switched(x, first=False)
        return result


def test_a_preserved_call_in_one_of_two_variants_may_return_a_tuple() -> None:
    model, x = CalledTwice(), torch.ones(2)
    program = torch.export.export(model, (x,), preserve_module_call_signature=("switched.pair",))
    lowered = torch.export.unflatten(program)
    assert torch.equal(lowered(x), model(x))
    rebuilt = read_rebuilt(lowered)
    assert rebuilt is not None and not rebuilt.broken
    assert [name for name, _ in rebuilt.variants["switched"]] == ["switched", "switched@1"]


class Doubled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.relu(self.relu(x) - 1)
        return result


def test_a_preserved_call_has_another_graph() -> None:
    """Calls in regions are not preserved, and run_decompositions may take the region away."""
    program = torch.export.export(Doubled(), (torch.ones(2),), preserve_module_call_signature=("relu",))
    for entry in program.module_call_graph:
        if entry.fqn == "relu@1":
            entry.signature = None
    rebuilt = read_rebuilt(torch.export.unflatten(program))
    assert rebuilt is not None
    assert [name for name, _ in rebuilt.variants["relu"]] == ["relu", "relu@1"]
    assert len({text for _, text in rebuilt.variants["relu"]}) == 2


TWICE = """
class Child(nn.Module):
    def forward(self, x):
        return x * 2 + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x))
"""

ALIKE = """
class Child(nn.Module):
    def forward(self, x, flag):
        return x + x if flag else x * 2

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, True), False)
"""

LAYERS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.empty = nn.Identity()
        self.two = nn.Linear(3, 3)
        self.register_buffer("kept", torch.ones(3))
        self.register_buffer("lost", torch.ones(3), persistent=False)

    def forward(self, x):
        x = torch.relu(x * 2) + torch.tanh(x * 3)
        self.kept.relu_()
        return self.two(self.empty(self.one(x + self.kept + self.lost)))
"""


def after_export(then: Callable[[Any], object]) -> AbstractContextManager[None]:
    def wrapper(export: Any, *args: Any, **kwargs: Any) -> Any:
        program = export(*args, **kwargs)
        then(program)
        return program

    return wrapped(trace, "_export", wrapper)


def after_unflatten(then: Callable[[Any], object]) -> AbstractContextManager[None]:
    def wrapper(init: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        then(self)

    return wrapped(UnflattenedModule, "__init__", wrapper)


def before_outlining(then: Callable[[Any], object]) -> AbstractContextManager[None]:
    def wrapper(fix: Any, graph: Any) -> None:
        fix(graph)
        then(graph)

    return wrapped(unflattening, "_fix_nn_module_stacks", wrapper)


def always(same: bool) -> AbstractContextManager[None]:
    return wrapped(unflattening, "_check_graph_equivalence", lambda original, *modules: same)


def node_of(graph: Any, operator: str, number: int = 0) -> Any:
    return [node for node in graph.nodes if str(node.target) == operator][number]


def forget_call_numbers(graph: Any) -> None:
    for node in graph.nodes:
        if stack := node.meta.get("nn_module_stack"):
            node.meta["nn_module_stack"] = {key.split("@")[0]: each for key, each in stack.items()}


def file_under_the_root(graph: Any) -> None:
    node = node_of(graph, "aten.linear.default", 1)
    node.meta["nn_module_stack"] = dict(list(node.meta["nn_module_stack"].items())[:1])


def exchange_modules(graph: Any) -> None:
    one, two = (node_of(graph, "aten.linear.default", number).meta for number in (0, 1))
    one["nn_module_stack"], two["nn_module_stack"] = two["nn_module_stack"], one["nn_module_stack"]


def rename_module(graph: Any) -> None:
    stack = node_of(graph, "aten.linear.default").meta["nn_module_stack"]
    key, (_, kind) = list(stack.items())[-1]
    stack[key] = ("three", kind)


def keep_what_does_not_persist(program: Any) -> None:
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.BUFFER and not spec.persistent:
            program._state_dict[spec.target] = program._constants.pop(spec.target)


def mistake_what_persists(program: Any) -> None:
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.BUFFER:
            spec.persistent = not spec.persistent


def lose_what_persists(program: Any) -> None:
    program._constants["elsewhere"] = program._constants.pop("lost")


def forget_update(graph: Any) -> None:
    node = node_of(graph, "aten.relu_.default")
    node.replace_all_uses_with(node.args[0])
    graph.erase_node(node)


def add_update(lowered: Any) -> None:
    graph = lowered.graph
    node = node_of(graph, "aten.relu_.default")
    with graph.inserting_after(node):
        graph.call_function(torch.ops.aten.relu_.default, node.args)


def change_order(lowered: Any) -> None:
    relu, tanh = (node_of(lowered.graph, f"aten.{name}.default") for name in ("relu", "tanh"))
    mul = relu.args[0]
    tanh.append(mul)
    mul.append(relu)


def read_too_early(lowered: Any) -> None:
    relu, tanh = (node_of(lowered.graph, f"aten.{name}.default") for name in ("relu", "tanh"))
    relu.args = tanh.args


def read_another(lowered: Any) -> None:
    node_of(lowered.graph, "lost").replace_all_uses_with(node_of(lowered.graph, "kept"))


def change_constant(lowered: Any) -> None:
    node = node_of(lowered.graph, "aten.mul.Tensor")
    node.args = (node.args[0], 4)


def exchange_calls(lowered: Any) -> None:
    one, two = (node for node in lowered.graph.nodes if node.op == "call_module")
    one.target, two.target = two.target, one.target


def call_nothing(lowered: Any) -> None:
    node_of(lowered.graph, "one").target = "empty"


def drop_empty(lowered: Any) -> None:
    del lowered._modules["empty"]


def nest(lowered: Any) -> None:
    lowered.one._modules["again"] = lowered.one


Plant = Callable[[], AbstractContextManager[None]]

BROKEN: dict[str, tuple[str, Plant, tuple[str, ...]]] = {
    "inputs": (
        LAYERS,
        lambda: after_export(lambda program: program.graph_signature.input_specs.reverse()),
        ("signature", "inputs"),
    ),
    "outputs": (
        LAYERS,
        lambda: after_export(lambda program: program.graph_signature.output_specs.clear()),
        ("signature", "outputs"),
    ),
    "kind": (LAYERS, lambda: after_export(mistake_what_persists), ("signature", "kind", "buffer")),
    "target": (LAYERS, lambda: after_export(lose_what_persists), ("signature", "target", "buffer")),
    "state dict": (LAYERS, lambda: after_export(keep_what_does_not_persist), ("names", "state_dict")),
    "call graph": (
        LAYERS,
        lambda: wrapped(trace, "_make_module_call_graph", lambda make, *args, **kwargs: make(*args)[:-1]),
        ("names", "module_call_graph"),
    ),
    "filed nowhere": (
        LAYERS,
        lambda: after_export(lambda program: file_under_the_root(program.graph)),
        ("calls", "missing"),
    ),
    "filed elsewhere": (
        LAYERS,
        lambda: after_export(lambda program: exchange_modules(program.graph)),
        ("calls", "order"),
    ),
    "filed under an unknown name": (
        LAYERS,
        lambda: after_export(lambda program: rename_module(program.graph)),
        ("calls", "unknown"),
    ),
    "calls exchanged": (LAYERS, lambda: after_unflatten(exchange_calls), ("calls", "order")),
    "call of nothing": (LAYERS, lambda: after_unflatten(call_nothing), ("graph", "broken")),
    "read too early": (LAYERS, lambda: after_unflatten(read_too_early), ("graph", "broken")),
    "module missing": (LAYERS, lambda: after_unflatten(drop_empty), ("modules", "missing")),
    "module unknown": (
        LAYERS,
        lambda: after_unflatten(lambda lowered: lowered.add_module("more", nn.Module())),
        ("modules", "unknown"),
    ),
    "cycle": (LAYERS, lambda: after_unflatten(nest), ("modules", "cycle")),
    "equal graphs kept": (TWICE, lambda: always(False), ("variants", "needless")),
    "other graphs merged": (ALIKE, lambda: always(True), ("steps", "shared-graph")),
    "calls merged": (TWICE, lambda: before_outlining(forget_call_numbers), ("steps", "call")),
    "outlined elsewhere": (LAYERS, lambda: before_outlining(file_under_the_root), ("steps", "owner")),
    "update lost": (LAYERS, lambda: before_outlining(forget_update), ("steps", "missing", "operator")),
    "update repeated": (LAYERS, lambda: after_unflatten(add_update), ("steps", "extra", "operator")),
    "other order": (LAYERS, lambda: after_unflatten(change_order), ("steps", "order")),
    "other buffer": (
        LAYERS,
        lambda: after_unflatten(read_another),
        ("steps", "operands", "buffer", "buffer"),
    ),
    "other constant": (LAYERS, lambda: after_unflatten(change_constant), ("steps", "arguments")),
}


def run(file: pathlib.Path) -> tuple[object, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as end:
        runpy.run_path(str(file), run_name="__main__")
    return end.value.code, printed.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if number % 2 else [])
        for number, name in enumerate(BROKEN)
    ],
)
def test_broken_exports_are_reported_and_shown(
    name: str, case: Callable[[str], Case], tmp_path: pathlib.Path
) -> None:
    body, plant, what = BROKEN[name]
    sound = case(f"torch.manual_seed(0)\n{body}")
    paths = select_paths(["nonstrict:*"])
    with plant():
        findings = judge(sound, paths, ["structure"]).findings
    assert [finding.signature for finding in findings] == [("structure", "mismatch", *what)]
    assert len(findings[0].message.splitlines()) <= 10
    file = tmp_path / "repro.py"
    file.write_text(repro_source(findings[0], sound.source))
    with plant():
        code, printed = run(file)
    assert code == 1 and re.fullmatch(r"BUG: .+\n", printed)
    code, printed = run(file)
    assert code == 0 and re.fullmatch(r"ok: .+\n", printed)
    assert judge(sound, paths).findings == ()


# --- one cause, one finding ---

NESTED_FLAG = """
class Inner(nn.Module):
    def forward(self, x, flag):
        return x + 1 if flag else x * 10

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, flag):
        return self.inner(x, flag)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x, True), False)
"""


def test_a_wrong_value_is_told_first_and_the_graph_below_it(case: Callable[[str], Case]) -> None:
    (finding,) = judge(case(NESTED_FLAG), select_paths(["nonstrict:*"])).findings
    assert finding.check == "outputs"
    assert isinstance(finding.consequences[0].evidence, StepDiffers)


def test_a_wrong_graph_explains_a_wrong_value(case: Callable[[str], Case]) -> None:
    sound = case(f"torch.manual_seed(0)\n{LAYERS}")
    exchanged = after_export(lambda program: exchange_modules(program.graph))
    with exchanged, after_unflatten(change_constant):
        verdict = judge(sound, select_paths(["nonstrict:*"]))
    assert [(finding.check, str(finding.path)) for finding in verdict.findings] == [
        ("outputs", "nonstrict:unflatten@cpu")
    ]
    assert [each.check for each in verdict.findings[0].consequences[:2]] == ["structure", "structure"]
