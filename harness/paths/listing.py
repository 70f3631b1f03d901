"""Graphs as lists of steps: what was exported, and what ``unflatten`` made of it."""

from __future__ import annotations

import operator
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.fx._pytree as fx_pytree
from torch import fx, nn
from torch._export.passes._node_metadata_hook import _EMPTY_NN_MODULE_STACK_KEY
from torch._library.utils import is_impure
from torch._ops import HigherOrderOperator
from torch.export import UnflattenedModule
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from harness.snapshot import storage_id
from harness.structure import Exported, Frame, Listing, Rebuilt, Spec, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torch.export import ExportedProgram

    from harness.structure import Frames, Operand

_VARIANT = re.compile(r"@\d+")


class BrokenError(Exception):
    """A graph that cannot be followed to its end."""


class _Value:
    """What a node stands for: the result of a step, an input, or a piece of state."""

    __slots__ = ("operand",)

    def __init__(self, operand: Operand) -> None:
        self.operand = operand


class _Body:
    """A graph that is an argument of a higher order operator."""

    def __init__(self, module: fx.GraphModule) -> None:
        reader = _Reader(stacks=True)
        listing = reader.read(module, module.graph)
        # Of a region the calls are known; what else holds graphs is not looked into.
        self.inside = [step.frames for step in reader.steps if step.frames]
        for step in reader.steps:
            self.inside += step.inside
        self.opaque = any(step.opaque for step in reader.steps)
        self.listing = listing.live()
        self.impure = any(step.impure for step in self.listing.steps)
        memory = self.listing.memory()
        written = {memory[o] for step in self.listing.steps for o in step.writes}
        returned = {memory[o] for o in self.listing.returns.operands}
        inputs = [f"input {number}" for number in range(_inputs(module.graph))]
        self.writes = [memory.get(name) in written for name in inputs]
        """For each of its inputs, whether it is changed."""
        self.shares = [memory.get(name) in returned for name in inputs]
        """For each of its inputs, whether a result may be a view of it."""


class _Reader:
    """Follows a graph node by node, and the graphs of the submodules that it calls."""

    def __init__(self, *, stacks: bool, inline: bool = True) -> None:
        """``stacks``: the frames are those that export recorded, rather than those of this run."""
        self.steps: list[Step] = []
        self.calls: list[tuple[str, int | None]] = []
        self.ran: list[nn.Module] = []
        self.copies: dict[str, str] = {}
        """For names of nodes: the piece of state that their results are copied to."""
        self._stacks = stacks
        self._inline = inline
        self._turns: dict[int, int] = {}
        self._bodies: dict[int, _Body] = {}

    def read(
        self, owner: nn.Module, graph: fx.Graph, inputs: Sequence[str] | None = None, skip: int = 0
    ) -> Listing:
        """Follow a graph from its inputs, by default numbered, to its outputs but for the first ``skip``."""
        names = inputs if inputs is not None else [f"input {number}" for number in range(_inputs(graph))]
        result: Any = self._run(owner, graph, "", (), iter([_Value(name) for name in names]), {})
        operands: list[Operand] = []
        text = _text(result[skip:] if skip else result, operands)
        return Listing(tuple(self.steps), Step("return", text, tuple(operands), ()))

    def _run(
        self,
        owner: nn.Module,
        graph: fx.Graph,
        name: str,
        frames: Frames,
        args: Iterator[object],
        kwargs: dict[str, object],
    ) -> object:
        env: dict[fx.Node, object] = {}

        def value(argument: Any) -> Any:
            return _valued(argument, env)

        for node in graph.nodes:
            if node.op == "call_function":
                env[node] = self._function(node, env, _recorded(node) if self._stacks else frames)
            elif node.op == "placeholder":
                known = node.target in kwargs
                env[node] = kwargs[node.target] if known else next(args, _Value(f"no {node.name}"))
            elif node.op == "get_attr":
                env[node] = self._attribute(owner, node.target, name)
            elif node.op == "call_module":
                given, named = value(node.args), value(node.kwargs)
                env[node] = self._module(owner, node.target, name, frames, given, named)
            elif node.op == "output":
                return value(node.args[0])
            if node.name in self.copies:
                env[node] = self._copied(self.copies[node.name], env[node], _recorded(node))
        raise BrokenError(f"the graph of {name or 'the root'} has no output")

    def _function(self, node: fx.Node, env: dict[fx.Node, object], frames: Frames | None) -> object:
        target: Any = node.target
        if target is operator.getitem:
            whole: Any = env[node.args[0]] if isinstance(node.args[0], fx.Node) else node.args[0]
            if not isinstance(whole, _Value):
                return whole[node.args[1]]
        elif target in _GLUE:
            return target(*_valued(node.args, env))
        operands: list[Operand] = []
        bodies: list[_Body] = []
        text = _text(node.args, operands, env, bodies)
        if node.kwargs:
            text += _text(node.kwargs, operands, env, bodies)
        name, impure, writes, shares = _operator(target)
        step = Step(name, text, tuple(operands), frames, impure)
        if bodies:
            step = _with_bodies(step, bodies)
        elif writes or shares:
            given: dict[Any, Any] = {**dict(enumerate(node.args)), **node.kwargs}
            step = step._replace(
                writes=tuple(_operands([given.get(each) for each in writes], env)),
                shares=tuple(_operands([given.get(each) for each in shares], env)),
            )
        self.steps.append(step)
        return _Value(len(self.steps) - 1)

    def _attribute(self, owner: nn.Module, target: str, name: str) -> object:
        attribute: Any = owner
        for part in target.split("."):
            attribute = getattr(attribute, part, None)
        if isinstance(attribute, fx.GraphModule):
            if id(attribute) not in self._bodies:
                self._bodies[id(attribute)] = _Body(attribute)
            return self._bodies[id(attribute)]
        if isinstance(attribute, torch.Tensor | torch.ScriptObject):
            return _Value(_VARIANT.sub("", f"{name}.{target}" if name else target))
        if attribute is None:
            raise BrokenError(f"{name or 'the root'} has no {target}")
        return attribute

    def _module(
        self, owner: nn.Module, target: str, name: str, frames: Frames, args: Any, kwargs: Any
    ) -> object:
        module = _below(owner, target)
        if not self._inline:
            return self._called(module, args, kwargs)
        below = _VARIANT.sub("", f"{name}.{target}" if name else target)
        if module is None:
            raise BrokenError(f"{name or 'the root'} calls {target}, which is not there")
        if isinstance(module, fx.GraphModule):  # such as the _guards_fn of ep.module()
            return None
        if (turns := getattr(module, "_call_modules", None)) is not None:
            turn = self._turns.get(id(module), 0)
            self._turns[id(module)] = turn + 1
            module = turns[turn % len(turns)]
        graph = getattr(module, "graph", None)
        if graph is None or not len(graph.nodes):
            raise BrokenError(f"{name or 'the root'} calls {target}, which has no graph")
        if len(frames) > _DEPTH:
            raise BrokenError(f"{below} calls itself")
        number = len(self.calls)
        self.calls.append((below, int(frames[-1].call) if frames else None))
        self.ran.append(module)
        return self._run(module, graph, below, (*frames, Frame(below, number)), iter(args), kwargs)

    def _called(self, module: nn.Module | None, args: Any, kwargs: Any) -> _Value:
        operands: list[Operand] = []
        text = _text((args, kwargs), operands)
        what = "nothing" if module is None else graph_text(module)
        self.steps.append(Step(f"call of [{what}]", text, tuple(operands), ()))
        return _Value(len(self.steps) - 1)

    def _copied(self, target: str, value: object, frames: Frames | None) -> _Value:
        operands: list[Operand] = []
        text = _text((_Value(target), value), operands)
        self.steps.append(Step("aten.copy_.default", text, tuple(operands), frames, writes=(target,)))
        return _Value(len(self.steps) - 1)


_DEPTH = 50
_GLUE: frozenset[Any] = frozenset({fx_pytree.tree_flatten_spec, pytree.tree_unflatten, pytree.tree_flatten})
"""How the graphs of modules with preserved signatures take their arguments apart."""
_REGIONS = frozenset({"wrap_with_set_grad_enabled", "wrap_with_autocast"})


def _valued(argument: Any, env: dict[fx.Node, object]) -> Any:
    """Put what they stand for in the places of nodes."""
    value_of: Any = env.__getitem__
    return fx.map_arg(argument, value_of)


def _operands(argument: Any, env: dict[fx.Node, object]) -> list[Operand]:
    found: list[Operand] = []
    _text(argument, found, env)
    return found


def _inputs(graph: fx.Graph) -> int:
    return sum(node.op == "placeholder" for node in graph.nodes)


def _with_bodies(step: Step, bodies: list[_Body]) -> Step:
    """Say of an operator that holds graphs what these do."""
    region = step.operator in _REGIONS

    def among(flags: list[bool]) -> set[Operand]:
        # What a graph gets comes last.
        given = step.operands[-len(flags) :] if flags else ()
        return (
            {o for o, flag in zip(given, flags, strict=True) if flag} if len(given) == len(flags) else set()
        )

    return step._replace(
        impure=any(body.impure for body in bodies),
        writes=tuple(set().union(*(among(body.writes) for body in bodies))),
        shares=tuple(set().union(*(among(body.shares) for body in bodies))),
        inside=tuple(frames for body in bodies for frames in body.inside) if region else (),
        opaque=not region or any(body.opaque for body in bodies),
    )


class _Operator(NamedTuple):
    name: str
    impure: bool
    writes: tuple[int | str, ...] = ()
    """Positions and names of the arguments that it changes."""
    shares: tuple[int | str, ...] = ()
    """Positions and names of the arguments that its result may be a view of."""


@lru_cache(4096)
def _operator(target: Any) -> _Operator:
    if isinstance(target, HigherOrderOperator):
        return _Operator(target.__name__, impure=True)
    if not isinstance(target, torch._ops.OpOverload):
        name = getattr(target, "__name__", str(target))
        return _Operator(name, is_impure(target), shares=(0,))
    schema = target._schema
    writes: list[int | str] = []
    views: list[int | str] = []
    for number, argument in enumerate(schema.arguments):
        if (alias := argument.alias_info) is not None:
            key = argument.name if argument.kwarg_only else number
            views.append(key)
            writes += [key] if alias.is_write else []
    if str(target).startswith("aten.set_."):  # no schema can say that self becomes a view of the source
        views = list(range(len(schema.arguments)))
    random = torch.Tag.nondeterministic_seeded in target.tags
    impure = random or (not schema.is_mutable and is_impure(target))
    returned = any(each.alias_info is not None for each in schema.returns)
    return _Operator(str(target), impure, tuple(writes), tuple(views) if returned else ())


def _recorded(node: fx.Node) -> Frames | None:
    """Return the calls in which export says that a node was made."""
    stack = node.meta.get("nn_module_stack")
    if not stack or _EMPTY_NN_MODULE_STACK_KEY in stack:
        return None
    return tuple([Frame(path, key) for key, (path, _) in stack.items() if path])


def _text(
    value: Any,
    operands: list[Operand],
    env: dict[fx.Node, object] | None = None,
    bodies: list[_Body] | None = None,
) -> str:
    """Write a nest of arguments; ``operands`` get what the text has a ``%`` for."""
    if env is not None and isinstance(value, fx.Node):
        value = env[value]
    if isinstance(value, _Value):
        operands.append(value.operand)
        return "%"
    if isinstance(value, int | float | str | None):
        return repr(value)
    if isinstance(value, tuple | list):
        parts = [_text(each, operands, env, bodies) for each in value]
        return f"({', '.join(parts)})"
    if isinstance(value, dict):
        parts = [f"{key}={_text(each, operands, env, bodies)}" for key, each in value.items()]
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, slice):
        return f"slice{_text((value.start, value.stop, value.step), operands, env, bodies)}"
    if isinstance(value, _Body):
        if bodies is not None:
            bodies.append(value)
        return f"graph [{value.listing.text}]".replace("%", "$")
    return str(value)


def _below(owner: nn.Module, target: str) -> nn.Module | None:
    module: Any = owner
    for part in target.split("."):
        module = module._modules.get(part) if isinstance(module, nn.Module) else None
    return module if isinstance(module, nn.Module) else None


def read_exported(program: ExportedProgram) -> Exported:
    """Write down the graph of an exported program and what else it says of itself."""
    signature = program.graph_signature
    inputs = tuple(_spec(spec) for spec in signature.input_specs)
    outputs = tuple(_spec(spec) for spec in signature.output_specs)
    reader = _Reader(stacks=True)
    given = list(_input_names(signature.input_specs))
    names = dict(zip([spec.name for spec in inputs], given, strict=True))
    reader.copies = {s.name: names.get(s.target, s.target) for s in outputs if s.kind in _COPIED}
    nodes = [node for node in program.graph.nodes if node.op in ("placeholder", "output")]
    placeholders = tuple(node.name for node in nodes if node.op == "placeholder")
    listing: Listing | None = None
    broken = ""
    try:
        listing = reader.read(program.graph_module, program.graph, given, skip=len(reader.copies))
    except BrokenError as error:
        broken = str(error)
    return Exported(
        listing=listing,
        broken=broken,
        inputs=inputs,
        outputs=outputs,
        placeholders=placeholders,
        returned=tuple(_named(each) for each in nodes[-1].args[0]),
        call_graph=tuple(entry.fqn for entry in program.module_call_graph),
        state=frozenset(program.state_dict),
        constants=frozenset(program.constants),
        same=_same({**program.state_dict, **program.constants}),
    )


_COPIED = ("BUFFER_MUTATION", "USER_INPUT_MUTATION", "PARAMETER_MUTATION")
"""Outputs of the graph that the program writes back, and does not return."""


def _same(tensors: dict[str, Any]) -> tuple[frozenset[str], ...]:
    """Group the names that unflatten takes for one tensor, where that makes no difference.

    To it, a tensor is its memory, sizes and strides (_TensorID in torch/export/unflatten.py).
    """
    groups: dict[object, list[str]] = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
            place = (storage_id(tensor), tensor.shape, tensor.stride(), tensor.storage_offset())
            key: object = (place, tensor.dtype, tensor.requires_grad, isinstance(tensor, nn.Parameter))
        else:
            key = id(tensor)
        groups.setdefault(key, []).append(name)
    return tuple(frozenset(names) for names in groups.values() if len(names) > 1)


def _spec(spec: Any) -> Spec:
    target = spec.target if isinstance(spec.target, str) else ""
    return Spec(spec.kind.name, getattr(spec.arg, "name", ""), target, getattr(spec, "persistent", None))


def _input_names(specs: Iterable[Any]) -> Iterator[str]:
    number = 0
    for spec in specs:
        if spec.kind is InputKind.USER_INPUT:
            yield f"input {number}"
            number += 1
        else:
            yield spec.target or spec.kind.name


def _named(returned: object) -> str:
    return returned.name if isinstance(returned, fx.Node) else ""


def read_rebuilt(module: nn.Module) -> Rebuilt | None:
    """Write down the modules of an unflattened program, and what they do when it is called.

    Return None for a module of another kind.
    """
    if not isinstance(module, UnflattenedModule):
        return None
    if cycle := _cycle(module, "", []):
        return Rebuilt(cycle=cycle)
    modules = dict(_named_modules(module, ""))
    variants = _variants(modules)
    names = frozenset(_VARIANT.sub("", name) for name in modules)
    reader = _Reader(stacks=False)
    try:
        listing = reader.read(module, module.graph)
    except BrokenError as error:
        return Rebuilt(modules=names, variants=variants, broken=str(error))
    times: dict[int, int] = {}
    for each in reader.ran:
        times[id(each)] = times.get(id(each), 0) + 1
    return Rebuilt(
        modules=names,
        variants=variants,
        calls=tuple(reader.calls),
        shared=frozenset(n for n, each in enumerate(reader.ran) if times[id(each)] > 1),
        listing=listing,
    )


def _cycle(module: nn.Module, name: str, above: list[nn.Module]) -> str:
    """Return the name of a module that is below itself."""
    if any(module is each for each in above):
        return name
    above.append(module)
    below = (
        _cycle(child, f"{name}.{key}" if name else key, above)
        for key, child in module._modules.items()
        if child is not None
    )
    found = next(filter(None, below), "")
    above.pop()
    return found


def _named_modules(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module]]:
    """Name the modules as ``named_modules`` does, without graphs that are arguments of operators."""
    yield name, module
    for key, child in module._modules.items():
        if child is not None and not isinstance(child, fx.GraphModule):
            yield from _named_modules(child, f"{name}.{key}" if name else key)


def _variants(modules: dict[str, nn.Module]) -> dict[str, tuple[tuple[str, str], ...]]:
    groups: dict[str, dict[int, str]] = {}
    for name in modules:
        if "@" in name:
            groups[_VARIANT.sub("", name)] = {}
    if not groups:
        return {}
    for name, module in modules.items():
        if (group := groups.get(_VARIANT.sub("", name))) is not None and _has_graph(module):
            group.setdefault(id(module), name)
    return {
        base: tuple((name, graph_text(modules[name])) for name in group.values())
        for base, group in groups.items()
        if len(group) > 1
    }


def _has_graph(module: nn.Module) -> bool:
    graph = getattr(module, "graph", None)
    return isinstance(graph, fx.Graph) and len(graph.nodes) > 0


def graph_text(module: nn.Module) -> str:
    """Write the graph of one module, with those of the submodules that it calls; equal if they act alike."""
    if not _has_graph(module):
        return "no graph"
    graph: Any = module.graph
    listing = _Reader(stacks=False, inline=False).read(module, graph)
    return f"{_inputs(graph)} inputs\n{listing.text}"
