"""Which classes ``fx.symbolic_trace`` can trace."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.machine.construction import resolve
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.values import Instance


def traceable(cls: ir.ClassDef) -> bool:
    """Whether ``fx.symbolic_trace`` can trace a class: one that only takes tensors and runs pure ops."""
    if (
        cls.guest
        or cls.methods
        or any(arg.kind != "tensor" for arg in cls.args)
        or ir.of_type(cls.init, ir.NewChild)
    ):
        return False
    return all(_traceable(node) for node in ir.nodes(cls.body))


def _traceable(node: object) -> bool:
    if isinstance(node, ir.Op):
        return not OPS[node.name].mutates and OPS[node.name].group in _TRACED_GROUPS
    if isinstance(node, ir.Attr):
        return len(node.path) == 1
    return isinstance(node, ir.Var | ir.Lit | ir.Assign | ir.Return)


def traceable_root(cls: ir.ClassDef, owner: Instance) -> bool:
    """Whether a tracer that steps into no module can trace the root class; ``owner`` is an instance.

    Its arguments are proxies, so that it may neither branch on them nor compute with their metadata, and it
    may read no state but parameters and buffers, which are proxies too.
    """
    if any(arg.kind not in _PROXIES or not _plain(arg.default) for arg in cls.args):
        return False
    return all(_traceable_at_root(node, owner) for node in ir.nodes(cls.body))


_PROXIES = ("tensor", "optional", "tuple", "list", "dict", "bool", "int", "float", "str")
"""The kinds of arguments that a graph passes on as they are."""


def _plain(given: ir.Lit | None) -> bool:
    """Whether the code of a graph can contain a constant."""
    return given is None or not isinstance(given.value, ir.Kind | ir.Size)


def _traceable_at_root(node: object, owner: Instance) -> bool:
    if isinstance(node, ir.Op):
        return OPS[node.name].group in (_TRACED_GROUPS | {"inplace.value"})
    if isinstance(node, ir.Attr):
        holder = resolve(owner, node.path[:-1])
        step = node.path[-1]
        if (
            not isinstance(holder, Instance)
            or step in holder.parametrized
            or _leads_through_plain(owner, node.path[:-1])
        ):
            return False
        return holder.slots.get(step) in ("parameter", "buffer", "scratch")
    if isinstance(node, ir.CallModule):
        # Python makes a new container of a slice, which has no name either.
        named = node.callee != () and not isinstance(node.callee[-1], ir.Slice)
        named = named and not _leads_through_plain(owner, node.callee[:-1])
        return named and not node.method and node.form not in ("checkpoint", "packed")
    if isinstance(node, ir.Loop):
        return not _leads_through_plain(owner, node.container)
    if isinstance(node, ir.Lit):
        return _plain(node)
    if isinstance(node, ir.Collection):
        return node.kind in ("tuple", "list", "dict")
    return isinstance(node, ir.Var | ir.Item | ir.Do | ir.Assign | ir.Return)


def _leads_through_plain(owner: Instance, path: ir.AttributePath) -> bool:
    """Whether a path goes through a plain list or dict: a tracer finds no name for what is in there."""
    holders = (resolve(owner, path[:length]) for length in range(1, len(path) + 1))
    return any(isinstance(holder, Instance) and holder.kind in ("list", "dict") for holder in holders)


_TRACED_GROUPS = frozenset({"map", "zip", "activation", "reduce", "matmul", "view"})
"""Groups of ops that a traced class may use."""
