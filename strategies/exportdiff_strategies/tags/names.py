"""Tags of names that torch uses itself, and of names that are easily confused."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.naming import (
    ARGUMENTS,
    ATTRIBUTES,
    KEYS,
    METHODS,
    WORDS,
    node_names,
    operator_names,
)
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Tag


def _records(p: Analysis) -> list[ir.Collection | ir.CollectionInput]:
    """All namedtuples and dataclasses, in the code and among the inputs."""
    found = (*p.nodes, *p.inputs)
    return [
        n for n in found if isinstance(n, ir.Collection | ir.CollectionInput) and n.kind in ("named", "data")
    ]


def _has_other_keys(p: Analysis) -> bool:
    dicts = (
        n
        for n in (*p.nodes, *p.inputs)
        if isinstance(n, ir.Collection | ir.CollectionInput) and n.kind == "dict"
    )
    return any(not isinstance(key, str) for each in dicts for key in each.keys)


def _named_as_torch(p: Analysis) -> bool:
    attributes = {getattr(node, "attr", "") for node in p.nodes}
    keys = {key for node in p.nodes if isinstance(node, ir.Container) for key in node.keys}
    return not attributes.isdisjoint((*ATTRIBUTES, *METHODS, *WORDS)) or not keys.isdisjoint(KEYS)


def _named_as_operator(p: Analysis) -> bool:
    names = {getattr(node, "attr", "") for node in p.nodes}
    arguments = {arg.name for arg in p.root.args}
    return not names.isdisjoint(operator_names(p.program)) or not arguments.isdisjoint(node_names(p.program))


def _named_alike(p: Analysis) -> bool:
    for cls in p.classes:
        names = [init.attr for init in cls.init if isinstance(init, ir.NewChild | ir.Container)]
        if any(one != other and other.startswith(one) for one in names for other in names):
            return True
    return False


TABLE: dict[str, Tag] = {
    "names.of_torch": Tag("an attribute or child with a name that torch uses itself", _named_as_torch),
    "names.operator": Tag(
        "an attribute or argument named like an operator, or like its node in the graph",
        _named_as_operator,
    ),
    "names.prefix": Tag("a child whose name begins with that of a sibling", _named_alike),
    "names.argument": Tag(
        "an argument of the model named like a name in the code of a graph",
        lambda p: any(arg.name in ARGUMENTS for arg in p.root.args),
    ),
    "names.keys": Tag("a dict with keys that are no text", _has_other_keys),
    "names.fields": Tag(
        "a namedtuple or dataclass with unusual field names",
        lambda p: any(g.keys != ir.FIELDS for g in _records(p)),
    ),
}
