"""What is read off a graph and off a run of eager: live steps, writes, calls of submodules."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from exportdiff.runtime.observing.arguments import Inputs
from exportdiff.runtime.observing.graphs import Hierarchy, Listing, Operand, Step
from exportdiff.runtime.observing.process_state import functorch_level
from exportdiff.runtime.paths.read import normal_forms
from exportdiff.runtime.paths.read.hierarchy import CallRecorder
from exportdiff.runtime.paths.read.listing import Reader, base_name
from exportdiff.runtime.paths.read.normal_forms import (
    memory_of,
    names_of_copies,
    with_in_place_results_replaced,
    with_writes_last,
    without_idle_steps,
)
from exportdiff.runtime.paths.read.predictions import predictions
from exportdiff.runtime.paths.read.program import read_exported
from exportdiff.runtime.paths.stopwatch import Stopwatch
from support.structure_cases import listing, step


def live(*steps: Step, returns: Operand = 0) -> list[str]:
    return [each.operator for each in normal_forms.live(listing(*steps, returns=returns)).steps]


def test_what_nobody_reads_is_not_live() -> None:
    assert live(step("used", "input 0"), step("unused", 0), step("also", 1)) == ["used"]
    assert live(step("used"), step("draws", impure=True), step("unused", 1)) == ["used", "draws"]


def test_the_rest_gets_new_numbers() -> None:
    kept = normal_forms.live(listing(step("unused"), step("one"), step("two", 1), returns=2))
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
    settled = with_in_place_results_replaced(listing(write, again, step("read", 1), returns=2))
    assert [each.operands for each in settled.steps] == [("a.w",), ("a.w",), ("a.w",)]
    assert settled.returns.operands == (2,)
    view = step("aten.view.default", "a.w", shares=("a.w",))
    assert with_in_place_results_replaced(listing(view, returns=0)).returns.operands == (0,)


class Set(nn.Module):
    given: Any  # the stubs of set_ take storages alone

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("given", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = self.given.set_(x + 1) * 2
        return product


def test_set_returns_its_operand_in_new_memory() -> None:
    ep = torch.export.export(Set(), (torch.ones(1),), strict=False)
    listing = Reader(stacks=True).read(ep.graph_module, ep.graph, ["given", "x"])
    add, set_, product = with_in_place_results_replaced(listing).steps
    assert (set_.operator, set_.operands, set_.writes) == (
        "aten.set_.source_Tensor",
        ("given", 0),
        ("given",),
    )
    assert product.operands == ("given",)
    memory = memory_of(listing)
    assert add.operator == "aten.add.Tensor" and memory["given"] == memory[0] == memory[1]


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


def test_what_is_written_back_is_written_at_the_end() -> None:
    """An output that is also written back is what was written to; others go on reading the value."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output((x, x, graph.call_function(torch.ops.aten.relu.default, (x,)), x))
    seen = Reader(stacks=False).read(nn.Module(), graph, ["input 0"], ["w", "v"])
    assert [(each.operator, each.operands) for each in seen.steps] == [
        ("aten.relu.default", ("input 0",)),
        ("aten.copy_.default", ("w", "input 0")),
        ("aten.copy_.default", ("v", "input 0")),
    ]
    assert seen.returns.operands == (0, "w")


def test_what_reads_after_a_write_reads_what_was_written() -> None:
    """So two listings are equal wherever the write is; what reads too late is not."""
    new, old = step("new", "input 0"), step("old", "w")
    write = step("aten.copy_.default", "w", 0, writes=("w",), shares=("w",))

    def last(*steps: Step) -> list[tuple[str, tuple[Operand, ...]]]:
        moved = with_writes_last(listing(*steps, returns=1), ["v", "w"], {"also w": "w"})
        return [(each.operator, each.operands) for each in (*moved.steps, moved.returns)]

    early = last(new, write, step("read", "also w"))
    assert early == [
        ("new", ("input 0",)),
        ("read", (0,)),
        ("aten.copy_.default", ("w", 0)),
        ("return", ("w",)),
    ]
    assert early[:-1] == last(new, step("read", 0), write)[:-1]
    other = step("aten.copy_.default", "w", "input 1", writes=("w",), shares=("w",))
    assert early[:-1] == last(new, write, step("read", "w"), other, write)[:-1]
    assert last(new, old, write)[:-1] == [
        ("new", ("input 0",)),
        ("old", ("w",)),
        ("aten.copy_.default", ("w", 0)),
    ]


def test_a_copy_into_an_early_write_is_a_step() -> None:
    """Exported, it changes the new value; here, the place that has the new value already."""
    write = step("aten.copy_.default", "w", 0, writes=("w",), shares=("w",))
    own = write._replace(operands=(0, "input 1"), writes=(0,), shares=(0,), name="copy_")
    exported = listing(step("new", "input 0"), own, write, returns=1)
    early = own._replace(operands=("w", "input 1"), writes=("w",), shares=("w",))
    rebuilt = listing(step("new", "input 0"), write, early, write._replace(operands=("w", "w")), returns=2)
    kept = names_of_copies(exported)[:-1]
    assert kept == ("copy_",)
    ours, theirs = (
        with_in_place_results_replaced(normal_forms.live(with_writes_last(each, ["w"], {}, kept)))
        for each in (exported, rebuilt)
    )
    assert ours.text == theirs.text
    # Into what was not written to, it is the last thing written there.
    assert early not in with_writes_last(listing(early, returns="w"), ["w"], {}, kept).steps


def moved(each: Listing) -> Listing:
    return with_in_place_results_replaced(with_writes_last(each, ["w"], {}))


def test_a_copy_of_a_tensor_to_itself_is_left_out() -> None:
    """Where two names of one tensor are two tensors, what is written to one is copied to the other."""
    write = step("aten.copy_.default", "w", 0, writes=("w",), shares=("w",))
    add = step("add_.Tensor", 0, writes=(0,), shares=(0,), name="add_")
    exported = listing(step("new", "input 0"), add, add, step("read", 0), write, returns=3)
    renew = step("aten.copy_.default", 0, "w", writes=(0,), shares=(0,))
    steps = (step("new", "input 0"), write, add, write._replace(operands=("w", 2)), add)
    last = write._replace(operands=("w", 4))
    rebuilt = listing(*steps, last, renew, step("read", 0), write, returns=7)
    ours, theirs = map(moved, (exported, rebuilt))
    assert ours.text == theirs.text
    other = listing(*steps, renew._replace(operands=(0, "input 1")), step("read", 0), write, returns=6)
    assert moved(other).text != ours.text
    assert renew in with_writes_last(listing(step("new"), renew, returns=0), ["v"], {}).steps
    itself = listing(step("new"), renew._replace(operands=(0, 0), name="copy_"), returns=0)
    assert len(with_writes_last(itself, ["w"], {}, ["copy_"]).steps) == 2


class CopiesLast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2))
        self.total: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.clone().copy_(self.total)
        self.total.copy_(x)
        return y


def test_a_buffer_that_the_graph_copies_to_last_is_written_back() -> None:
    """A program that is not functional writes back to assigned buffers by copy_."""
    program = torch.export.export(CopiesLast(), (torch.ones(2),))
    assert read_exported(program).written == ("total",)
    assert read_exported(program.run_decompositions()).written == ("total",)


def test_a_buffer_that_is_detached_behind_the_copy_is_written_back() -> None:
    program = torch.export.export(CopiesLast(), (torch.ones(2),))
    placeholder, *_, output = program.graph.nodes
    with program.graph.inserting_before(output):
        program.graph.call_function(torch.ops.aten.detach_.default, (placeholder,))
    assert read_exported(program).written == ("total",)


class CopiesDetached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last: torch.Tensor
        self.register_buffer("last", torch.zeros(2))
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * self.w
        self.last.copy_(y.detach())
        return y


def test_what_was_copied_to_a_buffer_detached_is_not_the_buffer() -> None:
    """The detached tensor is another node, and only that one is taken for the buffer."""
    program = torch.export.export(CopiesDetached(), (torch.ones(2),)).run_decompositions()
    listing = read_exported(program).listing
    assert listing is not None
    product, alias, copy = (each.operator for each in listing.steps)
    assert (product, alias, copy) == ("aten.mul.Tensor", "aten.alias.default", "aten.copy_.default")
    assert listing.returns.operands == (0,)


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Tanh(), nn.ReLU(), nn.Sigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.a(x)
            with torch.autocast("cpu", dtype=torch.float16):
                x = self.b(x)
            y: torch.Tensor = self.c(x)
            return y


def test_the_calls_in_a_region_come_in_the_order_of_its_graph() -> None:
    ep = torch.export.export(Nested(), (torch.ones(1),), strict=False)
    listing = Reader(stacks=True).read(ep.graph_module, ep.graph, ["x"])
    inside = [frames[-1].module for step in listing.steps for frames in step.inside]
    assert inside == ["a", "b", "b", "c"]  # the result of the inner region is filed under b as well


class Casts(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.float().contiguous() + x.double() + x.t().contiguous() + x.to(torch.float32, copy=True)


def test_a_cast_that_has_nothing_to_do_is_its_operand() -> None:
    program = torch.export.export(Casts(), (torch.ones(2, 2).tril(),))
    seen = without_idle_steps(Reader(stacks=False).read(program.graph_module, program.graph))
    casts = [
        each.operands for each in seen.steps if each.operator.startswith(("aten.to.", "aten.contiguous"))
    ]
    assert len(casts) == 3
    (first,) = [each for each in seen.steps if each.operator.startswith("aten.add")][:1]
    assert first.operands[0] == "input 0"


class HasNothingToDo(nn.Module):
    def forward(self, x: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        aliased: torch.Tensor = torch.ops.aten.alias(row)
        return row.flatten() + x.flatten(1) + x.flatten()[:2] + x.real + aliased


def test_an_operator_that_returns_its_operand_is_its_operand() -> None:
    """A later reading of a tensor may be recorded as one of what such an operator has returned."""
    program = torch.export.export(HasNothingToDo(), (torch.ones(2, 2), torch.ones(2)))
    seen = normal_forms.live(
        without_idle_steps(Reader(stacks=False).read(program.graph_module, program.graph))
    )
    sums = [each for each in seen.steps if each.operator == "aten.add.Tensor"]
    assert sums[0].operands == ("input 1", "input 0")
    assert sums[2].operands[1] == "input 0"
    assert sums[3].operands[1] == "input 1"
    assert [each.operator for each in seen.steps if "flatten" in each.operator] == ["aten.flatten.using_ints"]


class CastsRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        doubled: torch.Tensor = torch.vmap(lambda row: row.float() * 2)(x)
        return doubled


def test_a_cast_in_vmap_is_read_though_its_tensors_give_no_storage() -> None:
    program = torch.export.export(CastsRows(), (torch.ones(2, 2),))
    seen = without_idle_steps(Reader(stacks=False).read(program.graph_module, program.graph))
    (product,) = [each for each in seen.steps if each.operator.startswith("aten.mul")]
    (row,) = [number for number, each in enumerate(seen.steps) if each.operator == "_add_batch_dim"]
    assert product.operands == (row,)  # the cast has nothing to do


class Indexes(nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        chosen: torch.Tensor = torch.vmap(lambda row: row[i])(x)
        return chosen


def test_a_graph_that_fails_inside_of_vmap_leaves_no_level() -> None:
    x, i = torch.ones(2, 2), torch.tensor([1])
    program = torch.export.export(Indexes(), (x, i))
    seen = predictions(program.module(), program, Inputs((x, i + 1), {}), Stopwatch(), grad=True)
    assert functorch_level() == 0
    assert seen


@pytest.mark.parametrize("name", ["foo.bar.weight", "foo@1.bar.weight", "foo.bar@12.weight"])
def test_a_call_variant_has_the_name_of_its_module(name: str) -> None:
    assert base_name(name) == "foo.bar.weight"
