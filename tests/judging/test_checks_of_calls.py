"""The checks that look at more of a call than its values, on observations made by hand."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from exportdiff.core.finding import Evidence
from exportdiff.judging.exemptions.limits import LIMITS
from exportdiff.runtime.inputs.copies import Examples
from exportdiff.runtime.inputs.deviations import DEVIATIONS, PROMISED_DEVIATIONS, Deviation, deviations_of
from exportdiff.runtime.observing.aliasing import Memory, MutationProbe
from exportdiff.runtime.observing.failure import Failure
from exportdiff.runtime.observing.gradients import Gradients
from exportdiff.runtime.observing.observation import (
    Aftermath,
    Call,
    CompiledObservation,
    DeviatingCall,
    Environment,
    ExportedObservation,
    Observation,
    Prediction,
    StageEffect,
)
from exportdiff.runtime.observing.process_state import read_process_state
from exportdiff.runtime.observing.tensors import State, Tree, snapshot, storage_id, tree_snapshot
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.run.model_calls import ModelCaller
from exportdiff.runtime.paths.stopwatch import Stopwatch
from support.evidence_of import as_eager, found_by, text

if TYPE_CHECKING:
    from collections.abc import Set

ONE = torch.tensor([1.0, 2.0])
STATE = State({"w": snapshot(torch.nn.Parameter(ONE)), "n": snapshot(ONE)}, {"k": snapshot(ONE)})


def call(outputs: object = ONE, memory: Memory | None = None, failed: Failure | None = None) -> Call:
    inputs = tree_snapshot(((ONE,), {}))
    seen = None if failed else tree_snapshot(outputs)
    return Call(inputs, STATE, seen, failed, memory=memory or Memory())


def observed(*calls: Call) -> ExportedObservation:
    return ExportedObservation(parse("nonstrict:module@cpu"), before=STATE, calls=calls)


def found(name: str, reference: Observation, path: Observation) -> list[Evidence]:
    return found_by(name, as_eager(reference), path)


def whats(name: str, eager: Observation, path: Observation) -> list[tuple[str, ...]]:
    return [one.words() for one in found(name, eager, path)]


def together(*names: str) -> Memory:
    return Memory(shared=(frozenset(names),))


# --- outputs: metadata and identity ---


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        (ONE, ONE.clone().requires_grad_(), "requires-grad"),
        (torch.ones(3)[1:], torch.ones(2), "offset"),
        (torch.tensor([1j]).conj(), torch.tensor([1j]).conj().resolve_conj(), "conj-bit"),
        (torch.tensor([1j]).conj().imag, torch.tensor([-1.0]), "neg-bit"),
        (ONE, ONE.clone(), None),
    ],
)
def test_metadata_of_outputs(ours: torch.Tensor, theirs: torch.Tensor, word: str | None) -> None:
    words = [what[0] for what in whats("outputs", observed(call(ours)), observed(call(theirs)))]
    assert words[:1] == ([word] if word else [])


def test_identity_of_outputs() -> None:
    one = observed(call(memory=Memory(same=(frozenset({"output", "input args[0]"}),))))
    other = observed(call())
    assert whats("outputs", one, other) == [("identity", "input", "output")]
    assert whats("outputs", other, one) == [("identity", "input", "output", "new")]
    assert whats("outputs", one, one) == []


def test_a_named_tuple_is_no_tuple() -> None:
    values, indices = torch.ones(2, 2).max(0)
    pair = torch.return_types.max((values, indices))
    assert whats("outputs", observed(call(pair)), observed(call((values, indices)))) == [("structure",)]


@pytest.mark.parametrize("other", [(2, 3), [2, 3]])
def test_a_size_is_neither_a_tuple_nor_a_list(other: object) -> None:
    size = observed(call(torch.Size([2, 3])))
    assert whats("outputs", size, size) == []
    assert whats("outputs", size, observed(call(other))) == [("structure",)]


def test_where_eager_raises_the_path_has_to() -> None:
    raised = Failure("run", ("ValueError", "Exception"), "no", ())
    eager = observed(call(), replace(call(failed=raised), probe=True))
    assert whats("outputs", eager, observed(call(), call())) == [("answered", "ValueError")]
    assert whats("outputs", eager, eager) == []


def test_the_state_after_a_call_that_raised_on_both_sides() -> None:
    raised = Failure("run", ("ValueError", "Exception"), "no", ())
    last = replace(call(failed=raised), probe=True)
    moved = replace(last, state=State({"n": snapshot(ONE + 1)}, {}))
    assert whats("state", observed(call(), last), observed(call(), moved)) == [("value", "buffer")]
    refused = Failure("run", ("AssertionError", "Exception"), "Guard failed: x.size()[0] == 3", ())
    assert whats("state", observed(call(), moved), observed(call(), replace(last, failure=refused))) == []


# --- aliasing ---


def test_memory_shared_with_an_output() -> None:
    shares, alone = observed(call(memory=together("output", "n"))), observed(call())
    assert whats("aliasing", shares, alone) == [("no-longer-shared", "buffer", "output")]
    assert whats("aliasing", alone, shares) == [("became-shared", "buffer", "output")]
    assert whats("aliasing", shares, shares) == []


def test_names_that_the_path_does_not_have_are_no_matter() -> None:
    ours = observed(call(memory=together("output", "n", "gone")))
    assert whats("aliasing", ours, observed(call(memory=together("output", "n")))) == []


def test_a_buffer_that_is_assigned_is_copied_into() -> None:
    ours = as_eager(observed(call(memory=together("output", "n"))), rebound=frozenset("n"))
    assert whats("aliasing", ours, observed(call())) == []


def test_a_buffer_that_is_assigned_keeps_its_strides_and_nothing_else() -> None:
    wide = torch.ones(2, 2)
    packed, turned, other, moved = (
        State({"n": snapshot(tensor)}, {}) for tensor in (wide, wide.t(), wide[:, :1].expand(2, 2), 2 * wide)
    )
    assigns = replace(observed(replace(call(), state=turned)), before=packed)
    keeps, changes = (
        replace(observed(replace(call(), state=each)), before=packed) for each in (packed, other)
    )
    rebinds = as_eager(assigns, rebound=frozenset("n"))
    assert whats("state", rebinds, keeps) == []
    assert whats("state", assigns, keeps) == [("stride", "buffer")]
    assert whats("state", rebinds, changes) == [("stride", "buffer")]
    assert whats("state", rebinds, replace(keeps, calls=(replace(call(), state=moved),))) == [
        ("value", "buffer")
    ]


def test_a_write_to_an_output() -> None:
    shows = MutationProbe("output", {"n": snapshot(ONE + 1)})
    eager = replace(observed(call(memory=together("output", "n"))), mutation_probes=(shows,))
    for mutation_probe, what in (
        (shows, []),
        (MutationProbe("output"), [("write", "buffer")]),
        (MutationProbe("output", {"n": snapshot(ONE)}), [("write", "buffer", "value")]),
        (MutationProbe("output", refused=True), [("write", "refused")]),
    ):
        assert whats("aliasing", eager, replace(eager, mutation_probes=(mutation_probe,))) == what


# --- gradients ---


def flow(**of: torch.Tensor | None) -> ExportedObservation:
    snapshots = {name: None if tensor is None else snapshot(tensor) for name, tensor in of.items()}
    return replace(observed(call()), gradients=Gradients(snapshots))


def test_gradients_by_name() -> None:
    assert whats("gradients", flow(w=ONE), flow(w=ONE)) == []
    assert whats("gradients", flow(w=ONE), flow(w=ONE + 1)) == [("value", "state")]
    assert whats("gradients", flow(w=ONE), flow(w=None)) == [("none", "state", "lost")]
    assert whats("gradients", flow(w=None), flow(w=ONE)) == [("none", "state", "new")]
    assert whats("gradients", flow(w=ONE), flow()) == []


def test_a_compiled_backward_lays_out_as_it_foresaw() -> None:
    square = torch.ones(2, 3)
    eager, seen = flow(w=square), flow(w=torch.ones(3, 2).t())
    assert whats("gradients", eager, seen) == [("stride", "state")]
    assert whats("gradients", eager, replace(seen, path=parse("compile:compiled@cpu"))) == [
        ("stride", "state")
    ]
    assert whats("gradients", eager, replace(seen, path=parse("compile:aot_eager@cpu"))) == []
    other = replace(flow(w=square + 1), path=parse("compile:aot_eager@cpu"))
    assert whats("gradients", eager, other) == [("value", "state")]


def test_a_backward_pass_that_fails() -> None:
    failed = Failure("run", ("RuntimeError", "Exception"), "modified by an inplace operation", ())
    broken = replace(observed(call()), gradients=Gradients(failure=failed))
    (difference,) = found("gradients", flow(w=ONE), broken)
    assert difference.kind == "crash" and difference.words()[:3] == ("backward", "run", "RuntimeError")
    assert found("gradients", broken, flow(w=ONE)) == []


# --- fake ---


def test_a_node_that_differs_from_its_fake_tensor() -> None:
    real, told = snapshot(torch.ones(2, 3)), snapshot(torch.ones(3, 2).t(), values=False)
    wrong = replace(observed(call()), predictions=(Prediction("add", "aten.add.Tensor", told, real),))
    assert whats("fake", observed(call()), wrong) == [("stride", "aten.add.Tensor")]
    right = replace(wrong, predictions=(Prediction("add", "aten.add.Tensor", real, real),))
    assert whats("fake", observed(call()), right) == []


# --- calls that leave the spec ---


def left(call: Call, deviation: str = "flag") -> ExportedObservation:
    made = DeviatingCall(deviation, "args[0] is False, not True", call, call.inputs, STATE)
    return replace(observed(), deviations=(made,))


def test_a_call_that_leaves_the_spec_is_refused_or_right() -> None:
    refused = Failure("run", ("AssertionError", "Exception"), "Guard failed: a == True", ())
    assert whats("guards", left(call()), left(call())) == []
    assert whats("guards", left(call()), left(call(failed=refused))) == []
    assert whats("guards", left(call()), left(call(ONE + 1))) == [("accepted", "flag")]
    raised = Failure("run", ("ValueError", "Exception"), "no", ())
    assert whats("guards", left(call(failed=raised)), left(call(ONE + 1))) == []


def test_an_ordinary_call_after_one_that_raised() -> None:
    refused = Failure("run", ("AssertionError", "Exception"), "Guard failed: a == True", ())

    def after(first: Call, second: Call | None) -> ExportedObservation:
        made = replace(left(first).deviations[0], state_before=first.state, then=second)
        return replace(observed(), deviations=(made,))

    eager = after(call(), call())
    for failed in (call(failed=refused), call(failed=replace(refused, message="in the middle"))):
        assert whats("guards", eager, after(failed, call())) == []
        assert whats("guards", eager, after(failed, call(ONE + 1))) == [("after-refusal", "value", "flag")]
        assert whats("guards", eager, after(failed, failed)) == [("after-refusal", "kind", "flag")]
        assert whats("guards", after(failed, call()), after(failed, call(ONE + 1))) != []
        # What eager itself no longer does is no promise.
        assert whats("guards", after(failed, failed), after(failed, failed)) == []
        moved = replace(
            after(failed, call(ONE + 1)).deviations[0], state_before=State({"n": snapshot(ONE)}, {})
        )
        half = replace(moved, call=replace(failed, state=State({"n": snapshot(ONE + 1)}, {})))
        assert ("after-refusal", "value", "flag") not in whats(
            "guards", eager, replace(observed(), deviations=(half,))
        )


def test_metadata_is_static_for_export_and_guarded_by_compile() -> None:
    eager = left(call(), "dtype")
    assert whats("guards", eager, left(call(ONE + 1), "dtype")) == []
    for value in ("float", "int", "bool", "order"):  # no metadata: 2.0 for 2, 1 for True, other keys
        assert whats("guards", left(call(), value), left(call(ONE + 1), value)) == [("accepted", value)]
    compiled = replace(left(call(ONE + 1), "dtype"), path=parse("compile:compiled@cpu"))
    assert whats("guards", eager, compiled) == [("accepted", "dtype")]


def test_keywords_come_in_any_order() -> None:
    raised = Failure("run", ("TypeError", "Exception"), "There is no flat args adapter specified.", ())

    def reordered(made: Call, where: str) -> ExportedObservation:
        return replace(observed(), deviations=(replace(left(made, "order").deviations[0], where=where),))

    eager, refused = reordered(call(), "kwargs"), reordered(call(failed=raised), "kwargs")
    assert whats("guards", eager, refused) == [("refused", "keyword-order")]
    assert whats("guards", refused, refused) == []  # eager refuses it too
    # A dict among the arguments is part of what export fixes.
    assert whats("guards", reordered(call(), "args[0]"), reordered(call(failed=raised), "args[0]")) == []


def test_a_refused_call_changes_nothing() -> None:
    refused = Failure("run", ("AssertionError", "Exception"), "Guard failed: a == True", ())
    changed = replace(call(failed=refused), state=State({"n": snapshot(ONE + 1)}, {}))
    assert whats("guards", left(call()), left(changed)) == [("refused-but-changed", "flag")]


def served(failure: Failure, deviation: str) -> list[tuple[str, ...]]:
    """What is found where a compiled call raises that eager does not."""
    eager = left(call(), deviation)
    compiled = CompiledObservation(
        parse("compile:compiled"),
        before=STATE,
        deviations=left(call(failed=failure), deviation).deviations,
        reference=as_eager(eager),
    )
    return whats("guards", eager, compiled)


def test_what_a_served_call_raises_names_its_cause_before_the_way_there() -> None:
    lost = Failure("run", ("KeyError", "Exception"), "x", ("guards.py:build",))
    assert served(lost, "size") == [("served", "run", "KeyError", "guards.py:build", "size")]
    wrapped = "RuntimeError when making fake tensor call\n  cat(): got RuntimeError('tried to modify')"
    for deviation in ("size", "rank"):
        fake = Failure("run", ("TorchRuntimeError", "Exception"), wrapped, ("exc.py:unimplemented",))
        assert served(fake, deviation) == [
            ("served", "run", "TorchRuntimeError", "tried to modify", deviation)
        ]


# --- edits ---


def test_an_edit_has_to_act() -> None:
    eager, path = replace(observed(), edited=call()), replace(observed(), edited=call(ONE + 1))
    assert whats("sharing", eager, path) == [("edit", "value")]
    assert whats("sharing", eager, eager) == []
    raised = Failure("run", ("RuntimeError", "Exception"), "no", ())
    assert whats("sharing", eager, replace(path, edited=call(failed=raised))) == [("edit", "raises")]


def test_ordinary_differences_are_not_put_on_an_edit() -> None:
    eager = replace(observed(call()), edited=call())
    path = replace(observed(call(ONE + 1)), edited=call(ONE + 2))
    assert whats("sharing", eager, path) == []
    assert whats("sharing", eager, replace(path, edited=call(ONE[:1]))) == [("edit", "shape")]
    asked = replace(eager, deviations=left(call()).deviations)
    answered = left(call(ONE + 2)).deviations
    assert whats("guards", asked, replace(path, deviations=answered)) == []
    assert whats("guards", asked, replace(eager, deviations=answered)) == [("accepted", "flag")]


# --- purity: what a call leaves behind ---


def leaving(call: Call, grad: bool, *, changed: bool) -> Call:
    left = Aftermath({"grad mode": grad}, {}, frozenset({"grad mode"} if changed else ()))
    return replace(call, aftermath=left)


def test_a_call_that_is_refused_leaves_the_grad_mode_as_it_was() -> None:
    refused = Failure("run", ("AssertionError", "Exception"), "Guard failed: a == True", ())
    answers, refuses = call(), call(failed=refused)
    for of in (observed, left):  # an ordinary call, a deviating call
        eager = of(leaving(answers, True, changed=False))
        assert whats("purity", eager, of(leaving(refuses, True, changed=False))) == []
        assert whats("purity", eager, of(leaving(refuses, False, changed=True))) == [
            ("run", "global", "raised", "grad mode")
        ]
        # A model that switches gradients off itself: a call that never ran need not do so.
        assert (
            whats(
                "purity", of(leaving(answers, False, changed=True)), of(leaving(refuses, True, changed=False))
            )
            == []
        )


# --- purity: prints ---


def printed(stream: str, *, failed: bool = False) -> Observation:
    world = Environment(STATE, {}, {}, {}, Tree("", ()), {})
    return replace(
        observed(), stage_effects=(StageEffect("export", world, world, {stream: "hello\n"}, failed),)
    )


def test_prints() -> None:
    (difference,) = found("purity", observed(), printed("standard output"))
    assert difference.words() == ("export", "prints", "standard output") and "'hello'" in text(difference)
    prints_itself = as_eager(observed(), prints=True)
    assert found("purity", prints_itself, printed("standard output")) == []
    assert found("purity", observed(), printed("standard error", failed=True)) == []
    assert len(found("purity", observed(), printed("standard error"))) == 1


# --- what AOTAutograd says that it does not do ---


@pytest.mark.parametrize(
    "says",
    [
        "backend='aot_eager' raised:\nRuntimeError: derivative for aten::floor_divide is not implemented",
        "backend='aot_eager' raised:\nRuntimeError: derivative for set_ is not implemented",
        "backend='aot_eager' raised:\nAssertionError: Encountered a set_ on a graph input, but",
        "backend='aot_eager' raised:\nRuntimeError: cannot mutate tensors with frozen storage",
        "backend='aot_eager' raised:\nRuntimeError: Trying to backward through a.b.default but no autograd "
        "formula was registered. Please use register_autograd to add one.",
        "backend='aot_eager' raised:\nRuntimeError: During torch.compile, encountered a mutation on a view "
        "chain of length 2, where view 1 was an as_strided() call. as_strided() is non-compositional",
        "backend='aot_eager' raised:\nRuntimeError: While executing unfold, functionalization encountered a "
        "tensor being mutated that has internal overlap.",
    ],
)
def test_documented_failures_of_a_backend(says: str) -> None:
    types = ("torch._dynamo.exc.BackendCompilerFailed", "RuntimeError", "Exception")
    failed = observed(call(failed=Failure("run", types, says, ("graph.py:_engine_run_backward",))))
    assert whats("outputs", observed(call()), replace(failed, path=parse("compile:aot_eager@cpu"))) == []
    assert len(whats("outputs", observed(call()), replace(failed, path=parse("compile:compiled@cpu")))) == 1
    assert len(whats("outputs", observed(call()), failed)) == 1
    other = Failure("run", types, "backend='aot_eager' raised:\nRuntimeError: no", ("graph.py:run",))
    seen = replace(observed(call(failed=other)), path=parse("compile:aot_eager@cpu"))
    assert len(whats("outputs", observed(call()), seen)) == 1


def test_what_machine_code_does_otherwise() -> None:
    def compiled(outputs: object, *, probe: bool = False, narrow: bool = False) -> Observation:
        seen = observed(replace(call(outputs), probe=probe))
        return replace(seen, path=parse("aoti:package@cpu"), may_narrow=narrow, same_operators=False)

    four, eager = torch.tensor(4), observed(call((4, ONE)))
    assert whats("outputs", eager, compiled((four, ONE))) == []
    assert whats("outputs", eager, compiled((four.expand(1), ONE))) != []
    assert whats("outputs", eager, compiled((four, ONE + 1))) != []
    assert whats("outputs", observed(call()), compiled(ONE + 1, probe=True)) != []
    assert whats("outputs", observed(call()), compiled(ONE + 1, narrow=True)) != []
    assert whats("outputs", observed(call()), compiled(ONE + 1, probe=True, narrow=True)) == []


def test_deviating_calls_may_round() -> None:
    eager, off = left(call(), "dtype"), left(call(ONE * (1 + 2**-23)), "dtype")
    compiled = replace(off, path=parse("compile:inductor@cpu"))
    assert whats("guards", eager, compiled) == [("accepted", "dtype")]
    assert whats("guards", eager, replace(compiled, same_operators=False)) == []
    wrong = replace(left(call(ONE + 1), "dtype"), path=parse("compile:inductor@cpu"), same_operators=False)
    assert whats("guards", eager, wrong) == [("accepted", "dtype")]


# --- the tables ---


def test_every_limit_says_where_it_is_documented() -> None:
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)
    for limit in LIMITS:
        named = any(kind in limit.documented for kind in (".py", ".cpp", "docs.", "/issues/", "/pull/"))
        assert limit.says.endswith(".") and named


def test_what_is_promised_is_a_way_to_leave_the_spec() -> None:
    assert all(names <= DEVIATIONS.keys() for names in PROMISED_DEVIATIONS.values())


class Kind(Enum):
    A = 1
    B = 2


def test_deviating_calls_of_two_kinds_may_be_described_in_the_same_words() -> None:
    one, other = left(call(ONE + 1), "flag").deviations[0], left(call(ONE + 2), "number").deviations[0]
    assert one.description == other.description
    eager = replace(left(call()), deviations=(one, other))
    assert whats("guards", eager, replace(eager, deviations=(other, one))) == []


def deviations(leaves: list[Any], names: Set[str] = DEVIATIONS.keys()) -> list[Deviation]:
    places = [f"[0][{place}]" for place in range(len(leaves))]
    return deviations_of(leaves, places, names, dicts=[("[1]", {"a": 1, "b": 2})])


def test_each_alteration_is_told_in_words_of_its_own() -> None:
    twice = torch.ones(4)
    leaves = [
        torch.ones(2, 3),
        torch.ones(2, 3).requires_grad_(),
        torch.ones(2, 3),
        *(1, 2, 2.0, True, "a", None, Kind.A),
        *(twice, twice, torch.ones(3)[1:], torch.ones(2, dtype=torch.complex64)),
    ]
    made = deviations(leaves)
    assert {one.deviation for one in made} == DEVIATIONS.keys() - {"attribute"}
    assert len({one.description for one in made}) == len(made) == len({one.key for one in made})
    assert next(one.description for one in made if one.deviation == "alias") == "args[0] is args[1] once more"
    assert (
        next(one.description for one in made if one.deviation == "no-grad") == "torch.no_grad() is in force"
    )


def test_an_input_given_twice_is_copied_the_second_time() -> None:
    x = torch.arange(4.0)[::2]
    (one,) = deviations([x, 1, x], {"apart"})
    assert (one.target, one.description) == (2, "args[2] is a separate tensor")
    inputs = Examples((x, 1, x), {}).with_deviation(one)
    assert inputs.args[0].equal(inputs.args[2]) and inputs.args[0].stride() == inputs.args[2].stride()
    assert storage_id(inputs.args[0]) != storage_id(inputs.args[2])
    assert deviations([x, x.clone()], {"apart"}) == []


def test_what_is_given_twice_gets_other_values_the_second_time() -> None:
    x = torch.arange(4.0)
    (one,) = deviations([x, 1, x], {"unlike"})
    assert (one.target, one.description) == (2, "args[2] is a separate tensor, with other values")
    inputs = Examples((x, 1, x), {}).with_deviation(one)
    assert inputs.args[0].equal(x) and not inputs.args[2].equal(x)
    assert deviations([x, x.clone()], {"unlike"}) == []
    assert "unlike" in PROMISED_DEVIATIONS["nonstrict"] and "unlike" in PROMISED_DEVIATIONS["strict"]


def test_a_call_after_eval_is_refused_if_the_model_refuses_to_switch() -> None:
    class Refuses(nn.Identity):
        def train(self, mode: bool = True) -> Any:
            raise NotImplementedError

    (one,) = deviations([1], {"eval"})
    assert one.description == "model.eval() comes first"
    inputs = Examples((ONE,), {}).fresh()
    model = nn.Identity()
    switched, _ = ModelCaller(model, Stopwatch())(inputs, 0, deviation=one)
    assert switched.failure is None and not model.training
    refused, _ = ModelCaller(Refuses(), Stopwatch())(inputs, 0, deviation=one)
    assert refused.failure is not None and refused.failure.name == "NotImplementedError"


@pytest.mark.parametrize(
    ("leaf", "new"), [(3, {"float": 3.0}), (3.0, {"int": 3}), (0.5, {}), (True, {"int": 1}), (2**53 + 1, {})]
)
def test_a_number_of_equal_value_and_another_type(leaf: object, new: dict[str, object]) -> None:
    made = {one.deviation: one.leaf for one in deviations([leaf], {"float", "int"})}
    assert made == new and [type(value) for value in made.values()] == [*map(type, new.values())]


def test_attributes_of_all_modules_and_not_what_torch_keeps_there() -> None:
    class Model(nn.Sequential):
        kind = ""

    model = Model(nn.Dropout(0.5), nn.Identity())
    model.kind = "a"
    made = {one.description: one for one in deviations_of([], [], {"attribute"}, model)}
    assert list(made) == [
        "model.training is False, not True",
        "model.kind is 'ax', not 'a'",
        "model.0.training is False, not True",
        "model.0.inplace is True, not False",  # but not p: it is no longer a probability
        "model.1.training is False, not True",
    ]
    made["model.kind is 'ax', not 'a'"].prepare(model)
    made["model.training is False, not True"].prepare(model)
    assert model.kind == "ax" and model[0].training and not model.training


def test_surroundings_alter_no_argument() -> None:
    x = torch.ones(2, requires_grad=True)
    examples = Examples((x,), {})
    around = examples.deviations({name for name, one in DEVIATIONS.items() if one.around}, "")
    assert {one.deviation for one in around} == {"no-grad", "inference", "autocast"}
    for one in around:
        before = read_process_state()
        with one.context():
            assert read_process_state() != before
        assert read_process_state() == before
        assert examples.with_deviation(one).snapshot().leaves[0].where == "[0][0]"
        assert examples.with_deviation(one).args[0].requires_grad


def test_an_equal_number_of_another_type_is_another_value() -> None:
    assert all({"float", "int"} <= names for names in PROMISED_DEVIATIONS.values())


def test_export_promises_nothing_about_what_surrounds_a_call() -> None:
    around = {name for name, one in DEVIATIONS.items() if one.around}
    assert around <= PROMISED_DEVIATIONS["compile"]
    assert not around & (PROMISED_DEVIATIONS["nonstrict"] | PROMISED_DEVIATIONS["strict"])


def test_only_a_module_with_guards_must_refuse_two_tensors_for_one() -> None:
    for path, wrong in (("nonstrict:module", 1), ("nonstrict+unguarded:module", 0)):
        seen = replace(left(call(ONE + 1), "unlike"), path=parse(path))
        assert whats("guards", left(call(), "unlike"), seen) == [("accepted", "unlike")] * wrong
    other = replace(left(call(ONE + 1)), path=parse("nonstrict+unguarded:module"))
    assert whats("guards", left(call()), other) == [("accepted", "flag")]


def test_the_order_of_a_dict_may_be_ignored() -> None:
    def eager(ordinary: torch.Tensor) -> Observation:
        made = left(call(ONE + 1), "order").deviations[0]
        return as_eager(replace(left(call(), "order"), deviations=(replace(made, then=call(ordinary)),)))

    assert whats("guards", eager(ONE), left(call(ONE), "order")) == []
    assert whats("guards", eager(ONE), left(call(ONE + 2), "order")) == [("accepted", "order")]
    compiled = replace(left(call(ONE), "order"), path=parse("compile:compiled@cpu"))
    assert whats("guards", eager(ONE), compiled) == [("accepted", "order")]
