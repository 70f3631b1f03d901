"""How to show findings of the purity check: what export, lowering or a call changes around the model."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.purity import (
    FAKE,
    ExampleInputChanged,
    HeldTensorChanged,
    ModuleChanged,
    Printed,
    ProcessChanged,
    ProcessLeftDifferent,
    StateChanged,
    StateCreated,
    StateSharingChanged,
)
from exportdiff.repro.deviating_calls import deviating_parts
from exportdiff.repro.observe_functions import observing, observing_leaves
from exportdiff.repro.parts import ScriptParts, last_call
from exportdiff.repro.paste import Template
from exportdiff.repro.templates import observers
from exportdiff.repro.templates.scripts import compare
from exportdiff.repro.templates.stand_ins import (
    AMBIENT,
    CALLS,
    FACT,
    LOWERS,
    OWNER,
    SEVERAL,
    altered,
    ep,
    export,
    inputs,
    lower,
    make,
    observe,
)
from exportdiff.runtime.observing.environment import fakes_in_objects, graph_outline
from exportdiff.runtime.observing.process_state import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.finding import Finding
    from exportdiff.repro.paste import Values


# --- what is observed ---


def parameters(module: Any) -> dict[str, str]:
    """Return the WORD of each parameter."""
    return {f"WORD of {name}": str(FACT(t)) for name, t in module.named_parameters(remove_duplicate=False)}


def buffers(module: Any) -> dict[str, str]:
    """Return the WORD of each buffer."""
    return {f"WORD of {name}": str(FACT(t)) for name, t in module.named_buffers(remove_duplicate=False)}


def state_names(module: Any) -> dict[str, str]:
    """Return the classes of parameters and buffers."""
    state = [*module.named_parameters(remove_duplicate=False)]
    return {n: type(t).__name__ for n, t in [*state, *module.named_buffers(remove_duplicate=False)]}


def sharing(module: Any) -> dict[str, Any]:
    """Return which tensor each name stands for, and its memory."""
    modules = module.named_modules(remove_duplicate=False)
    stores = [(p, {**m._parameters, **m._buffers, **vars(m)}) for p, m in modules]
    state = [(f"{p}.{n}", t) for p, store in stores for n, t in store.items()]
    real = (torch.Tensor, torch.nn.Parameter)  # fake tensors that are left there are another finding
    return {f"tensor of {n}": (id(t), t.untyped_storage()._cdata) for n, t in state if type(t) in real}


def training_flags(module: Any) -> dict[str, bool]:
    """Return the training flag of each module."""
    return {f"{name}.training": m.training for name, m in module.named_modules(remove_duplicate=False)}


def hooks(module: Any) -> dict[str, list[int]]:
    """Return how many hooks each module has."""
    modules = module.named_modules(remove_duplicate=False)
    kinds = ["_forward_hooks", "_forward_pre_hooks", "_state_dict_hooks"]
    return {f"hooks of {name}": [len(getattr(m, k)) for k in kinds] for name, m in modules}


def attribute(module: Any) -> dict[str, str]:
    """Return one attribute of a module."""
    value = getattr(OWNER, "NAME", None)
    return {"WORD": f"a tensor, id {id(value)}" if isinstance(value, torch.Tensor) else repr(value)}


def held_tensor(module: Any) -> dict[str, str]:
    """Return the WORD of a tensor that a module holds in a list, tuple or dict."""
    t = OWNER
    return {"WORD": str(FACT(t))}


def fakes(module: Any) -> dict[str, str]:
    """Return the fake tensors that objects and functions hold."""
    return fakes_in_objects(module)


def marked_sizes(given: Any) -> dict[str, Any]:
    """Return which sizes of the example inputs are marked as dynamic or static."""
    leaves = [t for t in torch.utils._pytree.tree_leaves(given) if isinstance(t, torch.Tensor)]
    marks = [{n: d for n, d in vars(t).items() if n.endswith("_indices") and d} for t in leaves]
    return {"sizes marked on the example inputs": marks}


def graph() -> dict[str, Any]:
    """Return the nodes of the exported program."""
    return {"graph of the exported program": graph_outline(ep)}


def setting() -> dict[str, Any]:
    """Return the WORD, which is set for the whole process."""
    return {"WORD": AMBIENT()}


# --- scripts ---


def around_export() -> Any:
    """Observe before and after the export."""
    model, args, kwargs = make()
    expected = observe((), (args, kwargs), model)
    with contextlib.suppress(Exception):  # it may refuse, but must leave all as it was
        export(model)
    seen = observe((), (args, kwargs), model)
    return expected, seen


def around_lowering() -> Any:
    """Observe before and after lowering."""
    model, args, kwargs = make()
    ep = export(model)
    expected = observe((), (args, kwargs), model)
    lower(ep)
    seen = observe((), (args, kwargs), model)
    return expected, seen


def around_calling() -> Any:
    """Observe before and after a call of what was lowered."""
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    expected = observe((), (args, kwargs), model)
    candidate(*args, **kwargs)
    seen = observe((), (args, kwargs), model)
    return expected, seen


def calls_of_each() -> Any:
    """Observe what is set after one or several calls of each; the last one may raise, in eager as well."""
    eager, args, kwargs = make()
    for call in range(CALLS):
        if SEVERAL:
            args, kwargs = inputs(call)
        with contextlib.suppress(Exception):
            eager(*args, **kwargs)
    expected = observe()
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    for call in range(CALLS):
        if SEVERAL:
            args, kwargs = inputs(call)
        with contextlib.suppress(Exception):
            candidate(*args, **kwargs)
    seen = observe()
    return expected, seen


def deviating_call_of_each() -> Any:
    """Observe what is set after a call of each that deviates from the example; it may raise."""
    eager, args, kwargs = make()
    with altered(eager):
        with contextlib.suppress(Exception):
            eager(*args, **kwargs)
        expected = observe()
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    with altered(candidate):
        with contextlib.suppress(Exception):
            candidate(*args, **kwargs)
        seen = observe()
    return expected, seen


def compare_before_after(expected: dict[str, Any], seen: dict[str, Any]) -> None:
    """Say what was changed."""
    wrong = [n for n in {**expected, **seen} if seen.get(n) != expected.get(n)]
    for n in wrong[:1]:
        print(f"BUG: {n}: {expected.get(n)} before STAGE, {seen.get(n)} after it"[:500])
    if not wrong:
        print("ok: STAGE leaves all as it was")
    sys.exit(bool(wrong))


def print_while() -> str:
    """Export, or lower, and keep what is printed."""
    model, args, kwargs = make()
    if LOWERS:
        ep = export(model)
    printed = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(printed):
        if LOWERS:
            lower(ep)
        else:
            export(model)
    text = printed.getvalue().strip()
    return text


def report_print(text: str) -> None:
    """Say what was printed."""
    print(f"BUG: it prints {text[:80]!r}" if text else "ok: nothing is printed")
    sys.exit(bool(text))


_STATE = {"parameter": parameters, "buffer": buffers, "constant": observers.constants}
_MODULES = {"training flag": training_flags, "hooks": hooks}


def write(finding: Finding) -> ScriptParts | None:
    """Write down what export or lowering changes or prints."""
    match finding.evidence:
        case Printed(stage=stage, stream=stream):
            values: Values = {"redirect_stdout": f"redirect_{STREAMS[stream]}", "LOWERS": stage == "lower"}
            return ScriptParts([], [Template(print_while, values), Template(report_print)])
        case HeldTensorChanged(aspect=aspect, name=name):
            return _around(finding, [observing(held_tensor, aspect, OWNER=_written(name))], "module")
        case StateChanged(sort=sort, aspect=aspect):
            return _around(finding, [observing(_STATE[sort], aspect)], "module")
        case StateCreated():
            return _around(finding, [Template(state_names, name="observe")], "module")
        case StateSharingChanged():
            return _around(finding, [Template(sharing, name="observe")], "module")
        case ModuleChanged(sort=sort) if sort == FAKE:
            return _around(finding, [Template(fakes_in_objects), Template(fakes, name="observe")], "module")
        case ModuleChanged(sort=sort) if sort in _MODULES:
            return _around(finding, [Template(_MODULES[sort], name="observe")], "module")
        case ModuleChanged(names=(name, *_)):
            owner, _, key = name.rpartition(".")
            values = {"OWNER": _written(owner), "NAME": key, "WORD": name}
            return _around(finding, [Template(attribute, values, name="observe")], "module")
        case ExampleInputChanged(leaf=leaf):
            return _around(finding, [observing_leaves(leaf.word, "input")], "given")
        case ProcessChanged(names=("sizes marked on the example inputs", *_)):
            return _around(finding, [Template(marked_sizes, name="observe")], "given")
        case ProcessChanged(names=("graph of the exported program", *_)):
            return _around(finding, [Template(graph_outline), Template(graph, name="observe")])
        case ProcessChanged(names=(name, *_)):
            return _around(finding, [observing_setting(name)])
        case ProcessLeftDifferent(name=name, altered=None):
            calls = Template(calls_of_each, {"SEVERAL": bool(finding.call)})
            functions = [observing_setting(name)]
            return ScriptParts(functions, [calls, Template(compare)], call=last_call(finding))
        case ProcessLeftDifferent(name=name, altered=deviation) if deviation is not None:
            script = [Template(deviating_call_of_each), Template(compare)]
            return deviating_parts(deviation, [observing_setting(name)], script)
    return None


def _written(name: str) -> str:
    """Return the expression for what a name means: ``module.blocks._modules['0'].k`` for ``blocks.0.k``."""

    def part(match: re.Match[str]) -> str:
        key = match["key"]
        return match[0] if key is None or key.isidentifier() else f"._modules[{key!r}]"

    return "module" + re.sub(r"\[[^]]*\]|\.(?P<key>[^.[]+)", part, f".{name}" if name else "")


STREAMS = {"standard output": "stdout", "standard error": "stderr"}


def _around(finding: Finding, functions: list[Template], *observes: str) -> ScriptParts:
    """Return parts that observe before and after a stage."""
    script, stage = _STAGES[finding.stage]
    end = Template(compare_before_after, {"STAGE": stage})
    return ScriptParts(functions, [Template(script), end], observes=observes)


_STAGES: dict[str, tuple[Callable[..., Any], str]] = {
    "export": (around_export, "export"),
    "lower": (around_lowering, "making the RUNNER"),
    "run": (around_calling, "a call of the RUNNER"),
}
"""By stage: the script that observes before and after it, and the name of the stage in the script."""


def observing_setting(name: str) -> Template:
    """Return a function that observes what is set for the whole process under a name."""
    return Template(setting, {"WORD": name, "AMBIENT": SETTINGS[name]}, name="observe")
