"""Which classes ``fx.symbolic_trace`` can trace."""

from __future__ import annotations

from strategies.ops import OPS
from strategies.program import Assign, Attr, Child, ClassDef, Lit, Op, Return, Var, nodes, of_type


def traceable(cls: ClassDef) -> bool:
    """Whether ``fx.symbolic_trace`` can trace a class: it takes tensors only, does not
    branch and changes nothing.
    """
    if cls.guest or cls.methods or any(arg.kind != "tensor" for arg in cls.args) or of_type(cls.init, Child):
        return False
    return all(_traceable(node) for node in nodes(cls.body))


def _traceable(node: object) -> bool:
    if isinstance(node, Op):
        return not OPS[node.name].mutates and OPS[node.name].group in _TRACED_GROUPS
    if isinstance(node, Attr):
        return len(node.path) == 1
    return isinstance(node, Var | Lit | Assign | Return)


_TRACED_GROUPS = frozenset({"map", "zip", "activation", "reduce", "matmul", "view"})
"""Groups of ops that a traced class may use."""
