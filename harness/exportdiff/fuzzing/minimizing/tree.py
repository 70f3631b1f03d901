"""Python source as a tree, and edits of the tree: nodes to drop or to replace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from typing import TypeAlias, TypeVar, overload

import libcst as cst

N = TypeVar("N", bound=cst.CSTNode)
M = TypeVar("M", bound=cst.CSTNode)

Replacement: TypeAlias = "cst.CSTNode | Sequence[cst.CSTNode] | None"
Edit: TypeAlias = Mapping[cst.CSTNode, Replacement]
"""The replacement of each node to edit; None drops the node. If one node is inside another, only the edit of
the outer node applies, unless the inner node is part of the replacement."""


class SourceTree:
    """A parsed text. Nodes are compared by identity."""

    def __init__(self, source: str) -> None:
        """Parse. Raises libcst.ParserSyntaxError."""
        self.source = source
        self.module = cst.parse_module(source)
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.nodes = tuple(self._walk(self.module))
        """Every node except whitespace, parents first, in the order of the text."""

    def _walk(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        yield node
        for child in children(node):
            self.parents[child] = node
            yield from self._walk(child)

    @overload
    def of(self, kind: type[N], /) -> Iterator[N]: ...
    @overload
    def of(self, kind: type[N], other: type[M], /) -> Iterator[N | M]: ...
    def of(self, *kinds: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """Return the nodes of one or two types."""
        return (node for node in self.nodes if isinstance(node, kinds))

    def expressions(self) -> Iterator[cst.BaseExpression]:
        """Return all expressions."""
        return (node for node in self.nodes if isinstance(node, cst.BaseExpression))

    def statements(self) -> Iterator[cst.BaseStatement]:
        """Return all lines and compound statements."""
        return (node for node in self.nodes if isinstance(node, cst.BaseStatement))

    def above(self, node: cst.CSTNode, *kinds: type[N]) -> N | None:
        """Return the nearest node of these types that contains a node; None if there is none."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, kinds):
            parent = self.parents.get(parent)
        return parent

    def siblings(self, node: N) -> Iterator[N]:
        """Return the node, and the nodes of its type that have the same parent."""
        return (each for each in children(self.parents[node]) if isinstance(each, type(node)))

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the text, including names of attributes."""
        return frozenset(name.value for name in self.of(cst.Name))

    def edited(self, edit: Edit) -> str:
        """Return the text after an edit. Raises what LibCST raises if the new tree is not valid."""
        module = self.rebuilt(self.module, edit)
        assert isinstance(module, cst.Module)
        return module.code

    def rebuilt(self, node: N, edit: Edit) -> N:
        """Return a node of this tree with an edit applied to its children."""
        touched: set[cst.CSTNode] = set()
        for each in edit:
            parent = self.parents.get(each)
            while parent is not None and parent not in touched:
                touched.add(parent)
                parent = self.parents.get(parent)
        return _Rebuilding(self, dict(edit), touched).inside(node)


class _Rebuilding:
    def __init__(
        self, tree: SourceTree, edit: dict[cst.CSTNode, Replacement], touched: set[cst.CSTNode]
    ) -> None:
        self._tree = tree
        self._edit = edit
        self._touched = touched

    def inside(self, node: N) -> N:
        if node not in self._touched:
            return node
        changes: dict[str, object] = {}
        for name in _fields(type(node)):
            value = getattr(node, name)
            if isinstance(value, cst.CSTNode):
                changes[name] = self._one(value)
            elif isinstance(value, list | tuple):
                changes[name] = self._several(value)
        return node.with_changes(**changes)

    def _one(self, node: cst.CSTNode) -> object:
        new = list(self._replaced(node))
        if not new:
            # LibCST marks a missing ``*args`` by this sentinel, not by None.
            return cst.MaybeSentinel.DEFAULT if isinstance(node, cst.Param) and node.star == "*" else None
        first = new[0]
        if isinstance(first, cst.IndentedBlock) and not first.body:
            return first.with_changes(body=[PASS])
        return first

    def _several(self, nodes: Sequence[object]) -> list[object]:
        new: list[object] = []
        for node in nodes:
            if isinstance(node, cst.CSTNode):
                new += self._replaced(node)
            else:
                new.append(node)
        if len(new) < len(nodes) and new and hasattr(new[-1], "comma") and isinstance(new[-1], cst.CSTNode):
            new[-1] = new[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return new

    def _replaced(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        if node not in self._edit:
            new = self.inside(node)
            # A line without a statement is dropped.
            if not isinstance(new, cst.SimpleStatementLine) or new.body:
                yield new
            return
        replacement = self._edit.pop(node)
        several = replacement if isinstance(replacement, list | tuple) else (replacement,)
        for each in several:
            if isinstance(each, cst.CSTNode):
                for one in self._replaced(each):
                    yield fitted(one, self._tree.parents.get(node), node)
        self._edit[node] = replacement


PASS = cst.SimpleStatementLine([cst.Pass()])


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Return the direct children of a node, except whitespace."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, list | tuple):
            yield from (each for each in value if isinstance(each, cst.CSTNode))


def below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Return a node and all nodes inside it."""
    yield node
    for child in children(node):
        yield from below(child)


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a node type that can hold more than whitespace, in the order of the text."""
    names = [field.name for field in fields(kind) if not field.name.startswith(("whitespace", "leading_"))]
    skipped = {"lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace", "comma", "semicolon", "header"}
    skipped |= {"footer", "equal", "lines_after_decorators", "trailing_whitespace", "indent", "dot", "colon"}
    if issubclass(kind, cst.IfExp):
        names = ["body", "test", "orelse"]
    if issubclass(kind, cst.FunctionDef | cst.ClassDef):
        names.sort(key=lambda name: name == "body")
    return tuple(name for name in names if name not in skipped)


_OPEN = (
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.BooleanOperation,
    cst.IfExp,
    cst.Lambda,
    cst.NamedExpr,
    cst.Yield,
)
_TIGHT = (
    cst.Attribute,
    cst.Subscript,
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.BooleanOperation,
    cst.IfExp,
)
_ROOMY_FOR_TUPLES = (cst.Return, cst.Assign, cst.Expr, cst.Index, cst.For)


def fitted(node: cst.CSTNode, parent: cst.CSTNode | None, old: cst.CSTNode | None = None) -> cst.CSTNode:
    """Put parentheses around an expression if its new parent requires them."""
    if not isinstance(node, cst.BaseExpression) or node.lpar:
        return node
    tight = isinstance(parent, _TIGHT) or (isinstance(parent, cst.Call) and parent.func is old)
    if isinstance(node, cst.Tuple):
        tight = not isinstance(parent, _ROOMY_FOR_TUPLES)
    if tight and isinstance(node, (*_OPEN, cst.Tuple)):
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node


def text(node: cst.CSTNode) -> str:
    """Return the source of a node."""
    return cst.Module([]).code_for_node(node).strip()


def substituted(node: N, new: Mapping[cst.CSTNode, cst.CSTNode]) -> N:
    """Return a node with some of the nodes inside it replaced."""
    if not new:
        return node
    holder = _Substitution(new)
    result = node.visit(holder)
    assert isinstance(result, cst.CSTNode)
    return result


class _Substitution(cst.CSTTransformer):
    def __init__(self, new: Mapping[cst.CSTNode, cst.CSTNode]) -> None:
        super().__init__()
        self._new = new
        self._stack: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self._stack.append(node)
        return node not in self._new

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        self._stack.pop()
        if original_node in self._new:
            parent = self._stack[-1] if self._stack else None
            return fitted(self._new[original_node], parent, original_node)  # type: ignore[return-value]  # any node
        return updated_node


def merged(edits: Iterable[Edit]) -> Edit:
    """Return several edits as one; if two edit the same node, the earlier one applies."""
    whole: dict[cst.CSTNode, Replacement] = {}
    for edit in edits:
        for node, replacement in edit.items():
            whole.setdefault(node, replacement)
    return whole


def names_in(node: cst.CSTNode) -> set[str]:
    """Return the names in a node, including names of attributes."""
    return {name.value for name in inside(node, cst.Name)}


def is_name(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is this name."""
    return isinstance(node, cst.Name) and node.value == name


def inside(node: cst.CSTNode, kind: type[N]) -> Iterator[N]:
    """Return the nodes of a type among a node and all nodes inside it."""
    return (each for each in below(node) if isinstance(each, kind))


def suite(node: cst.CSTNode) -> Sequence[cst.BaseStatement]:
    """Return the statements of a module or an indented block; nothing for other nodes."""
    return node.body if isinstance(node, cst.Module | cst.IndentedBlock) else ()


def small(node: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """Return the first statement of a line; None if the node is not a line."""
    return node.body[0] if isinstance(node, cst.SimpleStatementLine) else None
