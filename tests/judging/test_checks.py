"""Every check on observations made by hand: no export, no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
import torch

from exportdiff.core.finding import Evidence, Relation, Stage
from exportdiff.judging.checks.compare.crash import message_words, shortened
from exportdiff.judging.checks.compare.leaves import LeafDifference, compare_leaf
from exportdiff.runtime.observing.failure import Failure
from exportdiff.runtime.observing.graphs import Hierarchy
from exportdiff.runtime.observing.observation import (
    Call,
    Environment,
    ExportedObservation,
    Observation,
    Placeholder,
    StageEffect,
)
from exportdiff.runtime.observing.tensors import Leaf, State, Tree, snapshot, tree_snapshot
from exportdiff.runtime.paths import parse
from support.evidence_of import as_eager, found_by, text

ONE = torch.tensor([1.0, 2.0])


def state(tensors: Mapping[str, torch.Tensor] | None = None) -> State:
    return State({name: snapshot(tensor) for name, tensor in (tensors or {}).items()}, {})


def call(
    outputs: object = ONE,
    inputs: object = ((ONE,), {}),
    tensors: Mapping[str, torch.Tensor] | None = None,
    failed: Failure | None = None,
) -> Call:
    return Call(tree_snapshot(inputs), state(tensors), None if failed else tree_snapshot(outputs), failed)


def seen(*calls: Call, before: State | None = None) -> ExportedObservation:
    return ExportedObservation(parse("nonstrict:module"), before=before or state(), calls=calls)


def raised(message: str, stage: Stage = "run", kind: str = "RuntimeError", *frames: str) -> Failure:
    return Failure(stage, (kind, "Exception"), message, frames)


def run(name: str, reference: Observation, candidate: Observation) -> list[Evidence]:
    return found_by(name, as_eager(reference), candidate)


def whats(name: str, reference: Observation, candidate: Observation) -> list[tuple[str, ...]]:
    return [difference.words() for difference in run(name, reference, candidate)]


# --- two leaves ---


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        (ONE, ONE.clone(), None),
        (ONE, ONE.double(), "dtype"),
        (ONE, ONE.reshape(2, 1), "shape"),
        (ONE, ONE + 1, "value"),
        (ONE, ONE * (1 + 2**-23), "rounding"),
        (ONE.to(torch.int32), ONE.to(torch.int32) + 1, "value"),
        (torch.tensor([0.0]), torch.tensor([-0.0]), "sign-of-zero"),
        (torch.tensor([torch.nan]), torch.tensor([torch.nan]).neg(), None),
        (torch.tensor([torch.nan]), torch.tensor([0.0]), "value"),
        (torch.tensor([True]), torch.tensor([False]), "value"),
        (torch.tensor([1j]), torch.tensor([-1j]), "value"),
        (torch.ones(2, 3), torch.ones(3, 2).t(), "stride"),
        (torch.ones(1, 3), torch.ones(3, 1).t(), None),
        (torch.ones(0, 3), torch.ones(3, 0).t(), None),
        (ONE, torch.ones(3)[1:], "value"),
        (torch.ones(2), torch.ones(3)[1:], None),
        (ONE, torch.ones(2, device="meta"), "device"),
        (ONE, 1, "kind"),
        (1, 1.0, "python-value"),
        (None, None, None),
    ],
)
def test_leaves(ours: object, theirs: object, word: str | None) -> None:
    one, other = tree_snapshot(ours).leaves[0].value, tree_snapshot(theirs).leaves[0].value
    unlike = compare_leaf(one, other)
    assert (unlike and unlike.word) == word


def test_metadata_is_compared_on_demand() -> None:
    plain, moved = snapshot(torch.ones(2)), snapshot(torch.ones(3)[1:])
    grad = snapshot(torch.ones(2, requires_grad=True))
    assert compare_leaf(plain, grad) is None
    assert [compare_leaf(plain, other, metadata=True) for other in (moved, grad)] == [
        LeafDifference("offset", "0", "1"),
        LeafDifference("requires-grad", "False", "True"),
    ]


def test_the_largest_difference_is_named() -> None:
    unlike = compare_leaf(snapshot(torch.zeros(2, 2)), snapshot(torch.tensor([[0.0, 0.5], [-2.0, 0.0]])))
    assert unlike is not None
    assert "2 of 4 places" in unlike.details()
    assert "[1, 0]: eager 0.0, here -2.0 (2 apart)" in unlike.details()


# --- outputs ---


def test_outputs_alike() -> None:
    assert run("outputs", seen(call(), call()), seen(call(), call())) == []


def test_outputs_differ_with_place_role_and_call() -> None:
    ours = call((ONE, {"k": ONE}))
    leaf = replace(ours.outputs.leaves[1], role="output-is-input")  # type: ignore[union-attr]  # is a Tree
    ours = replace(ours, outputs=replace(ours.outputs, leaves=(ours.outputs.leaves[0], leaf)))  # type: ignore[union-attr, type-var]  # is a Tree
    (found,) = run("outputs", seen(ours, ours), seen(ours, call((ONE, {"k": ONE + 1}))))
    assert found.words() == ("value", "output-is-input") and found.call == 1 and found.kind == "mismatch"
    assert "call 1: output[1]['k'] differs in value" in text(found)


def test_the_worst_output_comes_first() -> None:
    found = whats("outputs", seen(call((torch.ones(2, 3), ONE))), seen(call((torch.ones(3, 2).t(), ONE + 1))))
    assert found == [("value", "fresh"), ("stride", "fresh")]


def test_another_structure() -> None:
    assert whats("outputs", seen(call((ONE,))), seen(call([ONE]))) == [("structure",)]


def test_an_exception_where_eager_had_none() -> None:
    failed = raised("bad thing 3 'x'", "run", "KeyError", "unflatten.py:_sink_params")
    (found,) = run("outputs", seen(call()), seen(call(failed=failed)))
    assert found.kind == "crash" and found.call == 0
    assert found.words() == ("run", "KeyError", "unflatten.py:_sink_params")


def test_an_exception_while_lowering() -> None:
    candidate = Observation(
        parse("nonstrict:module"), failure=raised("no", "lower", "AssertionError", "unflatten.py:_copy_graph")
    )
    (found,) = run("outputs", seen(call()), candidate)
    assert (found.kind, found.stage, found.call) == ("crash", "lower", None)


def test_words_of_a_message_hold_no_names_or_numbers() -> None:
    message = "The size of tensor a (3) must match 'foo' at add_1.weight[0]\nsecond line"
    assert message_words(message) == "The size of tensor must match at"
    unquoted = "Expected positional argument for parameter relu, but one was not passed in!"
    assert message_words(unquoted) == "Expected positional argument for parameter but one was"
    assert message_words("Node referenced nonexistent target a.seq@1") == "Node referenced nonexistent target"
    dtypes = [
        f"Tensor dtype mismatch! Expected: Float, Got: {dtype}" for dtype in ("long int", "c10::BFloat16")
    ]
    assert {message_words(each) for each in dtypes} == {"Tensor dtype mismatch Expected Got"}


def test_messages_lose_what_torch_appends_and_where_it_lives() -> None:
    message = (
        'bad\n\n  File "/home/me/lib/torch/fx/graph.py", line 3\nWhile executing %x\nOriginal traceback:'
    )
    assert shortened(message) == 'bad\n  File "torch/fx/graph.py", line 3'
    assert shortened("a\n" * 9) == "\n".join("a" * 5)


# --- inputs ---


def test_inputs_after_the_call() -> None:
    ours = call(inputs=((ONE, 1), {"m": torch.ones(2, 3)}))
    theirs = call(inputs=((ONE, 1), {"m": torch.ones(3, 2).t()}))
    (found,) = run("inputs", seen(ours), seen(theirs))
    assert found.words() == ("stride",) and "input kwargs['m']" in text(found)
    assert run("inputs", seen(ours), seen(ours)) == []


def test_what_a_list_or_dict_of_the_inputs_holds_after_the_call() -> None:
    def filled(**cache: torch.Tensor) -> Call:
        given: tuple[object, ...] = (([ONE], {"m": ONE}), {})
        return replace(call(inputs=given), refilled=tree_snapshot((([ONE], cache), {})) if cache else None)

    left = seen(filled())
    (grown,) = run("inputs", seen(filled(m=ONE, n=ONE)), left)
    assert grown.words() == ("structure",)
    assert [each.words() for each in run("inputs", left, seen(filled(n=ONE)))] == [("structure",)]
    (replaced,) = run("inputs", seen(filled(m=ONE + 1)), left)
    assert replaced.words() == ("value",) and "input args[1]['m']" in text(replaced)
    assert run("inputs", seen(filled(m=ONE.clone())), left) == []


# --- state ---


def test_names_that_are_added_to_the_state_dict() -> None:
    eager = as_eager(seen(), hierarchy=Hierarchy({}, persistent=frozenset({"l.weight"})))
    assert whats("state", eager, replace(seen(), saved=frozenset({"l.weight"}))) == []
    assert whats("state", eager, replace(seen(), saved=frozenset())) == []
    assert whats("state", eager, replace(seen(), saved=frozenset({"l.weight", "k"}))) == [("added",)]


def test_state_before_and_after() -> None:
    ours = seen(call(tensors={"n": ONE}), before=state({"n": ONE}))
    late = seen(call(tensors={"n": ONE + 1}), before=state({"n": ONE}))
    early = seen(call(tensors={"n": ONE}), before=state({"n": ONE + 1}))
    assert run("state", ours, ours) == []
    (after,), (before,) = run("state", ours, late), run("state", ours, early)
    assert (after.words(), after.call, after.stage) == (("value", "buffer"), 0, "run")
    assert (before.words(), before.call, before.stage) == (("value", "buffer", "at-start"), None, "lower")


def test_a_missing_name_counts_whether_or_not_the_graph_takes_it() -> None:
    ours = seen(before=state({"n": ONE, "p": torch.nn.Parameter(ONE)}))
    theirs = seen()
    for dropped in ((), ("n", "p")):
        missing = whats("state", ours, replace(theirs, dropped=frozenset(dropped)))
        assert missing == [("missing", "buffer"), ("missing", "parameter")]


def test_a_name_that_was_dropped_counts_if_eager_updates_its_tensor() -> None:
    ours = seen(call(tensors={"n": ONE + 1}), before=state({"n": ONE}))
    theirs = replace(seen(call()), dropped=frozenset({"n"}))
    assert ("value", "buffer", "gone") in whats("state", ours, theirs)
    alias = replace(seen(call(), before=state({"m": ONE})), dropped=frozenset({"n"}))
    shared = (frozenset({"n", "m"}),)
    ours = replace(ours, before=State(state({"n": ONE, "m": ONE}).tensors, {}, shared, shared))
    assert whats("state", ours, alias) == [("missing", "buffer")]
    # A plain attribute will do as well: the tensor has a name.
    constants = state({"m": ONE}).tensors
    ours = replace(ours, before=State(state({"n": ONE}).tensors, constants, shared, shared))
    assert whats("state", ours, replace(alias, before=State({}, constants))) == [("missing", "buffer")]


def test_a_name_that_eager_itself_gives_up_is_no_update() -> None:
    ours = seen(call(), before=state({"n": ONE}))
    assert whats("state", ours, replace(seen(call()), dropped=frozenset({"n"}))) == [("missing", "buffer")]


def test_only_a_changed_constant_counts() -> None:
    def observed(value: torch.Tensor) -> Observation:
        constants = state({"k": value}).tensors
        return seen(replace(call(), state=State({}, constants)))

    ours, theirs = observed(ONE), observed(ONE + 1)
    assert whats("state", ours, theirs) == [("value", "constant")]
    assert whats("state", as_eager(ours, assigned=frozenset({"k"})), theirs) == []


def test_where_a_clone_begins_is_no_matter() -> None:
    assert (
        whats("state", seen(before=state({"n": torch.ones(3)[1:]})), seen(before=state({"n": torch.ones(2)})))
        == []
    )


# --- sharing ---

NAMES = {"a": ONE, "b": ONE, "c": ONE}
AB = (frozenset("ab"),)


@pytest.mark.parametrize(
    ("ours", "theirs", "what"),
    [
        (State({}, {}, AB, AB), State({}, {}, AB, AB), []),
        (State({}, {}, AB, AB), State({}, {}), [("one-tensor-became-several", "buffer")]),
        (State({}, {}, (), AB), State({}, {}), [("memory-no-longer-shared",)]),
        (State({}, {}), State({}, {}, AB, AB), [("several-tensors-became-one",)]),
        (State({}, {}), State({}, {}, (), AB), [("memory-became-shared",)]),
        (State({}, {}), State({}, {}, torn=("a@1.b",)), [("call-variant-has-its-own",)]),
    ],
)
def test_sharing(ours: State, theirs: State, what: list[tuple[str, ...]]) -> None:
    tensors = state(NAMES).tensors
    reference = seen(before=replace(ours, tensors=tensors))
    assert whats("sharing", reference, seen(before=replace(theirs, tensors=tensors))) == what


def test_constants_share_like_buffers() -> None:
    reference = seen(before=State({}, state({"a": ONE, "b": ONE}).tensors, AB, AB))
    split = seen(before=State(state({"a": ONE}).tensors, state({"b": ONE}).tensors))
    assert whats("sharing", reference, split) == [("one-tensor-became-several", "buffer")]
    assert whats("sharing", reference, seen(before=State({}, state({"a": ONE}).tensors))) == []


def test_sharing_among_names_that_are_not_there_is_no_matter() -> None:
    reference = seen(before=State(state(NAMES).tensors, {}, AB, AB))
    assert whats("sharing", reference, seen(before=state({"a": ONE}))) == []


# --- guards ---


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("Guard failed: x.size()[0] == 3", "size"),
        ("Guard failed: n == 3", "value"),
        ("Expected input at *args[0].shape[1] to be equal to 4, but got 3. If you meant", "size"),
        ("Expected input at *args[1] to be equal to 3, but got 4", "value"),
        ("Expected input at 'flag' to be equal to 3, but got 4", "value"),
        ("Unexpected number of dimensions in input at *args[0].shape (expected 1, got 2)", "size"),
        ("Trying to flatten user inputs with exported input tree spec: \nx", "structure"),
    ],
)
def test_a_refused_call(message: str, word: str) -> None:
    candidate = seen(call(failed=raised(message)))
    assert whats("guards", seen(call()), candidate) == [("refused", word)]
    assert run("outputs", seen(call()), candidate) == []


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("Guard failed: 2 <= x.size()[0]", "size"),
        ("Expected input at *args[0].shape[0] to be >= 4, but got 3", "size"),
        ("Expected input at 'bias'.shape[0] to be >= 3, but got 2", "size"),
        ("Runtime assertion failed for expression Eq(Mod(s0, 2), 0) on node 'eq'", "assertion"),
    ],
)
def test_a_refused_probe(message: str, word: str) -> None:
    probe = replace(call(failed=raised(message)), probe=True)
    promised, hinted = seen(call(), probe), replace(seen(call(), probe), may_narrow=True)
    assert whats("guards", seen(call(), call()), promised) == [("refused", word)]
    assert whats("guards", seen(call(), call()), hinted) == []
    for candidate in (promised, hinted):
        assert run("outputs", seen(call(), call()), candidate) == []


def test_unflatten_may_refuse_a_hinted_probe_halfway() -> None:
    probe = replace(call(failed=raised("shape '[2, 2]' is invalid for input of size 6")), probe=True)
    rebuilt = replace(seen(call(), probe), path=parse("nonstrict:unflatten@cpu"))
    assert whats("outputs", seen(call(), call()), rebuilt) != []
    assert whats("outputs", seen(call(), call()), replace(rebuilt, may_narrow=True)) == []


def test_an_assertion_in_an_ordinary_call_is_a_crash() -> None:
    candidate = seen(call(failed=raised("Runtime assertion failed for expression Eq(u0, 3)")))
    assert run("guards", seen(call()), candidate) == []
    assert [found.kind for found in run("outputs", seen(call()), candidate)] == ["crash"]


def test_a_probe_that_fails_is_a_crash() -> None:
    probe = replace(call(failed=raised("shape '[4, 3]' is invalid for input of size 18")), probe=True)
    candidate = replace(seen(call(), probe), may_narrow=True)
    assert [found.call for found in run("outputs", seen(call(), call()), candidate)] == [1]


@pytest.mark.parametrize(
    ("shape", "stride", "offset", "word"),
    [
        (("s0", 3), (3, 1), 0, None),
        (("s0", "s1"), ("s1", 1), "s2", None),
        (("s0", 4), (3, 1), 0, "shape"),
        (("s0",), (1,), 0, "shape"),
        (("s0", 3), (1, "s0"), 0, "stride"),
        (("s0", 3), (3, 1), 7, "offset"),
    ],
)
def test_a_symbol_stands_for_any_size(
    shape: tuple[int | str, ...], stride: tuple[int | str, ...], offset: int | str, word: str | None
) -> None:
    real = snapshot(torch.ones(2, 3))
    noted = replace(real, shape=shape, stride=stride, offset=offset, values=None)
    found = whats(
        "guards", seen(), replace(seen(), placeholders=(Placeholder("input", "[0][0]", noted, real),))
    )
    assert found == ([("recorded", word, "input")] if word else [])


def test_other_failures_are_none_of_its_business() -> None:
    candidate = seen(call(failed=raised("Expected input batch_size (2) to match target batch_size (3).")))
    assert run("guards", seen(call()), candidate) == []
    assert len(run("outputs", seen(call()), candidate)) == 1


def test_recorded_metadata() -> None:
    real = snapshot(torch.ones(2, 3))
    turned = snapshot(torch.ones(3, 2), values=False)
    told = Placeholder("input", "[0][0]", turned, real)
    fine = Placeholder("input", "[0][1]", snapshot(torch.ones(2, 3), values=False), real)
    value = Placeholder("input", "[0][2]", "int: 3", "int: 4")
    (shape, other) = run("guards", seen(), replace(seen(), placeholders=(told, fine, value)))
    assert shape.words() == ("recorded", "shape", "input") and "args[0]" in text(shape)
    assert "handed in: [2, 3]; recorded: [3, 2]" in text(shape)
    assert other.words() == ("recorded", "value", "input")


def test_a_refusal_that_follows_from_a_wrong_record_is_no_second_finding() -> None:
    real, turned = snapshot(torch.ones(2, 3)), snapshot(torch.ones(3, 2), values=False)
    candidate = replace(
        seen(call(failed=raised("Guard failed: x.size()[0] == 3"))),
        placeholders=(Placeholder("input", "[0][0]", turned, real),),
    )
    assert whats("guards", seen(call()), candidate) == [("recorded", "shape", "input")]


# --- purity ---

BEFORE = Environment(
    state({"n": ONE}),
    {"": True},
    {"": 0},
    {"k": "int: 1"},
    Tree("", (Leaf("[0][0]", snapshot(ONE)),)),
    {"grad mode": True},
)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda w: w, None),
        (lambda w: replace(w, state=state({"n": ONE + 1})), ("export", "buffer", "value")),
        (lambda w: replace(w, state=state()), ("export", "buffer", "missing")),
        (lambda w: replace(w, state=replace(w.state, same=(frozenset("nk"),))), None),
        (lambda w: replace(w, training={"": False}), ("export", "training flag")),
        (lambda w: replace(w, hooks={"": 1}), ("export", "hooks")),
        (lambda w: replace(w, attributes={}), ("export", "attribute")),
        (lambda w: replace(w, process_state={"grad mode": False}), ("export", "global", "grad mode")),
        (
            lambda w: replace(w, inputs=Tree("", (Leaf("[0][0]", snapshot(ONE.view(1, 2))),))),
            ("export", "input", "shape"),
        ),
    ],
)
def test_purity(change: Callable[[Environment], Environment], what: tuple[str, ...] | None) -> None:
    touched = replace(seen(), stage_effects=(StageEffect("export", BEFORE, change(BEFORE)),))
    assert whats("purity", seen(), touched) == ([what] if what else [])


def test_sharing_that_export_undoes_is_told() -> None:
    tensors = state({"a": ONE, "b": ONE}).tensors
    before, after = State(tensors, {}, AB, AB), State(tensors, {})
    for ours, theirs in ((before, after), (after, before)):
        touch = StageEffect("export", replace(BEFORE, state=ours), replace(BEFORE, state=theirs))
        assert whats("purity", seen(), replace(seen(), stage_effects=(touch,))) == [("export", "sharing")]


def test_a_new_name_shares_nothing_that_was_shared_before() -> None:
    shared = (frozenset({"n", "left behind"}),)
    after = State(state({"n": ONE}).tensors, state({"left behind": ONE}).tensors, shared, shared)
    touch = StageEffect("export", BEFORE, replace(BEFORE, state=after))
    assert whats("purity", seen(), replace(seen(), stage_effects=(touch,))) == []


def test_a_buffer_that_changes_because_it_is_a_constant_is_told_once() -> None:
    shared = (frozenset({"n", "k"}),)
    before = State(state({"n": ONE}).tensors, state({"k": ONE}).tensors, shared, shared)
    after = State(state({"n": ONE + 1}).tensors, state({"k": ONE + 1}).tensors, shared, shared)
    touch = StageEffect("export", replace(BEFORE, state=before), replace(BEFORE, state=after))
    (found,) = run("purity", seen(), replace(seen(), stage_effects=(touch,)))
    assert found.words() == ("export", "constant", "value") and found.relation is Relation.SPOILS_START
