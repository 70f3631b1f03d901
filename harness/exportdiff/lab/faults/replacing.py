"""A fault that can be planted in any model: after export, one operator at a random place is another one.

The fault knows its place, so it can be compared with the first difference that exportdiff finds.
"""

from __future__ import annotations

import contextlib
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from exportdiff.lab.faults.registry import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PAIRS = (
    *(("add.Tensor", "sub.Tensor"), ("mul.Tensor", "add.Tensor"), ("div.Tensor", "mul.Tensor")),
    *(("add.Scalar", "sub.Scalar"), ("mul.Scalar", "add.Scalar"), ("div.Scalar", "mul.Scalar")),
    *(("add_.Tensor", "sub_.Tensor"), ("mul_.Tensor", "div_.Tensor"), ("sub.Tensor", "add.Tensor")),
    *(("sin.default", "cos.default"), ("cos.default", "sin.default"), ("tanh.default", "sigmoid.default")),
    *(("sigmoid.default", "tanh.default"), ("relu.default", "neg.default"), ("neg.default", "abs.default")),
    *(("relu_.default", "neg_.default"), ("neg_.default", "abs_.default"), ("exp.default", "neg.default")),
    *(("abs.default", "neg.default"), ("gelu.default", "relu.default"), ("silu.default", "relu.default")),
    *(("sum.dim_IntList", "mean.dim"), ("mean.dim", "sum.dim_IntList"), ("sum.default", "mean.default")),
    *(("mean.default", "sum.default"), ("amax.default", "amin.default"), ("amin.default", "amax.default")),
    *(("maximum.default", "minimum.default"), ("minimum.default", "maximum.default")),
    *(("sqrt.default", "neg.default"), ("rsqrt.default", "neg.default"), ("square.default", "neg.default")),
    *(("clone.default", "neg.default"), ("floor.default", "ceil.default"), ("sinh.default", "cosh.default")),
    *(
        ("cumsum.default", "cumprod.default"),
        ("pow.Tensor_Scalar", "mul.Scalar"),
        ("log.default", "neg.default"),
    ),
    *(("zeros_like.default", "ones_like.default"), ("ones_like.default", "zeros_like.default")),
)
"""Operators of ATen, and other ones that take the same arguments and give tensors of the same shape."""


def _operator(name: str) -> Any:
    packet, overload = name.split(".")
    return getattr(getattr(torch.ops.aten, packet), overload)


REPLACED: dict[Any, Any] = {_operator(one): _operator(other) for one, other in _PAIRS}


@dataclass
class Replacement:
    """Which operator was replaced; empty before any export."""

    module: str = ""
    operator: str = ""
    """As ``aten.add``."""

    def note(self, node: fx.Node, around: str) -> None:
        """Note the node that gets another operator. ``around``: the module that runs its graph."""
        self.module = _module(node) or around
        self.operator = ".".join(str(node.target).split(".")[:2])


@contextlib.contextmanager
def operator_replaced(seed: str) -> Iterator[Replacement]:
    """Replace one operator of each program that is exported in the block, always the same one."""
    done = Replacement()

    def exported(original: Any, *args: Any, **kwargs: Any) -> Any:
        program = original(*args, **kwargs)
        _replace_one(dict(_graphs(program.graph_module, "")), seed, done)
        return program

    with wrapped(torch.export, "export", exported):
        yield done


@contextlib.contextmanager
def operator_of_a_call_replaced(seed: str) -> Iterator[Replacement]:
    """Replace one operator of each module that ``unflatten`` makes: it may be in a call variant."""
    done = Replacement()

    def unflattened(original: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        parts = [part for part in made.modules() if _is_unflattened(part)]
        graphs = {graph: around for part in parts for graph, around in _graphs(part, "")}
        _replace_one(graphs, seed, done)
        for part in parts:
            part.finalize()
        return made

    with wrapped(torch.export, "unflatten", unflattened):
        yield done


def _is_unflattened(part: Any) -> bool:
    return isinstance(getattr(part, "graph", None), fx.Graph) and not isinstance(part, fx.GraphModule)


def _module(node: fx.Node) -> str:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return re.sub(r"@\d+|^_export_root[.]?", "", stack[-1][0]) if stack else ""


def _graphs(module: Any, around: str) -> Iterator[tuple[fx.Graph, str]]:
    """Yield a graph, and those of its conditions, loops and regions, each with the module that runs it."""
    yield module.graph, around
    for node in module.graph.nodes:
        for each in node.all_input_nodes if node.op == "call_function" else ():
            part = getattr(module, str(each.target), None) if each.op == "get_attr" else None
            if isinstance(part, fx.GraphModule):
                yield from _graphs(part, _module(node) or around)


def _replace_one(graphs: Mapping[fx.Graph, str], seed: str, done: Replacement) -> None:
    nodes = [node for graph in graphs for node in graph.nodes if node.target in REPLACED]
    nodes = [node for node in nodes if node.users or "_." in str(node.target)]
    if not nodes:
        return
    node = random.Random(seed).choice(nodes)
    done.note(node, graphs[node.graph])
    node.target = REPLACED[node.target]
    owner = node.graph.owning_module
    if isinstance(owner, fx.GraphModule):
        owner.recompile()
