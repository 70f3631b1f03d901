"""What a source defines: classes, functions, the factory, and what a call may run. Does not execute it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from exportdiff.fuzzing.minimizing.tree import SourceTree, below, is_name, names_in

FACTORY = "make"


class Outline:
    """Facts about a tree for passes that edit several places at once.

    They may be wrong: a candidate that is made from a wrong fact is rejected, and costs only its time.
    """

    def __init__(self, tree: SourceTree) -> None:
        """Does not analyze the tree yet."""
        self.tree = tree
        self._attributes: dict[tuple[str, str], frozenset[str]] = {}
        self._asked: set[object] = set()

    @cached_property
    def classes(self) -> dict[str, cst.ClassDef]:
        """The classes, by name."""
        return {node.name.value: node for node in self.tree.of(cst.ClassDef)}

    @cached_property
    def functions(self) -> dict[str, cst.FunctionDef]:
        """The functions that are not methods, by name."""
        found = self.tree.of(cst.FunctionDef)
        return {node.name.value: node for node in found if self.owner(node) is None}

    @cached_property
    def methods(self) -> dict[tuple[str, str], cst.FunctionDef]:
        """The methods, by the name of the class and of the method."""
        found = [(self.owner(node), node) for node in self.tree.of(cst.FunctionDef)]
        return {(owner, node.name.value): node for owner, node in found if owner is not None}

    @cached_property
    def calls(self) -> list[tuple[cst.Call, list[cst.FunctionDef]]]:
        """Every call, with the functions of this tree that it may run."""
        return [(call, list(self._callees(call))) for call in self.tree.of(cst.Call)]

    def calls_of(self, function: cst.FunctionDef) -> list[cst.Call]:
        """Return the calls that may run a function."""
        return [call for call, callees in self.calls if function in callees]

    def owner(self, function: cst.CSTNode) -> str | None:
        """Return the name of the class of a method; None for a function."""
        block = self.tree.parents.get(function)
        parent = self.tree.parents.get(block) if block is not None else None
        return parent.name.value if isinstance(parent, cst.ClassDef) else None

    def method_around(self, node: cst.CSTNode) -> tuple[str, cst.FunctionDef] | None:
        """Return the name of the class and the method that contain a node."""
        function = self.tree.above(node, cst.FunctionDef)
        while function is not None:
            owner = self.owner(function)
            if owner is not None:
                return owner, function
            function = self.tree.above(function, cst.FunctionDef)
        return None

    def _callees(self, call: cst.Call) -> Iterator[cst.FunctionDef]:
        func = call.func
        if isinstance(func, cst.Name) and func.value in self.functions:
            yield self.functions[func.value]
        elif isinstance(func, cst.Name) and (func.value, "__init__") in self.methods:
            yield self.methods[func.value, "__init__"]
        elif isinstance(func, cst.Attribute):
            named = [
                self.methods[owner, func.attr.value]
                for owner in sorted(self.kinds(func.value))
                if (owner, func.attr.value) in self.methods
            ]
            if named:
                yield from named
                return
        for owner in sorted(self.kinds(func)):
            if (owner, "forward") in self.methods:
                yield self.methods[owner, "forward"]

    def kinds(self, node: cst.CSTNode) -> frozenset[str]:
        """Return the classes of this tree whose instances an expression may be or contain."""
        if node in self._asked:
            return frozenset()
        self._asked.add(node)
        try:
            return self._kinds(node)
        finally:
            self._asked.discard(node)

    def _kinds(self, node: cst.CSTNode) -> frozenset[str]:
        match node:
            case cst.Name():
                return self._kinds_of_name(node)
            case cst.Attribute():
                found = [self._kinds_of_attribute(owner, node.attr.value) for owner in self.kinds(node.value)]
                return frozenset().union(*found)
            case cst.Subscript():
                return self.kinds(node.value)
            case cst.Call(func=cst.Name(value=name)) if name in self.classes:
                return frozenset((name,))
            case cst.Call(func=cst.Attribute(value=receiver)):
                made = self.kinds(receiver)
                return made or frozenset().union(*(self.kinds(arg.value) for arg in node.args))
            case cst.List() | cst.Tuple() | cst.Dict() | cst.Set():
                return frozenset().union(*(self.kinds(element.value) for element in node.elements))
            case cst.IfExp():
                return self.kinds(node.body) | self.kinds(node.orelse)
        return frozenset()

    def _kinds_of_name(self, node: cst.Name) -> frozenset[str]:
        around = self.method_around(node)
        function = self.tree.above(node, cst.FunctionDef)
        if function is None:
            return frozenset()
        if around is not None and node.value == self_name(around[1]):
            return frozenset((around[0],))
        found: list[frozenset[str]] = []
        for value in assigned(function, node.value):
            found.append(self.kinds(value))
        names = parameters(function)
        if around is not None and function.name.value == "__init__" and node.value in names:
            index = names.index(node.value) - 1
            for call in self.tree.of(cst.Call):
                if is_name(call.func, around[0]):
                    for number, arg in enumerate(call.args):
                        if arg.keyword.value == node.value if arg.keyword else number == index:
                            found.append(self.kinds(arg.value))
        return frozenset().union(*found)

    def _kinds_of_attribute(self, owner: str, name: str) -> frozenset[str]:
        if (owner, name) not in self._attributes:
            self._attributes[owner, name] = frozenset()
            found: list[frozenset[str]] = []
            for (cls, _), method in self.methods.items():
                if cls == owner:
                    for statement in below(method):
                        if isinstance(statement, cst.Assign) and any(
                            is_own_attribute(target.target, method, name) for target in statement.targets
                        ):
                            found.append(self.kinds(statement.value))
            self._attributes[owner, name] = frozenset().union(*found)
        return self._attributes[owner, name]

    @cached_property
    def root(self) -> str | None:
        """The class of the model."""
        made = self._made("make", 0)
        kinds = self.kinds(made) if made is not None else frozenset()
        return min(kinds) if kinds else None

    @cached_property
    def given(self) -> list[tuple[cst.BaseExpression | None, cst.BaseExpression | None]]:
        """The args and kwargs of each call of the model: from the factory, then from ``probes``."""
        pairs = [(self._made("make", 1), self._made("make", 2))]
        for value in self._returned("probes"):
            if isinstance(value, cst.List | cst.Tuple):
                for probe in value.elements:
                    if isinstance(probe.value, cst.Tuple) and len(probe.value.elements) == 2:
                        pairs.append((probe.value.elements[0].value, probe.value.elements[1].value))
        return pairs

    @cached_property
    def specs(self) -> list[cst.BaseExpression]:
        """The expressions that ``dynamic_shapes`` returns."""
        return self._returned("dynamic_shapes")

    def _made(self, function: str, index: int) -> cst.BaseExpression | None:
        for value in self._returned(function):
            if isinstance(value, cst.Tuple) and len(value.elements) > index:
                return value.elements[index].value
        return None

    def _returned(self, name: str) -> list[cst.BaseExpression]:
        function = self.functions.get(name)
        if function is None:
            return []
        returns = [node for node in below(function) if isinstance(node, cst.Return)]
        return [node.value for node in returns if node.value is not None]


def is_made_tensor(node: cst.CSTNode) -> bool:
    """Whether a node makes a tensor of literals alone: ``torch.ones(2, 3)``."""
    return (
        isinstance(node, cst.Call)
        and is_of_torch(node.func)
        and not any(names_in(arg.value) for arg in node.args)
    )


def is_of_torch(node: cst.CSTNode) -> bool:
    """Whether a node is ``torch.name``."""
    return isinstance(node, cst.Attribute) and is_name(node.value, "torch")


def self_name(method: cst.FunctionDef) -> str:
    """Return the name of the first parameter of a method."""
    names = parameters(method)
    return names[0] if names else "self"


def parameters(function: cst.FunctionDef) -> list[str]:
    """Return the names of the positional parameters."""
    return [param.name.value for param in (*function.params.posonly_params, *function.params.params)]


def assigned(function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression]:
    """Return the values that a function assigns to a name; for a loop variable, the iterable."""
    for node in below(function):
        if isinstance(node, cst.Assign):
            for target in node.targets:
                if is_name(target.target, name):
                    yield node.value
        elif isinstance(node, cst.For | cst.CompFor) and name in names_in(node.target):
            yield node.iter


def is_own_attribute(node: cst.CSTNode, method: cst.FunctionDef, name: str) -> bool:
    """Whether a node reads ``self.name``."""
    return (
        isinstance(node, cst.Attribute) and node.attr.value == name and is_name(node.value, self_name(method))
    )
