"""How to show what is wrong with names, calls and graphs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_EXPORTED = """\
    model, $unpack = $make
    ep = $export
    model, $unpack = $make
"""

_LOWERED = """\
    model, $unpack = $make
    ep = $export
    candidate = $lower
    model, $unpack = $make
"""

_VERDICT = """\
    print(f"BUG: {bug[0]}"[:500] if bug else "ok: %s")
    sys.exit(bool(bug))
"""

# --- names and signature ---

_TABLES = {
    "module_call_graph": (
        "[name for name, _ in model.named_modules(remove_duplicate=False)]",
        '[entry.fqn for entry in ep.module_call_graph if "@" not in entry.fqn]',
    ),
    "state_dict": ("sorted(model.state_dict())", "sorted(ep.state_dict)"),
}

_NAMES = """\
    expected = %(eager)s
    seen = %(here)s
    bug = [f"%(what)s has {seen}, eager has {expected}"] if seen != expected else []
"""

_SIDES = {
    "inputs": '[node.name for node in ep.graph.nodes if node.op == "placeholder"]',
    "outputs": '[getattr(out, "name", None) for out in next(iter(reversed(ep.graph.nodes))).args[0]]',
}

_SIDE = """\
    seen = %(actual)s
    told = [getattr(spec.arg, "name", None) for spec in ep.graph_signature.%(kind)s_specs]
    differs = len(seen) != len(told) or any(a and a != b for a, b in zip(seen, told))
    bug = [f"the graph has the %(kind)ss {seen}, its signature says {told}"] if differs else []
"""

_SPECS = """\
    state = model.state_dict(keep_vars=True)
    state |= dict(model.named_buffers(remove_duplicate=False))
    bug = []
    for spec in ep.graph_signature.input_specs:
        name, kind = spec.target, spec.kind.name
        if kind not in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            continue
        if name in state:
            real = "PARAMETER" if isinstance(state[name], torch.nn.Parameter) else "BUFFER"
            kept = name in model.state_dict()
            if kind != real or (kind == "BUFFER" and spec.persistent != kept):
                bug.append(f"{name} is a {kind} (persistent: {spec.persistent}), in eager a {real} ({kept})")
        in_state = kind == "PARAMETER" or (kind == "BUFFER" and spec.persistent)
        if name not in (ep.state_dict if in_state else ep.constants):
            bug.append(f"the signature has {name}, and the program holds none of that name")
"""

# --- calls ---

_CALLED = '''\
def called(model, name_of, run):
    """The calls of submodules during a run: the name of each, and the calls during it."""
    root = []
    stack = [root]

    def enter(module, args):
        stack[-1].append((name_of[module], []))
        stack.append(stack[-1][-1][1])

    def leave(module, args, out):
        stack.pop()

    for module in name_of:
        module.register_forward_pre_hook(enter)
        module.register_forward_hook(leave)
    run()
    return root
'''

_FITS = '''\
def fits(ours, theirs):
    """Whether calls are those of eager, in order, though some may be left out."""
    if not theirs or not ours:
        return not theirs
    (name, during), (other, inner) = ours[0], theirs[0]
    taken = name == other and fits(during, inner) and fits(ours[1:], theirs[1:])
    return taken or fits(ours[1:], theirs)
'''

_RECORDED = '''\
def stacks(owner, graph):
    """The module stack that export recorded of each node; those of a region in its place."""
    for node in graph.nodes:
        if node.op == "get_attr" and any("wrap_with" in str(user) for user in node.users):
            body = getattr(owner, node.target)
            yield from stacks(body, body.graph)
        elif node.op == "call_function":
            stack = node.meta.get("nn_module_stack", {}).items()
            yield [(path, key) for key, (path, _) in stack if path and not path.startswith("_empty_")]


def recorded(owner, graph, first):
    """The calls that a graph says its nodes were made in."""
    root, known = [], {}
    for stack in stacks(owner, graph):
        calls, where = root, ()
        for path, key in stack:
            if first.get(path, path):
                where += (key,)
                if where not in known:
                    known[where] = (first.get(path, path), [])
                    calls.append(known[where])
                calls = known[where][1]
    return root
'''

_FIRST = """\
    name_of = {m: n for n, m in model.named_modules() if n and not isinstance(m, torch.fx.GraphModule)}
    first = {n: name_of.get(m, "") for n, m in model.named_modules(remove_duplicate=False)}
"""

_EAGER = """\
    $unpack = $inputs
    ours = called(model, name_of, lambda: model($star))
"""

_UNKNOWN = """\
    names = {path for stack in stacks(ep.graph_module, ep.graph) for path, _ in stack}
    bug = [f"the graph has operators of {n}, eager has no such module" for n in sorted(names - first.keys())]
"""

_ORDER = """\
    theirs = recorded(ep.graph_module, ep.graph, first)
    bug = [] if fits(ours, theirs) else [f"the graph has the calls {theirs}, eager makes {ours}"]
"""

_MISSING = """\
    count = [str(calls).count("('$name'") for calls in (ours, recorded(ep.graph_module, ep.graph, first))]
    told = f"eager calls $name {count[0]} times, the graph has {count[1]} of them"
    bug = [told] if count[1] < count[0] else []
"""

_MADE = """\
    named = {m: re.sub(r"@\\d+", "", n) for n, m in candidate.named_modules() if n}
    named = {m: first.get(n, n) for m, n in named.items() if not isinstance(m, torch.fx.GraphModule)}
    $unpack = $inputs
    theirs = called(candidate, named, lambda: candidate($star))
    bug = [] if fits(ours, theirs) else [f"$runner makes the calls {theirs}, eager {ours}"]
"""

# --- modules ---

_THERE = '''\
def there(module, name="", above=()):
    """The names of modules, without call variants and graphs of regions; None: one is below itself."""
    if module in above:
        return {None}
    names = {re.sub(r"@\\d+", "", name)}
    for key, child in module._modules.items():
        if child is not None and not isinstance(child, torch.fx.GraphModule):
            names |= there(child, f"{name}.{key}".strip("."), (*above, module))
    return names
'''

_MODULES = {
    "cycle": '    bug = ["a module is below itself"] if None in there(candidate) else []\n',
    "missing": "    names = [n for n, _ in model.named_modules(remove_duplicate=False)]\n"
    '    bug = [f"eager has {n}, $runner has not" for n in names if n not in there(candidate)]\n',
    "unknown": "    names = {n for n, _ in model.named_modules(remove_duplicate=False)}\n"
    '    bug = [f"$runner has {n}, eager has not" for n in sorted(there(candidate) - names)]\n',
}

_TEXT = '''\
def text(module):
    """What a module's graph does: its nodes by number, the graphs that it calls in their places."""
    number, lines = {}, []
    for node in module.graph.nodes:
        args = torch.fx.map_arg((node.args, node.kwargs), number.get)
        target = "" if node.op == "placeholder" else node.target
        below = node.op in ("call_module", "get_attr") and getattr(module, target, None)
        below = module.get_submodule(target) if node.op == "call_module" else below
        inner = isinstance(below, torch.nn.Module) and hasattr(below, "graph")
        number[node] = f"%{len(lines)}"
        lines.append(f"{node.op} {text(below) if inner else target} {args}")
    return "; ".join(lines)
'''

_VARIANTS = """\
    bug, seen = [], {}
    for name, module in candidate.named_modules():
        if isinstance(getattr(module, "graph", None), torch.fx.Graph) and len(module.graph.nodes):
            other = seen.setdefault((re.sub(r"@\\d+", "", name), text(module)), name)
            if other is not name:
                bug.append(f"{other} and {name} have a graph each, and the two are the same")
"""

# --- what runs ---

_FOLLOW = '''\
def names(ep):
    """One name for each tensor of the state."""
    first, state = {}, {**ep.state_dict, **ep.constants}
    place = lambda t: (t.untyped_storage()._cdata, t.storage_offset(), t.stride())
    kind = lambda t: (t.shape, t.dtype, t.requires_grad, isinstance(t, nn.Parameter))
    tensors = {n: t for n, t in state.items() if isinstance(t, torch.Tensor)}
    return {n: first.setdefault((place(t), kind(t)), n) for n, t in tensors.items()}


def inputs_of(ep, same):
    """What each placeholder stands for."""
    count, specs = itertools.count(), ep.graph_signature.input_specs
    user = lambda spec: spec.kind.name == "USER_INPUT"
    return [f"input {next(count)}" if user(s) else same.get(s.target, s.target) for s in specs]


def copies_of(ep, same):
    """For each node that is written back, to what."""
    named = dict(zip([s.arg.name for s in ep.graph_signature.input_specs], inputs_of(ep, same)))
    written = [s for s in ep.graph_signature.output_specs if s.kind.name.endswith("_MUTATION")]
    return {s.arg.name: named.get(s.target, same.get(s.target, s.target)) for s in written}


def is_pure(target, args):
    if target in torch.fx.node._side_effectful_functions:
        return False
    if isinstance(target, torch._ops.OpOverload):
        return not target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in target.tags
    if isinstance(target, torch._ops.HigherOrderOperator):
        return not any("impure graph" in str(arg) for arg in args)
    return getattr(target, "__name__", "") == "getitem"


turns = {}
pytree = torch.utils._pytree
glue = (torch.fx._pytree.tree_flatten_spec, pytree.tree_flatten, pytree.tree_unflatten)


def follow(owner, graph, values, same, lines, above=None, copies={}, named={}):
    """Note what a graph runs, with the graphs of the submodules that it calls in their places."""
    env, values = {}, iter(values)
    for node in graph.nodes:
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: env[n])
        if node.op == "placeholder":
            env[node] = named[node.target] if node.target in named else next(values, f"no {node.name}")
        elif node.op == "output":
            return args[0][len(copies) :] if copies else args[0]
        elif node.op == "get_attr":
            *path, key = node.target.split(".")
            thing = getattr(owner.get_submodule(".".join(path)), key)
            if isinstance(thing, torch.fx.GraphModule):
                inner = []
                given = [f"given {i}" for i, n in enumerate(thing.graph.nodes) if n.op == "placeholder"]
                back = follow(thing, thing.graph, given, same, inner)
                sort = "graph" if all(pure for *_, pure, _ in inner) else "impure graph"
                env[node] = f"{sort} {live(inner, back)}".replace("%", "$$")
            elif isinstance(thing, torch.Tensor):
                name = f"{above[-1][0]}.{node.target}" if above else node.target
                env[node] = same.get(name, name)
            else:
                env[node] = thing
        elif node.op == "call_module":
            name = re.sub(r"@\\d+", "", f"{above[-1][0]}.{node.target}" if above else node.target)
            child = owner.get_submodule(node.target)
            if hasattr(child, "_call_modules"):
                child = next(turns.setdefault(child, itertools.cycle(child._call_modules)))
            inside = (*above, (name, object()))
            env[node] = follow(child, child.graph, args, same, lines, inside, {}, kwargs)
        elif node.target in glue:
            env[node] = node.target(*args)
        elif getattr(node.target, "__name__", "") == "getitem" and not isinstance(args[0], str):
            env[node] = args[0][args[1]]
        else:
            env[node] = f"%{len(lines)}"
            where = recorded_frames(node) if above is None else above
            lines.append((env[node], f"{node.target} {args} {kwargs}", is_pure(node.target, args), where))
        if node.name in copies:
            step, text = f"%{len(lines)}", f"aten.copy_.default {(copies[node.name], env[node])} {{}}"
            lines.append((step, text, False, recorded_frames(node)))
            env[node] = step


def recorded_frames(node):
    """The calls that a node was made in, but those of modules that are not below their callers."""
    frames = []
    for key, (path, _) in node.meta.get("nn_module_stack", {}).items():
        if path.startswith("_empty_"):
            return None
        if path and frames and not path.startswith(f"{frames[-1][0]}."):
            break
        frames += [(path, key)] if path else []
    return tuple(frames)


def live(lines, returned):
    """Leave out what nobody reads, and count anew."""
    kept = {name: rest for name, *rest in lines}
    while True:
        read = set(re.findall(r"%\\d+", " ".join([str(returned), *(text for text, *_ in kept.values())])))
        dead = [name for name, (_, pure, _) in kept.items() if pure and name not in read]
        if not dead:
            break
        for name in dead:
            del kept[name]
    number = {name: f"%{i}" for i, name in enumerate(kept)}
    count = lambda text: re.sub(r"%\\d+", lambda m: number[m[0]], text)
    return [(count(text), where) for text, _, where in kept.values()] + [(count(f"return {returned}"), ())]
'''

_STEPS = """\
    model, $unpack = $make
    ep = $export
    same, lines, others = names(ep), [], []
    copies = copies_of(ep, same)
    given = inputs_of(ep, same)
    ours = live(lines, follow(ep.graph_module, ep.graph, given, same, lines, copies=copies))
    candidate = $lower
    given = [f"input {i}" for i, _ in enumerate(candidate.graph.find_nodes(op="placeholder"))]
    theirs = live(others, follow(candidate, candidate.graph, given, same, others, ()))
"""

_TEXTS = """\
    pairs = itertools.zip_longest([text for text, _ in ours], [text for text, _ in theirs])
    bug = [f"step {i}: exported was {a}, here runs {b}" for i, (a, b) in enumerate(pairs) if a != b]
"""

_PLACES = """\
    bug, before = [], ((), ())
    for (text, a), (_, b) in zip(ours, theirs):
        if a is None:
            continue
        paths = [[path for path, _ in frames] for frames in (a, b)]
        kept = [sum(1 for x, y in zip(was, now) if x == y) for was, now in zip(before, (a, b))]
        before = (a, b)
        if paths[0] != paths[1] or kept[0] != kept[1]:
            told = [f"{path}, {n} of them not new" for path, n in zip(paths, kept)]
            bug.append(f"{text} was exported in {told[0]}; here it is in {told[1]}")
"""

_BROKEN = """\
    bug = []
    try:
%s    except Exception as error:
        bug.append(f"{type(error).__name__}: {str(error)[:200]!r}")
"""


def write(finding: Finding) -> Parts | None:
    """Write down findings of the structure check."""
    if finding.check != "structure":
        return None
    group, word = finding.signature[2:4]
    if group in ("names", "signature"):
        return _parts([], _EXPORTED + _table(group, word), "the program agrees with itself and with eager")
    if group == "calls":
        return _calls(finding, word)
    if group == "modules":
        return _parts([_THERE], _LOWERED + _MODULES[word], "$runner has the modules of eager")
    if group == "variants":
        return _parts([_TEXT], _LOWERED + _VARIANTS, "no two graphs of a module are the same")
    if group == "graph":
        return _broken(finding)
    compare = _PLACES if word in ("owner", "call") else _TEXTS
    return _parts([_FOLLOW], _STEPS + compare, "$runner runs what was exported")


def _parts(look: list[str], main: str, fine: str) -> Parts:
    return Parts(look, main + _VERDICT % fine)


def _table(group: str, word: str) -> str:
    if group == "names":
        eager, here = _TABLES[word]
        return _NAMES % {"eager": eager, "here": here, "what": word}
    if word in _SIDES:
        return _SIDE % {"actual": _SIDES[word], "kind": word.removesuffix("s")}
    return _SPECS


def _calls(finding: Finding, word: str) -> Parts:
    fine = "the calls are those of eager"
    if finding.stage == "lower":
        return _parts([_CALLED, _FITS], _LOWERED + _FIRST + _EAGER + _MADE, fine)
    if word == "unknown":
        return _parts([_RECORDED], _EXPORTED + _FIRST + _UNKNOWN, fine)
    if word == "order":
        return _parts([_CALLED, _FITS, _RECORDED], _EXPORTED + _FIRST + _EAGER + _ORDER, fine)
    found = re.search(r"in a call of (\S+),", finding.message)
    missing = _MISSING.replace("$name", found[1] if found else "")
    return _parts([_CALLED, _RECORDED], _EXPORTED + _FIRST + _EAGER + missing, fine)


def _broken(finding: Finding) -> Parts:
    lines = _STEPS.splitlines(keepends=True)
    if finding.stage == "export":
        lines = lines[:4]
    steps = "".join(f"    {line}" for line in lines)
    return _parts([_FOLLOW], _BROKEN % steps, "the graphs can be followed to their ends")
