"""Finding and replacing nodes of a Program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from exportdiff_strategies.program.classes import Arg, ClassDef, MethodDef
from exportdiff_strategies.program.construction import (
    Bind,
    Child,
    Container,
    CopiedModule,
    DerivedTensor,
    Hook,
    New,
    Parametrize,
    PythonAttr,
    TensorAttr,
    TensorContainer,
    UnsetTensor,
)
from exportdiff_strategies.program.expressions import (
    Attr,
    CallModule,
    CallVariable,
    Collection,
    Cond,
    Function,
    Item,
    Lit,
    Measure,
    ModuleOrMethod,
    Not,
    Op,
    Results,
    Star,
    Ternary,
    Var,
)
from exportdiff_strategies.program.inputs import AliasInput, CollectionInput, TensorInput
from exportdiff_strategies.program.statements import (
    Assign,
    Control,
    Do,
    Fail,
    If,
    Increment,
    LocalFunction,
    Loop,
    Repeat,
    Return,
    SetAttr,
    Swap,
    Try,
    With,
)

N = TypeVar("N")


def nodes(root: object) -> Iterator[object]:
    """The node ``root`` (or each node of a tuple) and all nodes below, in source order, outermost first."""
    if isinstance(root, tuple):
        for item in root:
            yield from nodes(item)
    elif type(root) in _PARTS:
        yield root
        for name in _PARTS[type(root)]:
            yield from nodes(getattr(root, name))


def rewritten(root: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of the tree at ``root`` in which ``change`` has replaced every node, innermost first."""
    if type(root) is tuple:  # not a Size, which is a value
        return tuple(rewritten(item, change) for item in root)
    if not is_dataclass(root) or isinstance(root, type):
        return root
    parts = {field.name: rewritten(getattr(root, field.name), change) for field in fields(root)}
    return change(replace(root, **parts))


_LEAVES = {"str", "int", "float", "bool", "AttributePath", "Shape", "Literal", "tuple[Literal, ...]"}
"""The types of fields that hold no nodes."""

_PARTS: dict[type, tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.type not in _LEAVES)
    for kind in (
        *(
            Lit,
            Var,
            Not,
            Attr,
            Op,
            Measure,
            Star,
            CallModule,
            CallVariable,
            ModuleOrMethod,
            Function,
            Collection,
            Item,
            Results,
        ),
        *(Ternary, Cond),
        *(
            Assign,
            Do,
            SetAttr,
            Swap,
            Increment,
            If,
            Loop,
            Repeat,
            With,
            Fail,
            Try,
            LocalFunction,
            Control,
            Return,
        ),
        *(
            New,
            Child,
            CopiedModule,
            Bind,
            Container,
            TensorAttr,
            TensorContainer,
            UnsetTensor,
            DerivedTensor,
            PythonAttr,
            Hook,
            Parametrize,
            Arg,
            MethodDef,
            ClassDef,
        ),
        *(TensorInput, AliasInput, CollectionInput),
    )
}
"""Kind of node -> the fields that may hold further nodes."""


def new_modules(cls: ClassDef) -> Iterator[New]:
    """The modules that the ``__init__`` of a class constructs, in source order."""
    return (node for node in nodes(cls.init) if isinstance(node, New))


def of_type(root: object, kind: type[N]) -> list[N]:
    """The nodes of one type in the tree at ``root``, in source order."""
    return [node for node in nodes(root) if isinstance(node, kind)]
