"""How to show what only a path that compiles can show: the model itself runs compiled."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.guards.deviations import WrongAnswer
from exportdiff.judging.checks.guards.recompiles import DeviatingCallRaised, Recompiled
from exportdiff.judging.checks.inputs import InputLeaf, InputStructure
from exportdiff.judging.checks.outputs import OutputAttribute, OutputLeaf, OutputStructure
from exportdiff.judging.checks.purity import ProcessLeftDifferent
from exportdiff.judging.checks.state import AttributeDiffers, StateLeaf, UpdateLost
from exportdiff.repro.deviating_calls import deviating_parts
from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.templates import observers
from exportdiff.repro.templates.scripts import compare
from exportdiff.repro.templates.stand_ins import (
    CALLS,
    SEVERAL,
    WORDED,
    WORDS,
    altered,
    inputs,
    lower,
    make,
    observe,
)
from exportdiff.repro.writers.crashes import exception_words
from exportdiff.repro.writers.inputs import observing_inputs
from exportdiff.repro.writers.outputs import observing_outputs
from exportdiff.repro.writers.purity import STREAMS, observing_setting
from exportdiff.repro.writers.state import observing_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.finding import Finding


# --- equal calls that compile again ---


def noted(model: Any) -> Callable[[], None]:
    """Save what the model holds; return a function that restores it."""
    stores: list[Any] = [vars(m) for m in model.modules()]
    stores += [each for store in stores for each in store.values() if isinstance(each, (dict, list))]
    kept = [(store, store.copy()) for store in stores]
    held = [t for store in stores for t in (store.values() if isinstance(store, dict) else store)]
    values = [(t, t.detach().clone(), t.requires_grad) for t in held if isinstance(t, torch.Tensor)]

    def undo() -> None:
        for store, content in kept:
            store.clear()
            (store.extend if isinstance(store, list) else store.update)(content)
        for tensor, value, requires_grad in values:
            tensor.data = value
            tensor.detach_().requires_grad_(requires_grad)

    return undo


def call_again() -> None:
    """Make two equal calls, and say what the second compiles."""
    model, args, kwargs = make()
    candidate = lower(model)
    undo = noted(model)
    candidate(*args, **kwargs)
    undo()
    args, kwargs = inputs()
    torch._dynamo.utils.clear_compilation_metrics()
    candidate(*args, **kwargs)
    again = torch._dynamo.utils.get_compilation_metrics()
    again = [m for m in again if "_higher_order_ops" not in str(m.co_filename)]
    for m in again[:1]:
        reason = str(m.recompile_reason).partition("\n")[0][:200]
        print(f"BUG: a second call with equal inputs compiles {m.co_name} again: {reason}")
    if not again:
        print("ok: a second call with equal inputs compiles nothing")
    sys.exit(bool(again))


# --- calls of eager and then of what is compiled ---
# One after the other: a model may leave other modes, and the next call begins with them.


def calls_of_each() -> Any:
    """Observe one call on each side, or the last of several."""
    sides = []
    for side in ("eager", "torch.compile"):
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        model, args, kwargs = make()
        run = lower(model) if side == "torch.compile" else model
        for call in range(CALLS):
            if SEVERAL:
                args, kwargs = inputs(call)
            torch.manual_seed(call)
            out = run(*args, **kwargs)
        sides.append(observe(out, (args, kwargs), model))
    expected, seen = sides
    return expected, seen


def deviating_call_of_each() -> Any:
    """Observe on each side what is set after a call that deviates from the first."""
    sides = []
    for side in ("eager", "torch.compile"):
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        model, args, kwargs = make()
        run = lower(model) if side == "torch.compile" else model
        torch.manual_seed(0)
        run(*args, **kwargs)
        args, kwargs = inputs()
        with altered(run):
            with contextlib.suppress(Exception):  # it may raise, in eager as well
                run(*args, **kwargs)
            sides.append(observe())
    expected, seen = sides
    return expected, seen


def attributes(module: Any) -> dict[str, Any]:
    """Return plain attributes, training flags and the number of hooks."""
    own = vars(torch.nn.Module()).keys() - {"training"} | {"_is_torch_compile", "_compiled_call_impl"}
    modules = module.named_modules(remove_duplicate=False)
    pairs = [(f"{n}.{k}".strip("."), v) for n, m in modules for k, v in vars(m).items()]
    named = {k: v for k, v in pairs if k.rpartition(".")[2] not in own}
    hooks = {k: len(v) for k, v in pairs if k.endswith("_hooks") and isinstance(v, dict)}
    return {k: type(v).__name__ if isinstance(v, torch.Tensor) else repr(v) for k, v in named.items()} | hooks


def compare_prints() -> None:
    """Say whether only one side prints."""
    printed = []
    for side in ("eager", "torch.compile"):
        model, args, kwargs = make()
        run = lower(model) if side == "torch.compile" else model
        with contextlib.redirect_stdout(io.StringIO()) as text:
            run(*args, **kwargs)
        printed.append(text.getvalue())
    bug = bool(printed[0]) != bool(printed[1])
    print(f"{'BUG' if bug else 'ok'}: eager prints {printed[0]!r}, torch.compile {printed[1]!r}"[:500])
    sys.exit(bug)


# --- calls that deviate from the one that was compiled ---


def call_both_deviating() -> None:
    """Call both as in the example, and then deviate from it."""
    eager, args, kwargs = make()
    eager(*args, **kwargs)
    args, kwargs = inputs()
    with altered(eager):
        expected = observe(eager(*args, **kwargs), (args, kwargs), eager)
    model, args, kwargs = make()
    candidate = lower(model)
    candidate(*args, **kwargs)
    args, kwargs = inputs()
    with altered(candidate):
        seen = observe(candidate(*args, **kwargs), (args, kwargs), candidate)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: {n} is {seen[n]} instead of {expected[n]}"[:500])
    if not wrong:
        print("ok: torch.compile gives what eager gives")
    sys.exit(bool(wrong))


def try_both_deviating() -> None:
    """Call both as in the example, and then deviate from it: only what is compiled raises."""
    eager, args, kwargs = make()
    eager(*args, **kwargs)
    args, kwargs = inputs()
    with altered(eager):
        eager(*args, **kwargs)
    model, args, kwargs = make()
    candidate = lower(model)
    candidate(*args, **kwargs)
    args, kwargs = inputs()
    with altered(candidate):
        try:
            candidate(*args, **kwargs)
        except Exception as error:
            if type(error).__name__ != "ERROR":
                raise
            if WORDED and WORDS not in str(error):
                raise
            print(f"BUG: torch.compile raises {type(error).__name__}: {str(error).strip()[:200]!r}")
            sys.exit(1)
    print("ok: torch.compile raises nothing, as eager does")
    sys.exit(0)


def write(finding: Finding) -> ScriptParts | None:
    """Write down what a compiled model does in another way than the same model, called in the same order."""
    match finding.evidence:
        case Recompiled():
            return ScriptParts([Template(noted)], [Template(call_again)])
        case WrongAnswer(altered=altered):
            functions = [Template(observers.everything, name="observe")]
            return deviating_parts(altered, functions, [Template(call_both_deviating)])
        case DeviatingCallRaised(altered=altered, failure=failure):
            return deviating_parts(altered, [], [Template(try_both_deviating, exception_words(failure))])
        case ProcessLeftDifferent() as evidence:
            return _setting(finding, evidence)
        case OutputStructure() | OutputLeaf() | OutputAttribute() as evidence:
            return _calls(finding, observing_outputs(evidence), "out")
        case InputStructure() | InputLeaf() as evidence:
            return _calls(finding, observing_inputs(evidence), "given")
        case StateLeaf() | UpdateLost() as evidence:
            return _calls(finding, observing_state(finding, evidence), "module")
        case AttributeDiffers():
            return _calls(finding, Template(attributes, name="observe"), "module")
    return None


def _calls(finding: Finding, observe: Template, *observes: str) -> ScriptParts:
    calls = Template(calls_of_each, {"SEVERAL": bool(finding.call)})
    return ScriptParts([observe], [calls, Template(compare)], call=last_call(finding), observes=observes)


def _setting(finding: Finding, evidence: ProcessLeftDifferent) -> ScriptParts:
    """Write down what calls leave changed for the whole process."""
    stream = evidence.name.removeprefix("text on ")
    if stream in STREAMS:
        return ScriptParts([], [Template(compare_prints, {"redirect_stdout": f"redirect_{STREAMS[stream]}"})])
    observe = observing_setting(evidence.name)
    if evidence.altered is not None:
        script = [Template(deviating_call_of_each), Template(compare)]
        return deviating_parts(evidence.altered, [observe], script)
    return _calls(finding, observe)
