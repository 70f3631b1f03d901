"""Following the graphs of an exported program and of what is made from it, to compare what the two run."""

from __future__ import annotations

import itertools
import re
from typing import Any

import torch


def tensor_names(ep: Any) -> dict[str, str]:
    """Return one name for each tensor of the state."""
    first: dict[Any, str] = {}
    same = {}
    for name, t in {**ep.state_dict, **ep.constants}.items():
        if isinstance(t, torch.Tensor):
            place = (t.untyped_storage()._cdata, t.storage_offset(), t.stride())
            kind = (t.shape, t.dtype, t.requires_grad, isinstance(t, torch.nn.Parameter))
            same[name] = first.setdefault((place, kind), name)
    return same


def inputs_of(ep: Any, same: dict[str, str]) -> list[str]:
    """Return what each placeholder stands for."""
    count = itertools.count()
    return [
        f"input {next(count)}" if spec.kind.name == "USER_INPUT" else same.get(spec.target, spec.target)
        for spec in ep.graph_signature.input_specs
    ]


def written_by(ep: Any, same: dict[str, str]) -> tuple[list[str], int]:
    """Return the inputs and the pieces of state that are written back at the end, and how many of the outputs
    are written back.
    """
    names = [spec.arg.name for spec in ep.graph_signature.input_specs]
    named = dict(zip(names, inputs_of(ep, same), strict=True))
    written = [s for s in ep.graph_signature.output_specs if s.kind.name.endswith("_MUTATION")]
    if written:
        return [named.get(s.target, same.get(s.target, s.target)) for s in written], len(written)
    nodes = [node for node in reversed(ep.graph.nodes) if node.op != "output"]
    last = itertools.takewhile(lambda node: node.target is torch.ops.aten.copy_.default, nodes)
    targets = itertools.takewhile(lambda name: name in named, (node.args[0].name for node in last))
    return [named[name] for name in [*targets][::-1]], 0


def is_pure(target: Any, args: Any) -> bool:
    """Return whether an operator matters only where its result is read."""
    if target in torch.fx.node._side_effectful_functions:
        return False
    if isinstance(target, torch._ops.OpOverload):
        return not target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in target.tags
    if isinstance(target, torch._ops.HigherOrderOperator):
        return not any("impure graph" in str(arg) for arg in args)
    return getattr(target, "__name__", "") == "getitem"


def is_in_place(target: Any) -> bool:
    """Return whether the result of an operator is its first argument."""
    if not isinstance(target, torch._ops.OpOverload):
        return False
    return target._schema.is_mutable and re.search("[a-z]_$", target._schema.name) is not None


def recorded_frames(node: Any) -> tuple[tuple[str, str], ...] | None:
    """Return the calls that a node was made in, without those of modules that are not below their callers."""
    frames: list[tuple[str, str]] = []
    for key, (path, _) in node.meta.get("nn_module_stack", {}).items():
        if path.startswith("_empty_"):
            return None
        if path and frames and not path.startswith(f"{frames[-1][0]}."):
            break
        frames += [(path, key)] if path else []
    return tuple(frames)


def live(lines: list[Any], returned: Any) -> list[tuple[str, Any]]:
    """Leave out what nobody reads, and number the rest."""
    kept = {name: rest for name, *rest in lines}
    while True:
        read = set(re.findall(r"%\d+", " ".join([str(returned), *(text for text, *_ in kept.values())])))
        dead = [name for name, (_, pure, _) in kept.items() if pure and name not in read]
        if not dead:
            break
        for name in dead:
            del kept[name]
    number = {name: f"%{i}" for i, name in enumerate(kept)}

    def renumbered(text: str) -> str:
        return re.sub(r"%\d+", lambda m: number[m[0]], text)

    return [(renumbered(text), where) for text, _, where in kept.values()] + [
        (renumbered(f"return {returned}"), ())
    ]


class Follower:
    """Notes what graphs run, with the graphs of the submodules that they call in their places."""

    def __init__(self, same: dict[str, str], written: Any = (), outputs: int = 0, own: Any = ()) -> None:
        """Note for each name of a tensor the first one, what is written back at the end, how many outputs
        are, and the names of other copies.
        """
        self.same, self.written, self.outputs, self.own = same, list(written), outputs, own
        self.now: dict[str, Any] = {}
        self.early: set[str] = set()
        self.lines: list[Any] = []
        self.turns: dict[Any, Any] = {}
        pytree = torch.utils._pytree
        self.glue = (torch.fx._pytree.tree_flatten_spec, pytree.tree_flatten, pytree.tree_unflatten)

    def run(self, owner: Any, graph: Any, values: Any, above: Any = None, named: Any = None) -> Any:
        """Follow one graph; ``above`` are the calls under way, or None where the nodes say that."""
        env: dict[Any, Any] = {}
        values, named = iter(values), named or {}
        written = self.written[: self.outputs] if above is None else []
        for node in graph.nodes:
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: env[n])
            copies = node.target is torch.ops.aten.copy_.default and args[0] in self.written
            if copies and node.name not in self.own:
                self.early.add(args[0])
            elif copies and args[0] in self.early:
                copies = False
            if node.op == "call_function" and self.now and not copies:
                args, kwargs = torch.utils._pytree.tree_map(self.current, (args, kwargs))
            if node.op == "placeholder":
                env[node] = named[node.target] if node.target in named else next(values, f"no {node.name}")
            elif node.op == "output":
                return args[0] if above else self.finish(args[0], written)
            elif node.op == "get_attr":
                env[node] = self.attribute(owner, node.target, above)
            elif node.op == "call_module":
                env[node] = self.call(owner, node.target, above, args, kwargs)
            elif node.target in self.glue:
                env[node] = node.target(*args)
            elif getattr(node.target, "__name__", "") == "getitem" and not isinstance(args[0], str):
                env[node] = args[0][args[1]]
            elif node.target is torch.ops.aten.sym_size.int and "val" in node.args[0].meta:
                env[node] = f"size {node.args[0].meta['val'].shape[args[1]]}"
            elif copies:
                self.now[args[0]] = self.current(args[1])
                env[node] = args[0]
            else:
                text = f"{node.target} {args} {kwargs}"
                where = recorded_frames(node) if above is None else above
                result = self.add(text, is_pure(node.target, args), where)
                env[node] = args[0] if is_in_place(node.target) else result
        return None

    def current(self, value: Any) -> Any:
        """Return what was copied to a piece of state or an input, or the value itself."""
        return self.now.get(value, value) if isinstance(value, str) else value

    def finish(self, results: Any, written: list[str]) -> Any:
        """Note what is written back at the end, first results among it; return the other results."""
        became = {str(value): name for name, value in reversed([*zip(written, results, strict=False)])}
        self.now.update(zip(written, results, strict=False))
        for name in self.written:
            if name in self.now:
                self.add(f"aten.copy_.default {(name, self.now[name])} {{}}", False, None)
        pytree = torch.utils._pytree
        return pytree.tree_map(lambda value: became.get(str(value), value), results[len(written) :])

    def add(self, text: str, pure: bool, where: Any) -> str:
        """Note a step, and return its name."""
        name = f"%{len(self.lines)}"
        self.lines.append((name, text, pure, where))
        return name

    def attribute(self, owner: Any, target: str, above: Any) -> Any:
        """Return what an attribute stands for."""
        *path, key = target.split(".")
        thing = getattr(owner.get_submodule(".".join(path)), key)
        if isinstance(thing, torch.fx.GraphModule):
            inner = Follower(self.same)
            given = [f"given {i}" for i, n in enumerate(thing.graph.nodes) if n.op == "placeholder"]
            back = inner.run(thing, thing.graph, given)
            sort = "graph" if all(pure for *_, pure, _ in inner.lines) else "impure graph"
            return f"{sort} {live(inner.lines, back)}".replace("%", "$")
        if isinstance(thing, torch.Tensor):
            name = f"{above[-1][0]}.{target}" if above else target
            return self.same.get(name, name)
        return thing

    def call(self, owner: Any, target: str, above: Any, args: Any, kwargs: Any) -> Any:
        """Follow the graph of a submodule."""
        name = re.sub(r"@\d+", "", f"{above[-1][0]}.{target}" if above else target)
        child = owner.get_submodule(target)
        if hasattr(child, "_call_modules"):
            child = next(self.turns.setdefault(child, itertools.cycle(child._call_modules)))
        return self.run(child, child.graph, args, (*above, (name, object())), kwargs)


def own_copies(ep: Any, written: list[str], outputs: int) -> list[str]:
    """Return the names of the copies that an exported program makes before it writes back at the end."""
    names = [node.name for node in ep.graph.nodes if node.target is torch.ops.aten.copy_.default]
    return names if outputs else names[: len(names) - len(written)]


def exported_steps(ep: Any) -> list[tuple[str, Any]]:
    """Return the steps of an exported program."""
    same = tensor_names(ep)
    written, outputs = written_by(ep, same)
    follower = Follower(same, written, outputs, own_copies(ep, written, outputs))
    back = follower.run(ep.graph_module, ep.graph, inputs_of(ep, same))
    return live(follower.lines, back)


def rebuilt_steps(module: Any, ep: Any) -> list[tuple[str, Any]]:
    """Return the steps of what was made from the program."""
    same = tensor_names(ep)
    written, outputs = written_by(ep, same)
    follower = Follower(same, written, 0, own_copies(ep, written, outputs))
    given = [f"input {i}" for i, _ in enumerate(module.graph.find_nodes(op="placeholder"))]
    back = follower.run(module, module.graph, given, above=())
    return live(follower.lines, back)
