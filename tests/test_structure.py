"""The structure check: on observations made by hand, on small models, and on broken exports of them."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import runpy
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.export._trace as trace
from evidence_of import limit_name, text
from torch import nn
from torch.export import UnflattenedModule
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from harness.case import Case
from harness.checks.structure.check import structure
from harness.checks.structure.translation import StepDiffers
from harness.faults.registry import wrapped
from harness.findings import Evidence, Relation
from harness.judge.verdict import judge
from harness.observe.graphs import Exported, Frame, Hierarchy, Listing, Operand, Rebuilt, Spec, Step, Visit
from harness.observe.observation import EagerObservation, ExportedObservation, Observation
from harness.observe.tensors import State, snapshot
from harness.path import Path
from harness.paths import Stopwatch, observe_eager, observe_paths, parse, select_paths
from harness.paths.read.hierarchy import CallRecorder
from harness.paths.read.listing import Reader
from harness.paths.read.rebuilt import read_rebuilt
from harness.repro import repro_source

unflattening = sys.modules[UnflattenedModule.__module__]

# --- by hand ---

NAMES = ("", "a", "a.b", "c")
CALL_A, CALL_B, CALL_C = Frame("a", "a"), Frame("a.b", "a.b"), Frame("c", "c")


def step(operator: str, *operands: Operand, frames: tuple[Frame, ...] | None = (), **more: Any) -> Step:
    return Step(operator, f"({', '.join('%' for _ in operands)})", operands, frames, **more)


def listing(*steps: Step, returns: Operand = 0) -> Listing:
    return Listing(steps, step("return", returns))


# The model calls a, which calls a.b, and then c.
EAGER = EagerObservation(
    Path("eager", "model"),
    before=State({"a.w": snapshot(nn.Parameter(torch.ones(2))), "c.t": snapshot(torch.ones(2))}, {}),
    hierarchy=Hierarchy(
        first={name: name for name in NAMES},
        persistent=frozenset({"a.w", "c.t"}),
        visits=(Visit("a", None, False), Visit("a.b", 0, True), Visit("c", None, False)),
    ),
)
STEPS = (
    step("mul", "input 0", "a.w", frames=(CALL_A, CALL_B)),
    step("add", 0, frames=(CALL_A,)),
    step("sub", 1, "c.t", frames=(CALL_C,)),
)
MADE = tuple(
    each._replace(frames=frames)
    for each, frames in zip(
        STEPS,
        ((Frame("a", 0), Frame("a.b", 1)), (Frame("a", 0),), (Frame("c", 2),)),
        strict=True,
    )
)
EXPORTED = Exported(
    listing=listing(*STEPS, returns=2),
    inputs=(
        Spec("PARAMETER", "p_a_w", "a.w", None),
        Spec("BUFFER", "b_c_t", "c.t", True),
        Spec("USER_INPUT", "x", "", None),
    ),
    outputs=(Spec("USER_OUTPUT", "sub", "", None),),
    placeholders=("p_a_w", "b_c_t", "x"),
    returned=("sub",),
    call_graph=NAMES,
    state=frozenset({"a.w", "c.t"}),
    constants=frozenset(),
)
REBUILT = Rebuilt(
    modules=frozenset(NAMES),
    calls=(("a", None), ("a.b", 0), ("c", None)),
    listing=listing(*MADE, returns=2),
)


def seen(exported: Exported = EXPORTED, rebuilt: Rebuilt | None = REBUILT) -> ExportedObservation:
    return ExportedObservation(parse("nonstrict:unflatten@cpu"), exported=exported, rebuilt=rebuilt)


def whats(candidate: Observation, reference: EagerObservation = EAGER) -> list[tuple[str, ...]]:
    return [difference.words() for difference in structure(reference, candidate)]


def test_what_is_as_in_eager_is_no_difference() -> None:
    assert whats(seen()) == []
    assert whats(seen(rebuilt=None)) == []
    assert whats(ExportedObservation(parse("strict:module@cpu"))) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"placeholders": ("b_c_t", "p_a_w", "x")}, ("signature", "inputs")),
        ({"placeholders": ("p_a_w", "x")}, ("signature", "inputs")),
        ({"returned": ("add",)}, ("signature", "outputs")),
        ({"call_graph": ("", "a", "a.b")}, ("names", "module_call_graph")),
        ({"call_graph": ("", "a.b", "a", "c")}, ("names", "module_call_graph")),
        ({"state": frozenset({"a.w", "c.t", "d"})}, ("names", "state_dict")),
        (
            {"inputs": (*EXPORTED.inputs[:1], Spec("BUFFER", "b_c_t", "c.t", False), *EXPORTED.inputs[2:])},
            ("signature", "kind", "buffer"),
        ),
        (
            {"inputs": (Spec("BUFFER", "p_a_w", "a.w", True), *EXPORTED.inputs[1:])},
            ("signature", "kind", "buffer"),
        ),
        (
            {"inputs": (Spec("CONSTANT_TENSOR", "p_a_w", "k", None), *EXPORTED.inputs[1:])},
            ("signature", "target", "constant_tensor"),
        ),
    ],
)
def test_tables_that_disagree(change: dict[str, Any], what: tuple[str, ...]) -> None:
    assert whats(seen(replace(EXPORTED, **change), None)) == [what]


def test_numbers_of_call_variants_are_no_names() -> None:
    assert whats(seen(replace(EXPORTED, call_graph=(*NAMES, "a@1")))) == []


def test_a_returned_constant_has_no_name_in_the_graph() -> None:
    both = (Spec("USER_OUTPUT", "sub", "", None), Spec("USER_OUTPUT", "", "", None))
    assert whats(seen(replace(EXPORTED, outputs=both, returned=("sub", "")))) == []


def refiled(*frames: tuple[Frame, ...] | None) -> Exported:
    steps = (each._replace(frames=where) for each, where in zip(STEPS, frames, strict=True))
    return replace(EXPORTED, listing=listing(*steps, returns=2))


@pytest.mark.parametrize(
    ("frames", "what"),
    [
        # A call may leave no operators, or some that belong nowhere.
        (((CALL_A, CALL_B), (CALL_A,), ()), None),
        (((CALL_A, CALL_B), None, (CALL_C,)), None),
        # But not where one of them is known to compute.
        (((CALL_A,), (CALL_A,), (CALL_C,)), ("calls", "missing")),
        (((CALL_C,), (CALL_A, CALL_B), (CALL_A,)), ("calls", "order")),
        (((CALL_B,), (CALL_A,), (CALL_C,)), ("calls", "order")),
        (((CALL_A, CALL_B), (CALL_A,), (Frame("a", "a@1"),)), ("calls", "order")),
        (((CALL_A, CALL_B), (CALL_A,), (Frame("d", "d"),)), ("calls", "unknown")),
    ],
)
def test_calls_that_the_graph_records(
    frames: tuple[tuple[Frame, ...] | None, ...], what: tuple[str, ...] | None
) -> None:
    assert whats(seen(refiled(*frames), None)) == ([what] if what else [])


def test_a_call_may_be_interrupted_by_operators_of_others() -> None:
    # The order of entering is what counts: passes put operators on sizes where they like.
    torn = refiled((CALL_A, CALL_B), (), (CALL_A,))
    assert whats(seen(torn, None)) == []


def test_calls_in_regions_count_and_those_in_branches_may() -> None:
    frames = (CALL_A, CALL_B)
    region = step("wrap_with_autocast", "input 0", frames=(CALL_A,), inside=(frames,))
    assert whats(seen(replace(EXPORTED, listing=listing(region)), None)) == []
    branch = step("cond", "input 0", frames=(CALL_A,), opaque=True)
    assert whats(seen(replace(EXPORTED, listing=listing(branch)), None)) == []


def test_all_names_of_a_shared_module_are_one() -> None:
    assert EAGER.hierarchy is not None
    shared = {**EAGER.hierarchy.first, "d": "a.b"}
    reference = replace(EAGER, hierarchy=replace(EAGER.hierarchy, first=shared))
    frames = ((CALL_A, Frame("d", "d")), (CALL_A,), (CALL_C,))
    exported = replace(refiled(*frames), call_graph=(*NAMES, "d"))
    assert whats(seen(exported, None), reference) == []


def test_graph_modules_are_traced_like_functions() -> None:
    assert EAGER.hierarchy is not None
    reference = replace(EAGER, hierarchy=replace(EAGER.hierarchy, inlined=frozenset({"a"})))
    assert whats(seen(refiled((CALL_B,), (), (CALL_C,)), None), reference) == []
    assert whats(seen(refiled((CALL_A, CALL_B), (CALL_A,), (CALL_C,)), None), reference) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"cycle": "a.b.a", "listing": None}, ("modules", "cycle")),
        ({"modules": frozenset({"", "a", "c"})}, ("modules", "missing")),
        ({"modules": frozenset((*NAMES, "d"))}, ("modules", "unknown")),
        ({"variants": {"a": (("a", "one"), ("a@1", "other"), ("a@2", "one"))}}, ("variants", "needless")),
        ({"variants": {"a": (("a", "one"), ("a@1", "other"))}}, None),
        ({"broken": "a calls b, which has no graph", "listing": None}, ("graph", "broken")),
        ({"calls": (("a", None), ("a.b", None), ("c", None))}, ("calls", "order")),
    ],
)
def test_modules_that_were_rebuilt(change: dict[str, Any], what: tuple[str, ...] | None) -> None:
    assert whats(seen(rebuilt=replace(REBUILT, **change)))[:1] == ([what] if what else [])


def running(*steps: Step, returns: Operand = 2, **change: Any) -> ExportedObservation:
    return seen(rebuilt=replace(REBUILT, listing=listing(*steps, returns=returns), **change))


@pytest.mark.parametrize(
    ("candidate", "what"),
    [
        (running(*MADE[:2], returns=1), ("missing", "operator")),
        (running(*MADE, step("bump", impure=True)), ("extra", "operator")),
        (running(MADE[0], MADE[1]._replace(operator="sub"), MADE[2]._replace(operator="add")), ("order",)),
        (running(*MADE[:2], MADE[2]._replace(operands=(0, "c.t"))), ("missing", "operator")),
        (running(*MADE[:2], MADE[2]._replace(operands=(1, "a.w"))), ("operands", "buffer", "parameter")),
        (running(*MADE[:2], MADE[2]._replace(arguments="(%, %){alpha=2}")), ("arguments",)),
        (running(*MADE[:2], MADE[2]._replace(frames=())), ("owner",)),
        (running(*MADE[:2], MADE[2]._replace(frames=(Frame("a", 0),))), ("owner",)),
        (running(MADE[0], MADE[1]._replace(frames=(Frame("a", 3),)), MADE[2]), ("call",)),
        (
            running(*MADE[:2], MADE[2]._replace(operands=(1, "a.w")), shared=frozenset({2})),
            ("shared-graph",),
        ),
        # Nobody reads it, and it changes nothing.
        (running(*MADE, step("mul", 0)), None),
    ],
)
def test_steps_that_run(candidate: ExportedObservation, what: tuple[str, ...] | None) -> None:
    assert whats(candidate) == ([("steps", *what)] if what else [])


def test_an_operator_that_holds_graphs_is_told_by_name() -> None:
    region = step("wrap_with_set_grad_enabled", "c.t", writes=("c.t",))
    exported = replace(EXPORTED, listing=listing(*STEPS, region, returns=2))
    assert whats(seen(exported)) == [("steps", "missing", "wrap_with_set_grad_enabled")]


def test_one_tensor_may_be_read_by_any_of_its_names() -> None:
    candidate = running(*MADE[:2], MADE[2]._replace(operands=(1, "d")))
    assert whats(candidate) == [("steps", "operands", "buffer", "buffer")]
    assert candidate.exported is not None
    same = replace(candidate.exported, same=(frozenset({"c.t", "d"}),))
    assert whats(replace(candidate, exported=same)) == []


def test_a_call_of_a_module_elsewhere_is_part_of_the_callers_graph() -> None:
    exported = refiled((CALL_A, CALL_B), (CALL_A, CALL_C), (CALL_C,))
    assert EAGER.hierarchy is not None
    visits = (*EAGER.hierarchy.visits[:2], Visit("c", 0, True), EAGER.hierarchy.visits[2])
    reference = replace(EAGER, hierarchy=replace(EAGER.hierarchy, visits=visits))
    assert whats(seen(exported), reference) == []


def test_each_difference_says_what_and_where() -> None:
    found = list(structure(EAGER, running(*MADE[:2], MADE[2]._replace(operands=(1, "a.w")))))
    assert text(found[0]).splitlines() == [
        "what runs is not what was exported: something else is read",
        "step 2, exported: sub(step 1, c.t) in c",
        "step 2, here: sub(step 1, a.w) in c",
    ]
    assert found[0].stage == "lower" and found[0].relation is Relation.POSSIBLE_CAUSE


def test_names_of_slices_are_a_documented_limit() -> None:
    def excuse(name: str) -> str:
        candidate = seen(refiled((CALL_A, CALL_B), (CALL_A,), (Frame(name, name),)), None)
        (found,) = structure(EAGER, candidate)
        return limit_name(found, EAGER, candidate)

    assert excuse("seq.slice(None, 1, None).0") == "slices-have-names-of-their-own"
    assert excuse("seq.none") == ""


# --- what is live ---


def live(*steps: Step, returns: Operand = 0) -> list[str]:
    return [each.operator for each in listing(*steps, returns=returns).live().steps]


def test_what_nobody_reads_is_not_live() -> None:
    assert live(step("used", "input 0"), step("unused", 0), step("also", 1)) == ["used"]
    assert live(step("used"), step("draws", impure=True), step("unused", 1)) == ["used", "draws"]


def test_the_rest_is_counted_anew() -> None:
    kept = listing(step("unused"), step("one"), step("two", 1), returns=2).live()
    assert [each.operands for each in kept.steps] == [(), (0,)] and kept.returns.operands == (1,)


def test_a_write_is_live_where_something_read_may_show_it() -> None:
    made = step("made", "input 0")
    view = step("view", 0, shares=(0,))
    write = step("write_", 1, writes=(1,), shares=(1,))
    assert live(made, view, write, returns=0) == ["made", "view", "write_"]
    assert live(made, view, write, returns="input 1") == []
    # What a tensor is a copy of does not show what becomes of the copy; what is made of it later does.
    assert live(made, write._replace(operands=(0,), writes=(0,), shares=()), step("read", 0), returns=2) == [
        "made",
        "write_",
        "read",
    ]


def test_a_write_to_what_outlives_the_call_is_live() -> None:
    assert live(step("made"), step("write_", "input 0", writes=("input 0",))) == ["made", "write_"]
    view = step("view", "a.w", shares=("a.w",))
    assert live(step("made"), view, step("write_", 1, writes=(1,))) == ["made", "view", "write_"]


def test_the_result_of_a_write_in_place_is_what_was_written_to() -> None:
    write = step("aten.add_.Tensor", "a.w", writes=("a.w",), shares=("a.w",))
    again = write._replace(operands=(0,), writes=(0,), shares=(0,))
    settled = listing(write, again, step("read", 1), returns=2).settled()
    assert [each.operands for each in settled.steps] == [("a.w",), ("a.w",), ("a.w",)]
    assert settled.returns.operands == (2,)
    view = step("aten.view.default", "a.w", shares=("a.w",))
    assert listing(view, returns=0).settled().returns.operands == (0,)


class Counts(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.count.add_(1)
            y = x + 1
        return y * self.count


def test_what_a_region_wrote_to_is_what_it_returns_of_it() -> None:
    ep = torch.export.export(Counts(), (torch.ones(1),), strict=False)
    region, item, product = Reader(stacks=True).read(ep.graph_module, ep.graph).steps
    assert region.operator == "wrap_with_set_grad_enabled" and region.operands[0] in region.writes
    assert set(product.operands) == {1, *region.writes} and item.operands == (0,)


# --- watching eager ---


class Adds(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Watched(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.nothing = nn.Identity()
        self.adds = Adds()
        self.same = self.adds
        self.unused = nn.ReLU()
        self.seq = nn.Sequential(nn.Tanh())
        self.nothing.register_forward_hook(lambda module, args, out: self.adds(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.unused(x)
        x = self.nothing(self.linear(x))
        out: torch.Tensor = self.seq(self.same(x))
        return out


def recorded(model: nn.Module) -> Hierarchy:
    watched = CallRecorder(model)
    with watched():
        out = model(torch.ones(1, 2))
    watched.finish([out])
    assert watched.hierarchy is not None
    return watched.hierarchy


def test_calls_are_noted_in_order_with_what_happens_in_hooks() -> None:
    original = nn.Module.__call__
    hierarchy = recorded(Watched())
    assert nn.Module.__call__ is original
    assert [(visit.module, visit.within) for visit in hierarchy.visits] == [
        ("unused", None),
        ("linear", None),
        ("nothing", None),
        ("adds", 2),
        ("adds", None),
        ("seq", None),
        ("seq.0", 5),
    ]
    assert [visit.computes for visit in hierarchy.visits] == [False, True, False, True, True, False, True]
    assert list(hierarchy.first.items())[3:5] == [("adds", "adds"), ("same", "adds")]
    assert hierarchy.persistent == {"linear.weight", "linear.bias"}


def test_a_model_that_raises_leaves_nothing_behind() -> None:
    original = nn.Module.__call__
    with pytest.raises(RuntimeError), CallRecorder(model := Watched())():
        model(torch.ones(5))
    assert nn.Module.__call__ is original


# --- small models ---

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


@pytest.mark.parametrize("name", BROKEN)
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


def test_a_graph_that_is_wrong_on_one_path_explains_the_value_on_another(case: Callable[[str], Case]) -> None:
    sound = case(f"torch.manual_seed(0)\n{LAYERS}")
    exchanged = after_export(lambda program: exchange_modules(program.graph))
    with exchanged, after_unflatten(change_constant):
        verdict = judge(sound, select_paths(["nonstrict:*"]))
    assert [(finding.check, str(finding.path)) for finding in verdict.findings] == [
        ("outputs", "nonstrict:unflatten@cpu")
    ]
    assert [each.check for each in verdict.findings[0].consequences[:2]] == ["structure", "structure"]
