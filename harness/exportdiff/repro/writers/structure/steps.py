"""How to show that what runs is not what was exported.

The evidence names the operator that differs, so that a script looks at this operator only, in ``ep.module()``
and in what was rebuilt. It does not repeat the comparison of the check.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.judging.checks.structure.check import GraphBroken
from exportdiff.judging.checks.structure.translation import StepDiffers, StepMoved
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.stand_ins import (
    ALIASES,
    HAS_ALIASES,
    HOLDS_GRAPHS,
    IN_PROGRAM,
    IN_REBUILT,
    LOWERS,
    MISSING,
    OPERAND,
    OTHER_IN_PROGRAM,
    OTHER_IN_REBUILT,
    PRESERVES,
    export,
    lower,
    make,
)
from exportdiff.repro.writers.structure.common import verdict
from exportdiff.repro.writers.structure.modules import graph_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.core.finding import Finding
    from exportdiff.judging.checks.structure.translation import Occurrence
    from exportdiff.repro.paste import Values

# --- functions ---


def called_module(owner: Any, target: str) -> Any:
    """Return the module that a graph calls; where each call has its own graph, the next one."""
    child = owner.get_submodule(target)
    if not hasattr(child, "_call_modules"):
        return child
    child._call_modules.append(child._call_modules.pop(0))
    return child._call_modules[-1]


def steps_of(owner: Any, graph: Any, calls: Any = ()) -> Iterator[Any]:
    """Yield the operators that run: the module that has the graph, the node, the calls under way."""
    for node in graph.nodes:
        if node.op == "call_module":
            child = called_module(owner, node.target)
            name = re.sub(r"@\d+", "", f"{calls[-1][0]}.{node.target}" if calls else node.target)
            yield from steps_of(child, child.graph, (*calls, (name, object())))
        elif node.op == "call_function":
            yield owner, node, calls


def is_call_of(node: Any, name: str) -> bool:
    """Return whether a node calls the operator of this name."""
    return name in (str(node.target), getattr(node.target, "__name__", ""))


def find(steps: Any, name: str, number: int) -> Any:
    """Return a list of one step: the one with this number among those of an operator. It may be missing."""
    return [step for step in steps if is_call_of(step[1], name)][number : number + 1]


def arguments(owner: Any, node: Any) -> str:
    """Return the arguments of an operator as text, with % for results of other operators."""

    def text(argument: Any) -> str:
        if HOLDS_GRAPHS:
            held = getattr(owner, argument.target, None) if argument.op == "get_attr" else None
            if isinstance(held, torch.fx.GraphModule):
                return graph_text(held)
        return "%"

    return str(torch.fx.map_arg((node.args, node.kwargs), text))


def recorded_stack(node: Any) -> Any:
    """Return the calls that export recorded, up to one of a module that is not below its caller."""
    calls: list[Any] = []
    for key, (path, _) in node.meta.get("nn_module_stack", {}).items():
        if path and calls and not path.startswith(f"{calls[-1][0]}."):
            break
        calls += [(path, key)] if path else []
    return calls


class Follower:
    """Follows graphs, and notes what each operator reads: inputs, state and results, as text with a %."""

    def __init__(self) -> None:
        """Begin with no steps."""
        self.steps: list[Any] = []
        self.written: dict[str, str] = {}

    def run(self, owner: Any, graph: Any, given: Iterable[Any], named: Any, above: str = "") -> Any:
        """Follow a graph, and the graphs of the submodules that it calls, and return its outputs."""
        env: dict[Any, Any] = {}
        given = iter(given)
        for node in graph.nodes:
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: env[n])
            if node.op == "placeholder":
                env[node] = named[node.target] if node.target in named else next(given)
            elif node.op == "output":
                return args[0]
            elif node.op == "get_attr":
                *path, key = node.target.split(".")
                held = getattr(owner.get_submodule(".".join(path)), key)
                name = re.sub(r"@\d+", "", above + node.target)
                if HAS_ALIASES:
                    name = ALIASES.get(name, name)
                env[node] = f"%{name}" if isinstance(held, torch.Tensor) else held
            elif node.op == "call_module":
                child = called_module(owner, node.target)
                env[node] = self.run(child, child.graph, args, kwargs, f"{above}{node.target}.")
            else:
                env[node] = self.add(node, args, kwargs)
        raise ValueError(f"the graph of {above or 'the root'} returns nothing")

    def add(self, node: Any, args: Any, kwargs: Any) -> Any:
        """Note an operator, and return what its result is: of one in place, its first operand."""
        if PRESERVES and "tree_" in str(node.target):
            return node.target(*args)
        if PRESERVES and is_call_of(node, "getitem") and not isinstance(args[0], str):
            return args[0][args[1]]
        reads = operands((args, kwargs))
        if is_call_of(node, "aten.copy_.default"):
            self.written[reads[0]] = reads[-1]
        else:
            reads = [self.written.get(name, name) for name in reads]
        result = f"%{node.target} {sum(step[1].target is node.target for step in self.steps)}"
        self.steps.append((result, node, reads))
        in_place = re.search(r"[a-z]_$", getattr(node.target, "_opname", ""))
        return reads[0] if in_place and reads else result


def in_common(*calls: Any) -> list[str]:
    """Return the modules of the outer calls that are the same for all."""
    pairs = zip(*calls, strict=False)
    return [first[0] for first, *_ in itertools.takewhile(lambda pair: len({*pair}) == 1, pairs)]


def operands(arguments: Any) -> list[str]:
    """Return what is read, of all arguments of an operator."""
    return [leaf for leaf in torch.utils._pytree.tree_leaves(arguments) if str(leaf)[:1] == "%"]


def followed(module: Any, graph: Any) -> Any:
    """Return the steps that matter, each with what it reads; the last one returns."""
    follower = Follower()
    given = [f"%input {i}" for i, _ in enumerate(graph.find_nodes(op="placeholder"))]
    returned = operands(follower.run(module, graph, given, {}))
    wanted, steps = set(returned), [(module, graph.output_node(), returned)]
    for result, node, reads in reversed(follower.steps):
        if result in wanted or node.is_impure():
            wanted.update(reads)
            steps.append((module, node, reads))
    return steps[::-1]


# --- scripts ---


def list_both() -> Any:
    """List the operators of both."""
    model, args, kwargs = make()
    ep = export(model)
    exported = ep.module(check_guards=False)
    ours = [*steps_of(exported, exported.graph)]
    candidate = lower(ep)
    theirs = [*steps_of(candidate, candidate.graph)]
    return ours, theirs


def follow_both() -> Any:
    """Follow the graphs of both."""
    model, args, kwargs = make()
    ep = export(model)
    exported = ep.module(check_guards=False)
    ours = followed(exported, exported.graph)
    candidate = lower(ep)
    theirs = followed(candidate, candidate.graph)
    return ours, theirs


def compare_numbers(ours: Any, theirs: Any) -> list[str]:
    """Count the calls of one operator."""
    a, b = (sum(is_call_of(node, "OPERATOR") for _, node, _ in steps) for steps in (ours, theirs))
    differs = a > b if MISSING else a < b
    bug = [f"OPERATOR is {a} times in the program, RUNNER runs it {b} times"] if differs else []
    return bug


def compare_order(ours: Any, theirs: Any) -> list[str]:
    """Compare the order of two operators."""
    names = ("OPERATOR", "OTHER")
    a, b = ([n for _, node, _ in steps for n in names if is_call_of(node, n)] for steps in (ours, theirs))
    bug = [f"the program has {a}, RUNNER runs {b}"] if a != b else []
    return bug


def compare_arguments(ours: Any, theirs: Any) -> list[str]:
    """Compare the arguments of one call of an operator."""
    a = [arguments(owner, node) for owner, node, _ in find(ours, "OPERATOR", IN_PROGRAM)]
    b = [arguments(owner, node) for owner, node, _ in find(theirs, "OPERATOR", IN_REBUILT)]
    bug = [f"OPERATOR gets {b}, in the program {a}"] if a != b else []
    return bug


def compare_operands(ours: Any, theirs: Any) -> list[str]:
    """Compare what one call of an operator reads."""
    a = [reads[OPERAND] for _, _, reads in find(ours, "OPERATOR", IN_PROGRAM)]
    b = [reads[OPERAND] for _, _, reads in find(theirs, "OPERATOR", IN_REBUILT)]
    bug = [f"OPERATOR reads {b}, in the program {a}"] if a != b else []
    return bug


def compare_modules(ours: Any, theirs: Any) -> list[str]:
    """Compare the modules that one call of an operator is in."""
    a = [[name for name, _ in recorded_stack(node)] for _, node, _ in find(ours, "OPERATOR", IN_PROGRAM)]
    b = [[name for name, _ in calls] for _, _, calls in find(theirs, "OPERATOR", IN_REBUILT)]
    bug = [f"OPERATOR runs in calls of {b}, in the program it is in calls of {a}"] if a != b else []
    return bug


def compare_calls(ours: Any, theirs: Any) -> list[str]:
    """Compare which calls of submodules two operators have in common."""
    pair = find(ours, "OTHER", OTHER_IN_PROGRAM) + find(ours, "OPERATOR", IN_PROGRAM)
    a = in_common(*(recorded_stack(node) for _, node, _ in pair))
    pair = find(theirs, "OTHER", OTHER_IN_REBUILT) + find(theirs, "OPERATOR", IN_REBUILT)
    b = in_common(*(calls for _, _, calls in pair))
    bug = [f"OTHER and OPERATOR have the calls of {b} in common, in the program {a}"] if a != b else []
    return bug


def try_to_follow() -> list[str]:
    """Follow the exported graph, or those of what was rebuilt."""
    bug: list[str] = []
    model, args, kwargs = make()
    ep = export(model)
    if LOWERS:
        candidate = lower(ep)
    try:
        if LOWERS:
            followed(candidate, candidate.graph)
        else:
            ep.graph.lint()
            followed(ep.graph_module, ep.graph)
    except Exception as error:
        bug.append(f"{type(error).__name__}: {str(error)[:200]!r}")
    return bug


# --- what a finding needs ---

_LISTED = (called_module, steps_of, is_call_of)
_FOLLOWED = (called_module, is_call_of, operands, Follower, followed)
_SAME = verdict("RUNNER runs what was exported")


def write(evidence: StepDiffers | StepMoved | GraphBroken, finding: Finding) -> ScriptParts:
    """Write down other operators, operators that run in other calls, and graphs that cannot be followed."""
    preserves = any(name.startswith("preserve") for name in finding.transforms)
    values: Values = {"PRESERVES": preserves, "HAS_ALIASES": False}
    match evidence:
        case StepDiffers():
            return _differing(evidence, preserves=preserves)
        case StepMoved(word="owner"):
            functions = [Template(each) for each in (*_LISTED, find, recorded_stack)]
            comparing = Template(compare_modules, _values(*evidence.places))
            return ScriptParts(functions, [Template(list_both), comparing, _SAME], of_program=True)
        case StepMoved():
            functions = [Template(each) for each in (*_LISTED, find, recorded_stack, in_common)]
            comparing = Template(compare_calls, _values(*evidence.places, *evidence.before))
            return ScriptParts(functions, [Template(list_both), comparing, _SAME], of_program=True)
        case GraphBroken(stage=stage):
            functions = [Template(each, values) for each in _FOLLOWED]
            attempt = Template(try_to_follow, {"LOWERS": stage == "lower"})
            end = verdict("the graphs can be followed to their ends")
            return ScriptParts(functions, [attempt, end], of_program=True)


def _differing(evidence: StepDiffers, *, preserves: bool) -> ScriptParts:
    """Write down the difference of one operator."""
    ours, theirs = evidence.places
    what = evidence.what[0]
    follows = what == "operands" or evidence.dead or ours.operator == "return"
    functions: list[Any] = [*(_FOLLOWED if follows else _LISTED)]
    values: Values = {
        **_values(ours, theirs),
        "PRESERVES": preserves,
        "MISSING": what == "missing",
        "OPERAND": str(evidence.operand),
        "HAS_ALIASES": bool(evidence.aliases),
        "ALIASES": repr(dict(evidence.aliases)),
        "HOLDS_GRAPHS": ours.holds_graphs,
    }
    if what == "arguments":
        functions += [find, *([graph_text] if ours.holds_graphs else []), arguments]
    elif what == "operands":
        functions += [find]
    script = [Template(follow_both if follows else list_both), Template(_COMPARING[what], values), _SAME]
    return ScriptParts([Template(function, values) for function in functions], script, of_program=True)


_COMPARING = {
    "missing": compare_numbers,
    "extra": compare_numbers,
    "order": compare_order,
    "arguments": compare_arguments,
    "operands": compare_operands,
}


def _values(*places: Occurrence) -> Values:
    """Return the texts for an operator in the program and in what was rebuilt, and for another one."""
    numbers = ("IN_PROGRAM", "IN_REBUILT", "OTHER_IN_PROGRAM", "OTHER_IN_REBUILT")
    values = {name: str(place.number) for name, place in zip(numbers, places, strict=False)}
    names = [each.operator if each.operator != "return" else "output" for each in (places[0], places[-1])]
    return {"OPERATOR": names[0], "OTHER": names[1], **values}
