"""Reading graphs as lists of steps. The steps of a called submodule stand in the place of the call."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

import torch
import torch.fx._pytree as fx_pytree
from torch import fx, nn
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.code_places import module_stack
from exportdiff.runtime.observing.graphs import Listing, ModuleFrame, Step
from exportdiff.runtime.paths.read.effects import does_nothing, effects_of
from exportdiff.runtime.paths.read.normal_forms import (
    live,
    memory_of,
    with_in_place_results_replaced,
    without_idle_steps,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.runtime.observing.graphs import Frames, Operand

_VARIANT = re.compile(r"@\d+")


class BrokenError(Exception):
    """A graph that cannot be followed to its end."""


class _Value:
    """The value of a node: the result of a step, an input, or a piece of state."""

    __slots__ = ("operand", "results")

    def __init__(self, operand: Operand, results: Sequence[Operand | None] = ()) -> None:
        self.operand = operand
        self.results = results
        """For a region: for each result, the operand that it is; None if it is a new tensor."""


class _Body:
    """A graph that is an argument of a higher order operator."""

    def __init__(self, module: fx.GraphModule) -> None:
        reader = Reader(stacks=True)
        listing = without_idle_steps(reader.read(module, module.graph))
        # The calls inside a region are known. Other operators with graphs are opaque.
        self.inside: list[Frames] = []
        for step in listing.steps:
            self.inside += [step.frames] if step.frames else []
            self.inside += step.inside
        self.opaque = any(step.opaque for step in listing.steps)
        self.listing = live(listing)
        self.impure = any(step.impure for step in self.listing.steps)
        memory = memory_of(self.listing)
        written = {memory[o] for step in self.listing.steps for o in step.writes}
        returned = {memory[o] for o in self.listing.returns.operands}
        inputs = [f"input {number}" for number in range(_inputs(module.graph))]
        self.writes = [memory.get(name) in written for name in inputs]
        """For each of its inputs, whether it is changed."""
        self.shares = [memory.get(name) in returned for name in inputs]
        """For each of its inputs, whether a result may be a view of it."""
        returns, settled = listing.returns, with_in_place_results_replaced(listing).returns.operands
        # If a result is nested, its position among the operands is unknown.
        flat = returns.arguments == f"({', '.join(['%'] * len(settled))})"
        pairs = zip(returns.operands, settled, strict=True) if flat else ()
        self.results = [
            inputs.index(str(now)) if old != now and now in inputs else None for old, now in pairs
        ]
        """For each result, the number of the input that it is, changed in place; None if unknown."""


class Reader:
    """Follows a graph node by node, and the graphs of the submodules that it calls."""

    def __init__(self, *, stacks: bool, inline: bool = True) -> None:
        """With ``stacks``, frames are those that export recorded; otherwise those of the calls read here."""
        self.steps: list[Step] = []
        self.calls: list[tuple[str, int | None]] = []
        self.ran: list[nn.Module] = []
        self.sizes: dict[Operand, tuple[str, ...]] = {}
        self._stacks = stacks
        self._inline = inline
        self._turns: dict[int, int] = {}
        self._bodies: dict[int, _Body] = {}

    def read(
        self,
        owner: nn.Module,
        graph: fx.Graph,
        inputs: Sequence[str] | None = None,
        written: Sequence[str] = (),
    ) -> Listing:
        """Follow a graph from its inputs (default: numbered) to its outputs.

        The first outputs are not returned, but written back at the end, to the inputs and the state named in
        ``written``. Another output that is one of them is what was written to, as in ``ep.module()``.
        """
        names = inputs if inputs is not None else [f"input {number}" for number in range(_inputs(graph))]
        try:
            result: Any = self._run(owner, graph, "", (), iter([_Value(name) for name in names]), {})
        except (KeyError, IndexError, TypeError) as error:
            raise BrokenError(f"it reads what is not there: {error!r}") from error
        became: dict[Operand, str] = {}
        for target, value in zip(written, result[: len(written)] if written else (), strict=True):
            self._copy(target, value)
            if isinstance(value, _Value):
                became.setdefault(value.operand, target)
        operands: list[Operand] = []
        text = _text(result[len(written) :] if written else result, operands)
        back = tuple(became.get(operand, operand) for operand in operands)
        return Listing(tuple(self.steps), Step("return", text, back, ()), self.sizes)

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
            if self._stacks:
                self._note_sizes(node, env.get(node))
        raise BrokenError(f"the graph of {name or 'the root'} has no output")

    def _note_sizes(self, node: fx.Node, value: object) -> None:
        """Note the sizes that export recorded for a node, if some of them are dynamic."""
        recorded = node.meta.get("val")
        if isinstance(value, _Value) and isinstance(recorded, torch.Tensor):
            shape: tuple[object, ...] = tuple(recorded.shape)
            if any(isinstance(size, torch.SymInt) for size in shape):
                self.sizes.setdefault(value.operand, tuple(map(str, shape)))

    def _function(self, node: fx.Node, env: dict[fx.Node, object], frames: Frames | None) -> object:
        target: Any = node.target
        if target is operator.getitem:
            whole: Any = env[node.args[0]] if isinstance(node.args[0], fx.Node) else node.args[0]
            index: Any = node.args[1]
            if not isinstance(whole, _Value):
                return whole[index]
            if whole.results and (result := whole.results[index]) is not None:
                return _Value(result)
        elif target in _GLUE:
            values = _valued(node.args, env)
            try:
                # What a call returns that is not followed may be a tuple: only its user knows.
                if self._inline or not isinstance(values[0], _Value):
                    return target(*values)
            except (RuntimeError, TypeError, ValueError, LookupError) as error:  # what pytree raises
                raise BrokenError(f"{node.name} does not fit what it is given: {error}") from error
        operands: list[Operand] = []
        bodies: list[_Body] = []
        text = _text(node.args, operands, env, bodies)
        if node.kwargs:
            text += _text(node.kwargs, operands, env, bodies)
        name, impure, writes, shares, reshapes = effects_of(target)
        dimension: Any = node.args[1] if target is torch.ops.aten.sym_size.int else None
        step = Step(
            name,
            text,
            tuple(operands),
            frames,
            impure,
            reshapes=reshapes,
            dimension=dimension,
            name=node.name,
            idle=does_nothing(node),
        )
        if bodies:
            step = _with_bodies(step, bodies)
        elif writes or shares:
            given: dict[Any, Any] = {**dict(enumerate(node.args)), **node.kwargs}
            step = step._replace(
                writes=tuple(_operands([given.get(each) for each in writes], env)),
                shares=tuple(_operands([given.get(each) for each in shares], env)),
            )
        self.steps.append(step)
        return _Value(len(self.steps) - 1, _changed(step, bodies))

    def _attribute(self, owner: nn.Module, target: str, name: str) -> object:
        attribute: Any = owner
        for part in target.split("."):
            attribute = getattr(attribute, part, None)
        if isinstance(attribute, fx.GraphModule):
            if id(attribute) not in self._bodies:
                self._bodies[id(attribute)] = _Body(attribute)
            return self._bodies[id(attribute)]
        if isinstance(attribute, torch.Tensor | torch.ScriptObject):
            return _Value(base_name(f"{name}.{target}" if name else target))
        if attribute is None:
            raise BrokenError(f"{name or 'the root'} has no {target}")
        return attribute

    def _module(
        self, owner: nn.Module, target: str, name: str, frames: Frames, args: Any, kwargs: Any
    ) -> object:
        module = _below(owner, target)
        if not self._inline:
            return self._called(module, args, kwargs)
        below = base_name(f"{name}.{target}" if name else target)
        if module is None:
            raise BrokenError(f"{name or 'the root'} calls {target}, which is not there")
        if isinstance(module, fx.GraphModule):  # such as the _guards_fn of ep.module()
            return None
        if (turns := getattr(module, "_call_modules", None)) is not None:
            turn = self._turns.get(id(module), 0)
            self._turns[id(module)] = turn + 1
            module = turns[turn % len(turns)]
        if not has_graph(module):
            raise BrokenError(f"{name or 'the root'} calls {target}, which has no graph")
        if len(frames) > _DEPTH:
            raise BrokenError(f"{below} calls itself")
        number = len(self.calls)
        self.calls.append((below, int(frames[-1].call) if frames else None))
        self.ran.append(module)
        inner: Any = module.graph
        return self._run(module, inner, below, (*frames, ModuleFrame(below, number)), iter(args), kwargs)

    def _called(self, module: nn.Module | None, args: Any, kwargs: Any) -> _Value:
        operands: list[Operand] = []
        text = _text((args, kwargs), operands)
        what = "nothing" if module is None else graph_text(module)
        self.steps.append(Step(f"call of [{what}]", text, tuple(operands), ()))
        return _Value(len(self.steps) - 1)

    def _copy(self, target: str, value: object) -> None:
        operands: list[Operand] = []
        text = _text((_Value(target), value), operands)
        self.steps.append(
            Step("aten.copy_.default", text, tuple(operands), None, writes=(target,), shares=(target,))
        )


_DEPTH = 50
_GLUE: frozenset[Any] = frozenset({fx_pytree.tree_flatten_spec, pytree.tree_unflatten, pytree.tree_flatten})
"""How the graphs of modules with preserved signatures flatten and unflatten their arguments."""
_REGIONS = frozenset({"wrap_with_set_grad_enabled", "wrap_with_autocast"})


def _valued(argument: Any, env: dict[fx.Node, object]) -> Any:
    """Replace nodes by their values."""
    value_of: Any = env.__getitem__
    return fx.map_arg(argument, value_of)


def _operands(argument: Any, env: dict[fx.Node, object]) -> list[Operand]:
    found: list[Operand] = []
    _text(argument, found, env)
    return found


def _inputs(graph: fx.Graph) -> int:
    return sum(node.op == "placeholder" for node in graph.nodes)


def _with_bodies(step: Step, bodies: list[_Body]) -> Step:
    """Return the step of an operator that holds graphs, with the side effects of these graphs."""
    region = step.operator in _REGIONS

    def among(flags: list[bool]) -> set[Operand]:
        # The inputs of a graph are the last operands.
        given = step.operands[-len(flags) :] if flags else ()
        return {o for o, flag in zip(given, flags, strict=False) if flag}

    return step._replace(
        impure=any(body.impure for body in bodies),
        writes=tuple(set().union(*(among(body.writes) for body in bodies))),
        shares=tuple(set().union(*(among(body.shares) for body in bodies))),
        inside=tuple(frames for body in bodies for frames in body.inside) if region else (),
        opaque=not region or any(body.opaque for body in bodies),
    )


def _changed(step: Step, bodies: list[_Body]) -> list[Operand | None]:
    """Return, for each result of a region, the operand that it is, changed in place; or None."""
    if step.operator not in _REGIONS or len(bodies) != 1:
        return []
    inputs = len(bodies[0].shares)
    given = step.operands[-inputs:] if inputs else ()
    if len(given) < inputs:
        return []
    return [None if number is None else given[number] for number in bodies[0].results]


def _recorded(node: fx.Node) -> Frames | None:
    """Return the call stack that export recorded for a node."""
    stack = module_stack(node)
    if not stack:
        return None
    return tuple([ModuleFrame(path, key) for key, (path, _) in stack.items() if path])


def _text(
    value: Any,
    operands: list[Operand],
    env: dict[fx.Node, object] | None = None,
    bodies: list[_Body] | None = None,
) -> str:
    """Return nested arguments as text; append to ``operands`` one operand for each ``%`` in it."""
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


def base_name(name: str) -> str:
    """Return a name without the numbers of call variants."""
    return _VARIANT.sub("", name)


def has_graph(module: nn.Module) -> bool:
    """Whether a module runs a graph; some exist for their state or their name only."""
    graph = getattr(module, "graph", None)
    return isinstance(graph, fx.Graph) and len(graph.nodes) > 0


def graph_text(module: nn.Module) -> str:
    """Return the graph of a module and its submodules as text; equal texts mean equal behaviour."""
    if not has_graph(module):
        return "no graph"
    graph: Any = module.graph
    listing = Reader(stacks=False, inline=False).read(module, graph)
    return f"{_inputs(graph)} inputs\n{listing.text}"
