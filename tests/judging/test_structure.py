"""The structure check on hand-made data: names, calls, modules and steps that agree with eager or do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.structure.call_order import CallOrder
from exportdiff.judging.checks.structure.check import ModulesUnknown, structure
from exportdiff.judging.checks.structure.translation import translation
from exportdiff.runtime.observing.graphs import Exported, Listing, ModuleFrame, Operand, Spec, Step, Visit
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.paths import parse
from support.evidence_of import limit_name, text
from support.structure_cases import (
    CALL_A,
    CALL_B,
    CALL_C,
    EAGER,
    EXPORTED,
    MADE,
    NAMES,
    REBUILT,
    STEPS,
    listing,
    seen,
    step,
    whats,
)


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


def refiled(*frames: tuple[ModuleFrame, ...] | None) -> Exported:
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
        (((CALL_A, CALL_B), (CALL_A,), (ModuleFrame("a", "a@1"),)), ("calls", "order")),
        (((CALL_A, CALL_B), (CALL_A,), (ModuleFrame("d", "d"),)), ("calls", "unknown")),
    ],
)
def test_calls_that_the_graph_records(
    frames: tuple[tuple[ModuleFrame, ...] | None, ...], what: tuple[str, ...] | None
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


@pytest.mark.parametrize(
    ("name", "change", "what"),
    [
        ("detach_default_1", {}, []),
        # Moved, and not made anew: the name is kept, but for a number.
        ("detach_2", {}, [("steps", "call")]),
        ("other", {}, [("steps", "call")]),
        # What draws random numbers cannot be computed again.
        ("detach_default", {"impure": True}, [("steps", "call")]),
    ],
)
def test_what_is_computed_again_runs_where_it_is_read(
    name: str, change: dict[str, Any], what: list[tuple[str, ...]]
) -> None:
    detach = Step("aten.detach.default", "(%)", (0,), (CALL_A,), name="detach", **change)
    ours = listing(STEPS[0], detach, STEPS[2], returns=2)
    theirs = (MADE[0], detach._replace(frames=(ModuleFrame("a", 3),), name=name), MADE[2])
    rebuilt = replace(REBUILT, listing=listing(*theirs, returns=2))
    assert whats(seen(replace(EXPORTED, listing=ours), rebuilt)) == what


EXTRA = [("steps", "extra", "operator")]


@pytest.mark.parametrize(
    ("name", "between", "what"),
    [
        ("add_tensor", (), []),
        ("add_tensor_1", (), []),
        ("add_1", (), EXTRA),
        # What was written in between may be what the second one reads.
        (
            "add_tensor",
            (Step("aten.relu_.default", "(%)", (0,), (CALL_A,), writes=(0,), shares=(0,)),),
            EXTRA,
        ),
    ],
)
def test_what_a_call_does_not_return_may_be_computed_again(
    name: str, between: tuple[Step, ...], what: list[tuple[str, ...]]
) -> None:
    add = Step("aten.add.Tensor", "(%, 1)", (0,), (CALL_A,), name="add")
    end = Step("aten.mul.Tensor", "(%, %)", (1, 1), (CALL_C,))
    again = add._replace(frames=(ModuleFrame("c", 2),), name=name)
    ours = listing(STEPS[0], add, *between, end, returns=2 + len(between))
    made = (MADE[0], *(each._replace(frames=(ModuleFrame("a", 0),)) for each in (add, *between)))
    read = end._replace(operands=(1, len(made)), frames=(ModuleFrame("c", 2),))
    theirs = replace(REBUILT, listing=listing(*made, again, read, returns=len(made) + 1))
    found = seen(replace(EXPORTED, listing=ours), theirs)
    assert whats(found) == what


@pytest.mark.parametrize(("written", "what"), [(("t",), []), ((), EXTRA)])
def test_where_state_is_written_what_it_was_may_be_cloned(
    written: tuple[str, ...], what: list[tuple[str, ...]]
) -> None:
    clone = Step("aten.clone.default", "(%)", (2,), (), name="clone_default")
    exported = replace(EXPORTED, listing=listing(*STEPS, returns=2), written=written)
    rebuilt = replace(REBUILT, listing=listing(*MADE, clone, returns=3))
    assert whats(seen(exported, rebuilt)) == what


@pytest.mark.parametrize(("read", "wrong"), [(2, False), (3, True)])
def test_a_clone_of_what_was_may_come_before_one_that_was_exported(read: int, wrong: bool) -> None:
    last = Step("aten.clone.default", "(%)", (2,), (CALL_C,), name="clone")
    frames = (ModuleFrame("c", 2),)
    early = last._replace(operands=(1,), frames=frames, name="clone_default")
    late = last._replace(operands=(read,), frames=frames)
    exported = replace(EXPORTED, listing=listing(*STEPS, last, returns=3), written=("t",))
    rebuilt = replace(REBUILT, listing=listing(*MADE, early, late, returns=4))
    assert bool(whats(seen(exported, rebuilt))) == wrong


def test_a_clone_is_no_other_operator() -> None:
    clone = Step("aten.clone.default", "(%)", (2,), (), name="clone_default")
    other = replace(EXPORTED, listing=listing(*STEPS, clone._replace(operator="aten.neg.default"), returns=3))
    rebuilt = replace(REBUILT, listing=listing(*MADE, clone, returns=3))
    assert whats(seen(replace(other, written=("t",)), rebuilt)) == [("steps", "missing", "operator")]


def test_all_names_of_a_shared_module_are_one() -> None:
    assert EAGER.hierarchy is not None
    shared = {**EAGER.hierarchy.first, "d": "a.b"}
    reference = replace(EAGER, hierarchy=replace(EAGER.hierarchy, first=shared))
    frames = ((CALL_A, ModuleFrame("d", "d")), (CALL_A,), (CALL_C,))
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
        (running(*MADE[:2], MADE[2]._replace(frames=(ModuleFrame("a", 0),))), ("owner",)),
        (running(MADE[0], MADE[1]._replace(frames=(ModuleFrame("a", 3),)), MADE[2]), ("call",)),
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


def test_a_size_is_read_before_metadata_changes() -> None:
    def ran(*operators: str) -> Listing:
        number = {operator: n for n, operator in enumerate(operators)}
        size = number["aten.sym_size.int"]
        steps = {
            "aten.sym_size.int": step("aten.sym_size.int", "input 0"),
            "mul": step("mul", size),
            "aten.t_.default": step(
                "aten.t_.default", "input 0", writes=("input 0",), shares=("input 0",), reshapes=True
            ),
            "aten.add_.Tensor": step("aten.add_.Tensor", "input 0", writes=("input 0",), shares=("input 0",)),
            "aten.zeros.default": step("aten.zeros.default", number.get("mul", size)),
        }
        return listing(*(steps[each] for each in operators), returns=number["aten.zeros.default"])

    def compared(exported: Listing, rebuilt: Listing) -> list[Evidence]:
        program, module = replace(EXPORTED, listing=exported), replace(REBUILT, listing=rebuilt)
        return list(translation(program, module, EAGER.before))

    zeros = ("mul", "aten.zeros.default")
    early = ran("aten.sym_size.int", "aten.add_.Tensor", *zeros)
    assert not compared(early, ran("aten.add_.Tensor", "aten.sym_size.int", *zeros))
    assert compared(early, ran("aten.add_.Tensor", "aten.sym_size.int", "aten.zeros.default"))
    early = ran("aten.sym_size.int", "aten.t_.default", *zeros)
    assert compared(early, ran("aten.t_.default", "aten.sym_size.int", *zeros))


@pytest.mark.parametrize(("other", "same"), [("input 1", True), ("input 2", False), ("c.t", False)])
def test_a_size_may_be_read_from_another_tensor_that_has_it(other: str, *, same: bool) -> None:
    sizes: dict[Operand, tuple[str, ...]] = {
        "input 0": ("3", "s77"),
        "input 1": ("s77",),
        "input 2": ("s12 + 1",),
    }

    def reading(operand: str, dimension: int) -> Listing:
        size = step("aten.sym_size.int", operand, dimension=dimension)
        return listing(size, step("aten.zeros.default", 0), returns=1)

    exported = replace(EXPORTED, listing=replace(reading("input 0", 1), sizes=sizes))
    rebuilt = replace(REBUILT, listing=reading(other, 0))
    found = list(translation(exported, rebuilt, EAGER.before))
    assert [each.words()[:2] for each in found] == ([] if same else [("steps", "operands")])


@pytest.mark.parametrize(("reads", "same"), [((), True), (("read",), False)])
def test_a_parameter_may_be_written_back_through_detach(reads: tuple[str, ...], *, same: bool) -> None:
    detached = step("aten.detach.default", "a.w", shares=("a.w",))

    def writing(*before: Step, to: Operand) -> Listing:
        write = step("aten.copy_.default", to, "input 0", writes=(to,), shares=(to,))
        after = [step(each, to, impure=True) for each in reads]
        return listing(*before, write, *after, returns="input 0")

    exported = replace(EXPORTED, listing=writing(to="a.w"))
    rebuilt = replace(REBUILT, listing=writing(detached, to=0))
    assert (not list(translation(exported, rebuilt, EAGER.before))) is same


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


def test_names_of_slices_and_of_items_are_a_documented_limit() -> None:
    def excuse(name: str) -> str:
        candidate = seen(refiled((CALL_A, CALL_B), (CALL_A,), (ModuleFrame(name, name),)), None)
        (found,) = structure(EAGER, candidate)
        return limit_name(found, EAGER, candidate)

    assert excuse("seq.slice(None, 1, None).0") == "slices-have-names-of-their-own"
    assert excuse("seq.none") == ""
    for name in ("layers[0].inner", "a.experts['x'].inner", "experts['a b']", "experts['a.b'].inner"):
        assert excuse(name) == "modules-in-lists-are-not-registered"
    assert excuse("__dict__['_modules']['layers'].0") == ""
    # What is left of the call where the operators of the slice do nothing.
    name, other = "seq.slice(None, 1, None)", "seq.none"
    for evidence, excused in (
        (ModulesUnknown((name, f"{name}.0")), True),
        (ModulesUnknown((name, other)), False),
        (CallOrder("export", ("a",), (name, "a")), False),
    ):
        assert bool(limit_name(evidence, EAGER, running(*MADE))) is excused
