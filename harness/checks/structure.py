"""structure: the modules that eager called are there, each call runs its own graph, in eager's order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from harness.checks.registry import Difference, mismatch
from harness.checks.state import sort_of
from harness.structure import Visit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.findings import Stage
    from harness.observation import Observation
    from harness.snapshot import State
    from harness.structure import Exported, Frames, Hierarchy, Listing, Operand, Rebuilt, Step

NOT_PROMISED = {
    "a call that leaves no operators has no graph": "torch/export/unflatten.py, _sink_params: 'Not all "
    "modules have graphs defined, if they are empty modules with no operations'",
    "an operator on sizes alone is filed under whoever asked first, or nobody": "pytorch issue 132930; "
    "torch/_export/passes/_node_metadata_hook.py",
    "a call of a module that is not below its caller is part of the caller's graph": "pytorch PR 159418, "
    "torch/export/unflatten.py, _fix_nn_module_stacks",
    "a call inside no_grad, autocast or a control-flow operator is part of the graph that the operator "
    "holds, and has none of its own": "pytorch PR 138978",
    "a fx.GraphModule is traced like a function": "torch/fx/experimental/proxy_tensor.py, "
    "_ModuleStackTracer.call_module: 'For now, we just inline them'",
    "strict mode takes one name for all of a tensor": "pytorch PRs 124892 and 125758; "
    "torch/export/unflatten.py, UnflattenedModule.__init__, on aliasing",
}
"""What torch.export leaves open, and where it says so: none of this is a difference."""


def structure(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare modules, calls and graphs with those of eager and of the exported program."""
    for difference in _compare(reference, candidate):
        yield replace(difference, follows=True)


def _compare(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    hierarchy, program, rebuilt = reference.hierarchy, candidate.exported, candidate.rebuilt
    if hierarchy is None or program is None:
        return
    yield from _signature(program)
    if reference.before is not None:
        yield from _names(hierarchy, reference.before, program)
    if program.listing is None:
        yield _different("export", ("graph", "broken"), f"the exported graph is broken: {program.broken}")
        return
    told = list(_recorded_calls(hierarchy, program.listing))
    yield from told
    if rebuilt is not None:
        yield from _modules(hierarchy, program, rebuilt)
        if rebuilt.listing is not None:
            if not told:  # the rebuilt module can only repeat what the graph says
                yield from _made_calls(hierarchy, rebuilt)
            same = {name: min(group) for group in program.same for name in group}
            sorts = {} if reference.before is None else _sorts(reference.before)
            yield from _steps(program.listing, rebuilt, rebuilt.listing, _Names(same, sorts))


def _different(stage: Stage, what: tuple[str, ...], *message: str) -> Difference:
    return mismatch(what, *message, stage=stage)


def _signature(program: Exported) -> Iterator[Difference]:
    """Compare the inputs and outputs of the graph with what the signature says of them."""
    for side, specs, actual in (
        ("inputs", program.inputs, program.placeholders),
        ("outputs", program.outputs, program.returned),
    ):
        told = [spec.name for spec in specs]
        # An output that is no tensor has a name in the signature, and none in the graph.
        if len(told) != len(actual) or any(a and a != b for a, b in zip(actual, told, strict=True)):
            yield _different(
                "export",
                ("signature", side),
                f"the {side} of the graph are not those of its signature",
                f"graph: {_list(actual)}; signature: {_list(told)}",
            )


def _names(hierarchy: Hierarchy, state: State, program: Exported) -> Iterator[Difference]:
    """Compare the names in the program's tables with eager's, and with each other."""
    for what, expected, seen in (
        ("module_call_graph", list(hierarchy.first), [n for n in program.call_graph if "@" not in n]),
        ("state_dict", sorted(hierarchy.persistent), sorted(program.state)),
    ):
        if expected != seen:
            yield _different(
                "export", ("names", what), f"{what} has other names than eager", *_lists(expected, seen)
            )
    for spec in program.inputs:
        if spec.kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            continue
        expected_kind = _kind(hierarchy, state, spec.target)
        kind = f"{spec.kind.lower()}{', not in the state dict' if spec.persistent is False else ''}"
        kept = spec.kind == "PARAMETER" or (spec.kind == "BUFFER" and spec.persistent)
        stored = program.state if kept else program.constants
        if expected_kind not in (kind, None):
            yield _different(
                "export",
                ("signature", "kind", spec.kind.lower()),
                f"the signature calls {spec.target} a {kind}, in eager it is a {expected_kind}",
            )
        elif spec.target not in stored:
            yield _different(
                "export",
                ("signature", "target", spec.kind.lower()),
                f"the signature has {spec.target}, a {kind}, and the program holds none of that name",
            )


def _kind(hierarchy: Hierarchy, state: State, name: str) -> str | None:
    if name not in state.tensors:
        return None
    kind = sort_of(state.tensors[name])
    return kind if name in hierarchy.persistent else f"{kind}, not in the state dict"


class _Tree(NamedTuple):
    """One call, by the first name of its module, and the calls during it."""

    module: str
    must: bool
    """Whether it cannot be left out."""
    children: list[_Tree]


def _forest(visits: Iterable[Visit], hierarchy: Hierarchy) -> list[_Tree]:
    """Put each call below the one during which it was made; those of graph modules are left out."""
    roots: list[_Tree] = []
    lists: list[list[_Tree]] = []
    for module, within, computes in visits:
        siblings = roots if within is None else lists[within]
        if module in hierarchy.inlined:
            lists.append(siblings)
            continue
        siblings.append(_Tree(module, computes, []))
        lists.append(siblings[-1].children)
    return roots


def _recorded(hierarchy: Hierarchy, listing: Listing) -> list[_Tree]:
    """Return the calls that the operators of a graph say they were made in."""
    roots: list[_Tree] = []
    known: dict[Frames, _Tree] = {}
    for step in listing.steps:
        for frames in (step.frames or (), *step.inside):
            siblings = roots
            path: Frames = ()
            for frame in frames:
                module = hierarchy.first.get(frame.module, frame.module)
                if module in hierarchy.inlined:
                    continue
                path = (*path, frame)
                if path not in known:
                    known[path] = _Tree(module, True, [])
                    siblings.append(known[path])
                siblings = known[path].children
    return roots


def _needed(tree: _Tree) -> bool:
    return tree.must or any(map(_needed, tree.children))


def _fits(ours: Sequence[_Tree], theirs: Sequence[_Tree], *, all_needed: bool) -> bool:
    """Whether calls are those of eager, in order, but for some that may be left out."""
    reached = {0}
    for tree in ours:
        after = set() if all_needed and _needed(tree) else set(reached)
        for n in reached:
            there = n < len(theirs) and theirs[n].module == tree.module
            if there and _fits(tree.children, theirs[n].children, all_needed=all_needed):
                after.add(n + 1)
        reached = after
    return len(theirs) in reached


def _recorded_calls(hierarchy: Hierarchy, listing: Listing) -> Iterator[Difference]:
    frames = [frames for step in listing.steps for frames in (step.frames or (), *step.inside)]
    names = dict.fromkeys(frame.module for each in frames for frame in each)
    if unknown := [name for name in names if name not in hierarchy.first]:
        found = _different(
            "export",
            ("calls", "unknown"),
            f"the graph has operators of {_list(unknown)}, which eager does not have",
        )
        yield replace(found, about=frozenset(unknown))
        return
    ours, theirs = _forest(hierarchy.visits, hierarchy), _recorded(hierarchy, listing)
    if not _fits(ours, theirs, all_needed=False):
        yield _different(
            "export",
            ("calls", "order"),
            "the calls recorded in the graph are not those that eager makes, in their order",
            *_lists(_flat(ours), _flat(theirs)),
        )
    elif not any(step.opaque for step in listing.steps) and not _fits(ours, theirs, all_needed=True):
        yield _different(
            "export",
            ("calls", "missing"),
            f"eager computes something in a call of {_absent(ours, theirs)}, and the graph has nothing of it",
            *_lists(_flat(ours, marked=True), _flat(theirs)),
        )


def _absent(ours: Sequence[_Tree], theirs: Sequence[_Tree]) -> str:
    """Return the module of a call that must be there and is not."""
    there = Counter(tree.module for tree in _all(theirs))
    needed = Counter(tree.module for tree in _all(ours) if tree.must)
    return next(iter((needed - there) or needed))


def _all(trees: Iterable[_Tree]) -> Iterator[_Tree]:
    for tree in trees:
        yield tree
        yield from _all(tree.children)


def _recorded_names(program: Exported) -> set[str]:
    """Return the modules that the graph speaks of, and what they are below."""
    names: set[str] = set()
    for step in program.listing.steps if program.listing else ():
        for frames in (step.frames or (), *step.inside):
            names.update(frame.module for frame in frames)
    return names | {name[:dot] for name in names for dot, each in enumerate(name) if each == "."}


def _made_calls(hierarchy: Hierarchy, rebuilt: Rebuilt) -> Iterator[Difference]:
    first = hierarchy.first
    theirs = _forest(
        [Visit(first.get(name, name), within, True) for name, within in rebuilt.calls], hierarchy
    )
    ours = _forest(hierarchy.visits, hierarchy)
    if not _fits(ours, theirs, all_needed=False):
        yield _different(
            "lower",
            ("calls", "order"),
            "the calls that the rebuilt module makes are not those of eager, in their order",
            *_lists(_flat(ours), _flat(theirs)),
        )


def _flat(trees: Iterable[_Tree], *, marked: bool = False) -> list[str]:
    names: list[str] = []
    for tree in trees:
        inner = _flat(tree.children, marked=marked)
        name = f"{tree.module}*" if marked and tree.must else tree.module
        names.append(f"{name}({', '.join(inner)})" if inner else name)
    return names


def _modules(hierarchy: Hierarchy, program: Exported, rebuilt: Rebuilt) -> Iterator[Difference]:
    """Look for modules that are missing, unknown, below themselves, or there twice for no reason."""
    if rebuilt.cycle:
        yield _different(
            "lower", ("modules", "cycle"), f"{rebuilt.cycle} is a module that it is itself below"
        )
        return
    called = {visit.module for visit in hierarchy.visits}
    if missing := [name for name in hierarchy.first if name not in rebuilt.modules]:
        calls = "called by eager" if any(hierarchy.first[name] in called for name in missing) else "of eager"
        yield _different("lower", ("modules", "missing"), f"{_list(missing)}, {calls}, is not there")
    if unknown := rebuilt.modules - hierarchy.first.keys() - _recorded_names(program):
        yield _different("lower", ("modules", "unknown"), f"eager has no {_list(sorted(unknown))}")
    for graphs in rebuilt.variants.values():
        first: dict[str, str] = {}
        for name, text in graphs:
            if first.setdefault(text, name) is not name:
                yield _different(
                    "lower",
                    ("variants", "needless"),
                    f"{first[text]} and {name} have a graph each, and the two are the same",
                    *text.splitlines()[:6],
                )
                return
    if rebuilt.broken:
        yield _different("lower", ("graph", "broken"), f"calling it cannot work: {rebuilt.broken}")


class _Names(NamedTuple):
    """What there is to know of names of the state."""

    same: Mapping[str, str]
    """For a name of a tensor with several: one of them."""
    sorts: Mapping[str, str]
    """``parameter`` or ``buffer``; export keeps buffers that do not persist as constants."""

    def sort(self, operand: Operand) -> str:
        """Say what kind of thing an operand is."""
        if isinstance(operand, int):
            return "result"
        return "input" if operand.startswith("input ") else self.sorts.get(operand, "buffer")


def _sorts(state: State) -> dict[str, str]:
    return {name: sort_of(tensor) for name, tensor in state.tensors.items()}


def _steps(program: Listing, rebuilt: Rebuilt, listing: Listing, names: _Names) -> Iterator[Difference]:
    """Compare what runs with what was exported: the same operators on the same operands, in order."""
    ours, theirs = program.live(), listing.live()
    expected = [_known(step, names) for step in (*ours.steps, ours.returns)]
    seen = [_known(step, names) for step in (*theirs.steps, theirs.returns)]
    number = next((n for n, pair in enumerate(zip(expected, seen, strict=False)) if pair[0] != pair[1]), None)
    if number is None:
        yield from _owners(ours, theirs)
        return
    what = _what(expected, seen, names)
    step, other = (*ours.steps, ours.returns)[number], (*theirs.steps, theirs.returns)[number]
    frames = other.frames or ()
    alike = step.frames is not None and _names_of(_nested(step.frames)) == _names_of(frames)
    shared = [frame.module for frame in frames if alike and frame.call in rebuilt.shared]
    whose = f", in a graph that several calls of {shared[-1]} share" if shared else ""
    yield _different(
        "lower",
        ("steps", "shared-graph") if shared else ("steps", *what),
        f"what runs is not what was exported{whose}: {_TOLD[what[0]]}",
        f"step {number}, exported: {step} in {_place(step.frames)}",
        f"step {number}, here: {other} in {_place(other.frames)}",
    )


_TOLD = {
    "missing": "an operator is missing",
    "extra": "there is an operator too many",
    "order": "operators are in another order",
    "operands": "something else is read",
    "arguments": "an operator has other arguments",
}

_Known = tuple[str, str, tuple["Operand", ...]]


def _known(step: Step, names: _Names) -> _Known:
    operands = tuple(names.same.get(o, o) if isinstance(o, str) else o for o in step.operands)
    return step.operator, step.arguments, operands


def _what(expected: Sequence[_Known], seen: Sequence[_Known], names: _Names) -> tuple[str, ...]:
    """Say in stable words how two lists of steps differ."""
    ours, theirs = [step[0] for step in expected], [step[0] for step in seen]
    if missing := Counter(ours) - Counter(theirs):
        return ("missing", _family(missing))
    if extra := Counter(theirs) - Counter(ours):
        return ("extra", _family(extra))
    if ours != theirs:
        return ("order",)
    for (_, text, operands), (_, other, others) in zip(expected, seen, strict=True):
        if text != other:
            return ("arguments",)
        for operand, another in zip(operands, others, strict=True):
            if operand != another:
                return ("operands", names.sort(operand), names.sort(another))
    return ("order",)


def _family(operators: Iterable[str]) -> str:
    """Name an operator that holds graphs; what it is of the many others tells nothing of the cause."""
    return next((name for name in sorted(operators) if name.startswith(_HOLDING)), "operator")


_HOLDING = ("wrap_", "cond", "while_loop", "map_impl", "scan", "associative_scan", "tag_activation")


def _owners(ours: Listing, theirs: Listing) -> Iterator[Difference]:
    """Compare in which calls the steps run."""
    before: tuple[Frames, Frames] = ((), ())
    for number, (step, other) in enumerate(zip(ours.steps, theirs.steps, strict=True)):
        if step.frames is None or other.frames is None:
            continue
        now = (_nested(step.frames), other.frames)
        places = [_names_of(frames) for frames in now]
        kept = [_kept(was, frames) for was, frames in zip(before, now, strict=True)]
        if places[0] != places[1] or kept[0] != kept[1]:
            word = "owner" if places[0] != places[1] else "call"
            yield _different(
                "lower",
                ("steps", word),
                f"an operator runs in another {'module' if word == 'owner' else 'call of its module'}",
                f"step {number}, exported: {step} in {_place(now[0])}{_begun(now[0], kept[0])}",
                f"step {number}, here: {other} in {_place(now[1])}{_begun(now[1], kept[1])}",
            )
            return
        before = now


def _nested(frames: Frames) -> Frames:
    """Leave out what follows a call of a module that is not below its caller."""
    above = ""
    for number, frame in enumerate(frames):
        if not frame.module.startswith(above):
            return frames[:number]
        above = f"{frame.module}."
    return frames


def _names_of(frames: Frames) -> list[str]:
    return [frame.module for frame in frames]


def _kept(before: Frames, now: Frames) -> int:
    """Count the calls that go on."""
    kept = 0
    for a, b in zip(before, now, strict=False):
        if a != b:
            break
        kept += 1
    return kept


def _place(frames: Frames | None) -> str:
    if frames is None:
        return "no module"
    return frames[-1].module if frames else "the root"


def _begun(frames: Frames, kept: int) -> str:
    return ", in a call that begins with it" if kept < len(frames) else ", in a call under way"


def _lists(expected: Sequence[str], seen: Sequence[str]) -> tuple[str, str]:
    return f"eager: {_list(expected)}", f"here: {_list(seen)}"


def _list(names: Sequence[str]) -> str:
    text = ", ".join(repr(name) if name == "" else name for name in names)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


_WIDTH = 300
