"""What transforms do, and that they find nothing where there is nothing to find."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from unittest import mock

import pytest
import torch
from torch import nn
from torch.export.unflatten import InterpreterModuleDispatcher

from exportdiff.core.case import Case
from exportdiff.judging.exemptions.limits.replacing import SELECTS
from exportdiff.judging.verdict import judge
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.paths import Path, all_paths, parse
from exportdiff.runtime.paths.run.model_calls import run_calls
from exportdiff.runtime.paths.transforms import TRANSFORMS
from support.of_this_torch import held, only_on_the_pinned_torch

VIEWS = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("whole", torch.ones(3))
        self.part = self.whole[:2]

    def forward(self, x):
        return x + self.whole

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)
"""
TWICE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.other = nn.ReLU()

    def forward(self, x):
        return self.other(self.layer(self.layer(x)))
"""
NAMES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3))
        self.second = self.first

    def forward(self, x):
        return self.second(self.first(x))
"""
CLEARED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.ones(1))

    def forward(self, x):
        with torch.no_grad():
            self.count.add_(1)
        return x + 1
"""


def preserved(model: nn.Module, name: str) -> tuple[str, ...]:
    names: tuple[str, ...] = TRANSFORMS[name].function(model)["preserve_module_call_signature"]
    return names


def test_calls_by_each_name_of_a_module_are_preserved(case: Callable[[str], Case]) -> None:
    model = case(NAMES).build().model
    assert preserved(model, "preserve") == ("first", "first.0", "second", "second.0")
    assert preserved(model, "preserve_leaves") == ("first.0",)


@pytest.mark.parametrize("body", [VIEWS, TWICE, NAMES])
@pytest.mark.parametrize("name", ["swap", "swap_leaves", "swap_one"])
def test_swapped_models_share_what_eager_shares(case: Callable[[str], Case], body: str, name: str) -> None:
    verdict = judge(case(body), [parse(f"nonstrict+preserve+{name}:unflatten")])
    assert verdict.valid and verdict.findings == ()
    assert [result.status for result in verdict.paths] == ["ok"]


def test_the_calls_behind_a_dispatcher_get_the_state_as_well(case: Callable[[str], Case]) -> None:
    model = case(TWICE).build().model
    x = torch.ones(2, 3)
    kept = TRANSFORMS["preserve"].function(model)
    unflattened = torch.export.unflatten(torch.export.export(model, (x,), **kept))
    fresh = case(TWICE).build().model
    swapped = TRANSFORMS["swap_one"].function(unflattened, fresh)
    assert swapped.other is fresh.other and swapped.layer is not fresh.layer
    torch.testing.assert_close(swapped(x), fresh(x), rtol=0, atol=0)


def test_what_runs_without_a_signature_is_not_swapped() -> None:
    """What it takes is not what the original takes."""
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    for kept, swapped in ((("0",), [True, False]), (("0", "1"), [True, True])):
        program = torch.export.export(model, (torch.ones(2),), preserve_module_call_signature=kept)
        made = TRANSFORMS["swap"].function(torch.export.unflatten(program), model)
        assert [made.get_submodule(name) is child for name, child in model.named_children()] == swapped


def test_a_tensor_in_a_list_follows_the_state_it_shares() -> None:
    """The exported model has a name of its own for it."""

    class Original(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.held = [torch.zeros(5)[1:]]
            self.register_buffer("part", self.held[0][1:3])

    unflattened, fresh = nn.Module(), Original()
    unflattened.lifted_tensor_0, unflattened.lifted_tensor_1 = torch.ones(4), torch.ones(2)
    unflattened.register_buffer("part", unflattened.lifted_tensor_0[1:3])
    swapped = TRANSFORMS["swap"].function(unflattened, fresh)
    fresh.held[0].copy_(torch.tensor([3.0, 4, 5, 6]))
    assert swapped.part is fresh.part
    assert swapped.lifted_tensor_0.tolist() == [3, 4, 5, 6]
    assert swapped.lifted_tensor_1.tolist() == [1, 1]  # shares memory with nothing


def test_a_slice_goes_with_the_container_that_is_swapped(case: Callable[[str], Case]) -> None:
    """With a module under two names, slices have names of their own."""
    sliced = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.other = nn.Tanh()
        self.seq = nn.Sequential(nn.ReLU(), self.other)

    def forward(self, x):
        return self.seq[:1](self.seq(self.other(x)))
"""
    verdict = judge(case(sliced), [parse("nonstrict+preserve+swap:unflatten")])
    assert verdict.findings == ()
    assert verdict.paths[0].excused == ("slices-have-names-of-their-own",)


RETURNS_ITS_STATE = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3))

    def forward(self, x):
        return self.mean

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return x + 1, self.child(x)
"""
RETURNS_ITS_CONSTANT = RETURNS_ITS_STATE.replace(
    'self.register_buffer("mean", torch.ones(3))', "self.mean = torch.ones(3)"
).replace("x + 1, self.child(x)", "x + 1 if self.child(x) is self.child.mean else x")
GIVEN_ITS_CONSTANT = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = torch.zeros(2, 3)

    def forward(self, x, total):
        total.add_(x)
        return self.total

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, self.child.total).neg_()
"""


COPIED = """
import copy

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.again = copy.copy(self.layer)

    def forward(self, x):
        return self.again(x)
"""


GIVEN_ITS_STATE = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3))

    def forward(self, x, y):
        self.mean.add_(1)
        return x + y

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, self.child.mean)
"""


GIVEN_ONE_TENSOR_TWICE = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, y):
        self.calls.add_(1)
        return x, y

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x, x)[0] + 1
"""


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (GIVEN_ONE_TENSOR_TWICE, "children"),
        (RETURNS_ITS_STATE, "children"),
        (RETURNS_ITS_CONSTANT, "children"),
        (GIVEN_ITS_STATE, "children"),
        (GIVEN_ITS_CONSTANT, "children"),
        (COPIED, "functional"),
    ],
)
def test_each_call_works_on_the_state_of_the_module(
    case: Callable[[str], Case], body: str, name: str
) -> None:
    """A child may return its buffer, and be given it; a shallow copy has one place for its state."""
    verdict = judge(case(body), [parse(f"nonstrict+preserve+{name}:unflatten")])
    assert verdict.findings == ()
    assert [result.status for result in verdict.paths] == ["ok"]


def test_converting_a_layer_that_reads_its_weights_updates_no_state(case: Callable[[str], Case]) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.utils.parametrizations.spectral_norm(nn.GRU(3, 3), "weight_ih_l0")

    def forward(self, x):
        return x + self.layer.bias_ih_l0[:3]
"""
    verdict = judge(case(body), [parse("nonstrict+converted:unflatten")], ["state"])
    assert verdict.findings == () and verdict.paths[0].status == "ok"


def test_converting_a_buffer_converts_a_plain_attribute_that_is_the_same_tensor(
    case: Callable[[str], Case],
) -> None:
    body = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(3.0))
        self.same = self.scale

    def forward(self, x):
        return x * self.same
"""
    verdict = judge(case(body), [parse("nonstrict+converted:module")], ["outputs"])
    assert verdict.findings == () and verdict.paths[0].status == "ok"


def test_a_graph_without_guards_gets_no_calls_that_it_does_not_promise(case: Callable[[str], Case]) -> None:
    """A recurrent kernel that gets a batch of another size than its hidden state writes beyond its memory."""
    body = "class Model(nn.Module):\n    def forward(self, x):\n        return x + 1"
    with mock.patch("exportdiff.runtime.paths.run.exported.run_calls", wraps=run_calls) as made:
        judge(case(body), [parse("nonstrict:module"), parse("nonstrict+lifted:module")])
    assert [bool(call.args[2].deviations) for call in made.call_args_list] == [True, False]


def test_what_ep_module_refuses_does_not_concern_the_graph_alone(case: Callable[[str], Case]) -> None:
    body = "class Model(nn.Module):\n    def forward(self, x):\n        return x + 1"
    refused = mock.patch.object(torch.export.ExportedProgram, "module", side_effect=ValueError("a name"))
    with refused:
        verdict = judge(case(body), [parse("nonstrict:module"), parse("strict+lifted:module")], ["outputs"])
    assert [each.status for each in verdict.paths] == ["finding", "ok"]


ASSIGNED = """
class Child(nn.Module):
    def forward(self, x):
        return x + self.scaled

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.child.scaled = torch.zeros(2, 3)
        self.factor = 10

    def forward(self, x):
        BODY
        return self.child(x)
"""


def test_a_replacement_is_not_given_what_the_parent_assigns(case: Callable[[str], Case]) -> None:
    path = parse("nonstrict+preserve+swap:unflatten")
    verdict = judge(case(ASSIGNED.replace("BODY", "self.child.scaled = x")), [path])
    assert verdict.findings == ()
    assert "replacements-are-assigned-nothing" in verdict.paths[0].excused


def test_what_is_assigned_to_a_module_that_stays_excuses_nothing(case: Callable[[str], Case]) -> None:
    """One of two children is replaced; the parent assigns to the other."""
    body = ASSIGNED.replace("BODY", "self.child.scaled = x").replace(
        "self.factor = 10", "self.layer = nn.Linear(3, 3)"
    )
    paths = [parse(f"nonstrict+preserve+{name}:unflatten") for name in ("swap_one", "swap")]
    one, both = judge(case(body), paths).paths
    assert "replacements-are-assigned-nothing" not in one.excused
    assert "replacements-are-assigned-nothing" in both.excused


@pytest.mark.parametrize(
    ("body", "excused"),
    [
        ("y = self.drop.eval()(x)\n        self.drop.train()\n        return y", True),
        ("with parametrize.cached():\n            return self.drop(x)", True),
        ("return self.drop(x)", False),
    ],
)
def test_a_replacement_is_not_told_what_the_parent_sets(
    case: Callable[[str], Case], body: str, excused: bool
) -> None:
    model = f"""
from torch.nn.utils import parametrize

class Drop(nn.Module):
    def forward(self, x):
        return x * (parametrize._cache_enabled + 1) if self.training else x - 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = Drop()

    def forward(self, x):
        {body}
"""
    watched = [parse(f"nonstrict+preserve+{name}:unflatten") for name in ("swap", "swap_leaves")]
    verdict = judge(case(model), watched)
    assert verdict.findings == ()
    assert all(("replacements-are-told-nothing" in path.excused) is excused for path in verdict.paths)


def test_a_child_that_runs_on_its_own_is_not_given_it_either(case: Callable[[str], Case]) -> None:
    path = parse("nonstrict+preserve+children:unflatten")
    verdict = judge(case(ASSIGNED.replace("BODY", "self.child.scaled = x")), [path])
    assert verdict.findings == ()
    assert verdict.paths[0].excused == ("replacements-are-assigned-nothing",)


def test_calls_in_a_graph_module_are_not_preserved() -> None:
    class Tracer(torch.fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return True

    class Child(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
            return (y * 2,)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Child()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.child(x + 1, y=x)[0]
            return result + 1

    def make(*, graph: bool) -> tuple[nn.Module, tuple[torch.Tensor]]:
        model = Model()
        return torch.fx.GraphModule(model, Tracer().trace(model)) if graph else model, (torch.ones(2),)

    for name, graph in itertools.product(("swap", "children"), (True, False)):
        built = Case("", "", partial(make, graph=graph))
        with applied(held()):  # a known bug hides what children of a graph module return
            (path,) = judge(built, [parse(f"nonstrict+preserve+{name}:unflatten")]).paths
        # What has no signature is not swapped.
        excused = graph and name == "children"
        assert path.excused == (("graph-modules-preserve-no-calls",) if excused else ())


@only_on_the_pinned_torch
@pytest.mark.parametrize(("second", "excused"), [("x * 2", True), ("3", False)])
def test_an_unread_result_of_a_child_may_be_none(
    case: Callable[[str], Case], second: str, excused: bool
) -> None:
    pair = f"""
class Child(nn.Module):
    def forward(self, x):
        return x + 1, {second}

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)[0]
"""
    verdict = judge(case(pair), [parse("nonstrict+preserve+children:unflatten")])
    assert bool(verdict.findings) is not excused  # corpora/open/unflatten_returns_none_for_a_number.py
    assert verdict.paths[0].excused == (("unread-results-are-none",) if excused else ())


@pytest.mark.parametrize("body", [VIEWS, TWICE, NAMES, ASSIGNED.replace("BODY", "")])
@pytest.mark.parametrize("name", SELECTS)
def test_the_limit_knows_what_a_transform_replaces(case: Callable[[str], Case], body: str, name: str) -> None:
    build, x = case(body).build, torch.ones(2, 3)
    model, fresh = build().model, build().model
    kept = TRANSFORMS["preserve"].function(model)
    unflattened = torch.export.unflatten(torch.export.export(model, (x,), **kept))
    swapped = TRANSFORMS[name].function(unflattened, fresh)
    originals = dict(fresh.named_modules())
    first = {
        name: next(one for one, module in originals.items() if module is here)
        for name, here in fresh.named_modules(remove_duplicate=False)
    }
    held = set(swapped.modules())
    replaced = {name for name, module in originals.items() if name and module in held}
    roots = SELECTS[name](first)
    assert replaced == {
        one for name, one in first.items() if any(f"{name}.".startswith(f"{root}.") for root in roots)
    }


def test_an_argument_too_many_is_a_finding_where_nothing_is_assigned(case: Callable[[str], Case]) -> None:
    """The constant of a child with two names is passed as an argument."""
    named_twice = ASSIGNED.replace("BODY", "x = self.other(x)").replace(
        "self.factor = 10", "self.other = self.child"
    )
    verdict = judge(case(named_twice), [parse("nonstrict+preserve+swap:unflatten")])
    assert [finding.kind for finding in verdict.findings] == ["crash"]


def test_what_unflatten_clears_away_is_there_for_the_next_path(case: Callable[[str], Case]) -> None:
    paths = ["nonstrict:unflatten", "nonstrict+retie:module"]
    verdict = judge(case(CLEARED), [parse(path) for path in paths])
    assert {str(finding.path) for finding in verdict.findings} == {"nonstrict:unflatten@cpu"}
    assert [result.status for result in verdict.paths] == ["finding", "ok"]


class Cache(nn.Module):
    """Keeps its input, in place or in a new tensor."""

    kept: torch.Tensor

    def __init__(self, *, in_place: bool) -> None:
        super().__init__()
        self.in_place = in_place
        self.register_buffer("kept", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.in_place:
            self.kept.copy_(x)
        else:
            self.kept = x + 0
        return x


@pytest.mark.parametrize("in_place", [True, False])
def test_a_child_with_state_gets_the_state_of_eager(in_place: bool) -> None:
    """What it computes is in a region of its caller."""
    emptied = nn.Module()
    emptied.register_buffer("kept", torch.zeros(2))
    unflattened = nn.Sequential(emptied)
    TRANSFORMS["children"].function(unflattened, nn.Sequential(Cache(in_place=in_place)))(torch.ones(2))
    assert unflattened.get_buffer("0.kept").tolist() == [1, 1]


ARGUMENTS = """
class Leaf(nn.Module):
    def forward(self, x, twice):
        return x * 2 if twice else x + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()
        self.other = nn.Linear(3, 3)

    def forward(self, pair, flag, *, scale):
        return {"a": self.leaf(self.leaf(pair[0], True), False) * scale, "b": self.other(pair[1])}
"""
GIVEN = "((torch.ones(2, 3), torch.zeros(2, 3)), True), {'scale': torch.full((3,), 0.5)}"
OFFERED = [path for path in all_paths() if {"described", "adapted", "generated"} & {*path.transforms}]


@pytest.mark.parametrize("path", OFFERED, ids=str)
def test_what_unflattened_models_offer_changes_nothing(
    case: Callable[[str, str], Case], path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    verdict = judge(case(ARGUMENTS, GIVEN), [path])
    assert verdict.valid and verdict.findings == ()
    assert [result.status for result in verdict.paths] == ["ok"]
    assert "TreeSpec" not in capfd.readouterr().out


def test_generated_code_runs_in_the_calls_behind_a_dispatcher(case: Callable[[str, str], Case]) -> None:
    built = case(ARGUMENTS, GIVEN).build()
    model = built.model
    kept = TRANSFORMS["preserve"].function(model)
    unflattened = torch.export.unflatten(torch.export.export(model, built.args, built.kwargs, **kept))
    assert isinstance(unflattened.leaf, InterpreterModuleDispatcher)
    TRANSFORMS["generated"].function(unflattened)
    with mock.patch.object(torch.fx.Interpreter, "run", side_effect=AssertionError("the interpreter ran")):
        unflattened(*built.args, **built.kwargs)


def test_a_preserved_module_may_read_a_size_that_its_caller_has_read(case: Callable[[str], Case]) -> None:
    sizes = """
class Leaf(nn.Module):
    def forward(self, x):
        return x * x.shape[0]

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, x):
        return self.leaf(x) * x.shape[0]
"""
    verdict = judge(case(sizes), [parse("nonstrict+dynamic+preserve:unflatten")])
    assert verdict.findings == () and verdict.paths[0].status == "ok"


# --- after lowering ---

SHARED_NORM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm1d(3)
        self.second = self.first

    def forward(self, x):
        return self.second(self.first(x))
"""
TWO_NORMS = SHARED_NORM.replace("= self.first", "= nn.BatchNorm1d(3)\n        self.eval()")
DOUBLE_NORM = SHARED_NORM.replace("nn.BatchNorm1d(3)", "nn.BatchNorm1d(3, dtype=torch.float64)")
UNREAD = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("unread", torch.ones(3))

    def forward(self, x):
        return x + 1
"""


EXTRA_STATE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def get_extra_state(self):
        return {"version": 3}

    def set_extra_state(self, state):
        assert state == {"version": 3}

    def forward(self, x):
        return x * self.scale
"""


def outcomes(case: Case, *paths: str) -> list[str]:
    return [each.outcome for each in judge(case, [parse(path) for path in paths]).paths]


@only_on_the_pinned_torch
@pytest.mark.parametrize("runner", ["module", "unflatten"])
def test_a_cast_makes_two_of_one_module(case: Callable[[str], Case], runner: str) -> None:
    (finding,) = judge(case(SHARED_NORM), [parse(f"nonstrict+cast:{runner}")]).findings
    assert finding.signature == ("sharing", "mismatch", "one-tensor-became-several", "buffer")


@pytest.mark.parametrize("body", [TWO_NORMS, VIEWS, NAMES, TWICE])
def test_a_cast_of_other_models_changes_nothing(case: Callable[[str], Case], body: str) -> None:
    paths = ["nonstrict:module", "nonstrict:unflatten", "nonstrict+preserve:unflatten"]
    with_cast = [path.replace(":", "+cast:") for path in paths]
    assert outcomes(case(body), *with_cast) == outcomes(case(body), *paths)


def test_a_cast_that_would_not_be_undone_is_not_made(case: Callable[[str], Case]) -> None:
    model = case(DOUBLE_NORM).build().model
    before = [id(t) for t in model.buffers()]
    TRANSFORMS["cast"].function(model)
    assert [id(t) for t in model.buffers()] == before


@only_on_the_pinned_torch
def test_checkpoints_of_eager_do_not_load_after_strict_export(case: Callable[[str], Case]) -> None:
    paths = ["nonstrict+load_strictly:module", "nonstrict+load_back:module", "strict+load_back:unflatten"]
    assert outcomes(case(UNREAD), *paths, "strict+load_strictly:module") == ["agrees"] * 2 + ["differs"] * 2
    assert outcomes(case(TWICE), *paths, "strict+load_strictly:module") == ["agrees"] * 4


def test_extra_state_stays_with_the_model(case: Callable[[str], Case]) -> None:
    transforms = ("retie", "cast", "functional", "load_strictly", "load_back")
    paths = [f"nonstrict+{name}:module" for name in transforms]
    assert outcomes(case(EXTRA_STATE), *paths) == ["agrees"] * 5


@only_on_the_pinned_torch
def test_a_program_cannot_be_copied_once_it_was_unflattened(case: Callable[[str], Case]) -> None:
    paths = ["deepcopy:module", "unflatten_first:module", "unflatten_first+reload:module"]
    model = case(TWICE)
    assert outcomes(model, *(f"nonstrict+{path}" for path in paths)) == ["agrees"] * 3
    (finding,) = judge(model, [parse("nonstrict+unflatten_first+deepcopy:module")]).findings
    assert (finding.kind, finding.stage) == ("crash", "lower")


def test_parameters_and_buffers_become_parts_of_one_vector() -> None:
    model = nn.BatchNorm1d(3)
    model.register_buffer("turned", torch.ones(2, 3).t())
    TRANSFORMS["vector"].function(model)
    first, second = model.get_buffer("running_mean"), model.get_buffer("running_var")
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
    assert first.storage_offset() != second.storage_offset()
    assert first.tolist() == [0.0] * 3 and second.tolist() == [1.0] * 3
    assert model.weight.untyped_storage().data_ptr() == model.bias.untyped_storage().data_ptr()
    assert model.get_buffer("turned").stride() == (1, 3)
