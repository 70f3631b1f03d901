"""The laws that the normal forms of listings state, on drawn listings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportdiff.runtime.observing.graphs import Listing, Operand, Step
from exportdiff.runtime.paths.read.normal_forms import (
    computed_once,
    live,
    memory_of,
    with_direct_copies,
    with_in_place_results_replaced,
    with_sizes_inline,
    with_writes_last,
    without_added_clones,
    without_idle_steps,
)

PLACES = ("input 0", "w", "v")
KINDS = ("new", "view", "in place", "copy", "clone", "detach", "idle", "random", "size", "reshape")


def made(kind: str, number: int, first: Operand, second: Operand) -> Step:
    """Return a step of a kind; like operators of torch, a step without side effects shares at most one."""
    both, one, name = "(%, %)", "(%)", f"{kind}_{number}"
    at = (first,)
    match kind:
        case "view":
            return Step("aten.view.default", one, (first,), (), shares=(first,), name=name)
        case "in place":
            return Step("aten.add_.Tensor", both, (first, second), (), writes=at, shares=at, name=name)
        case "copy":
            return Step("aten.copy_.default", both, (first, second), (), writes=at, shares=at, name=name)
        case "clone":
            return Step("aten.clone.default", one, (first,), (), name="clone_default")
        case "detach":
            return Step("aten.detach.default", one, (first,), (), shares=(first,), name=name)
        case "idle":
            return Step("aten.to.dtype", one, (first,), (), shares=(first,), idle=True, name=name)
        case "random":
            return Step("aten.rand_like.default", one, (first,), (), impure=True, name=name)
        case "size":
            return Step("aten.sym_size.int", one, (first,), (), dimension=0, name=name)
        case "reshape":
            return Step("aten.t_.default", one, (first,), (), reshapes=True, writes=at, shares=at, name=name)
    return Step("aten.add.Tensor", both, (first, second), (), name="add_tensor")


@st.composite
def listings(draw: st.DrawFn) -> Listing:
    steps: list[Step] = []
    tensors: list[Operand] = [*PLACES]
    for number, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), max_size=9))):
        first, second = draw(st.sampled_from(tensors)), draw(st.sampled_from(tensors))
        steps.append(made(kind, number, first, second))
        if kind != "size":
            tensors.append(number)
    returned = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=2))
    return Listing(tuple(steps), Step("return", "", tuple(returned), ()), {"w": ("s0", "2")})


FORMS: dict[str, Callable[[Listing], Listing]] = {
    "without idle steps": without_idle_steps,
    "computed once": computed_once,
    "live": live,
    "direct copies": with_direct_copies,
    "in-place results": with_in_place_results_replaced,
    "sizes": with_sizes_inline,
    "writes last": partial(with_writes_last, written=("w", "input 0"), same={}),
}


@pytest.mark.parametrize("name", FORMS)
@given(listing=listings())
def test_a_normal_form_is_its_own(name: str, listing: Listing) -> None:
    once = FORMS[name](listing)
    assert FORMS[name](once) == once


@given(listing=listings(), exported=listings())
def test_leaving_out_clones_is_idempotent_and_keeps_what_was_exported(
    listing: Listing, exported: Listing
) -> None:
    once = without_added_clones(listing, exported)
    assert without_added_clones(once, exported) == once
    assert without_added_clones(exported, exported) == exported


@given(listing=listings())
def test_the_laws(listing: Listing) -> None:
    assert not any(step.idle for step in without_idle_steps(listing).steps)
    assert not any(step.dimension is not None for step in with_sizes_inline(listing).steps)
    replaced = with_in_place_results_replaced(listing)
    in_place = {number for number, step in enumerate(replaced.steps) if step.in_place}
    assert not any(in_place & {*step.operands} for step in (*replaced.steps, replaced.returns))
    names = [step.operands[0] for step in with_writes_last(listing, ("w", "v"), {}).steps[-2:]]
    copies = [each for each in listing.steps if each.operator == "aten.copy_.default"]
    if {"w", "v"} <= {copy.operands[0] for copy in copies}:
        assert names == ["w", "v"]


@given(listing=listings())
def test_liveness_does_not_depend_on_notation(listing: Listing) -> None:
    one = with_in_place_results_replaced(live(listing))
    assert live(with_in_place_results_replaced(listing)) == one


@given(listing=listings())
def test_operands_share_memory_whatever_the_order_of_the_steps_that_join_them(listing: Listing) -> None:
    """Each group is a connected part of the graph of ``shares``."""
    memory = memory_of(listing)
    joined: list[set[Operand]] = [{operand} for operand in memory]
    for number, step in enumerate(listing.steps):
        for shared in step.shares:
            parts = [part for part in joined if number in part or shared in part]
            joined = [part for part in joined if part not in parts] + [set().union(*parts)]
    groups = [{one for one in memory if memory[one] == memory[other]} for other in memory]
    assert all(group in joined for group in groups)
