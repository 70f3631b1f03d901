"""How the arguments of a call become the local variables of a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops import Rejected, forbid
from exportdiff_strategies.values import CollectionValue, Value


def method_of(cls: ir.ClassDef, name: str) -> tuple[tuple[ir.Arg, ...], tuple[ir.Stmt, ...]]:
    """The parameters and the body of a method. Raises Rejected if the class has no such method."""
    if name == "forward":
        return cls.args, cls.body
    for method in cls.methods:
        if method.name == name:
            return method.args, method.body
    raise Rejected("no such method")


def out_of_order(parameters: Sequence[ir.Arg], kwargs: Iterable[str]) -> bool:
    """Whether keyword arguments are in another order than the parameters (``**options`` come last)."""
    order = {arg.name: number for number, arg in enumerate(parameters)}
    places = [order.get(name, len(order)) for name in kwargs]
    return places != sorted(places)


def bind(
    parameters: Sequence[ir.Arg], args: Sequence[Value], kwargs: Mapping[str, Value]
) -> dict[str, Value]:
    """The local variables that a call starts with. Raises Rejected if Python raises TypeError."""
    names: dict[str, Value] = {}
    plain = [arg for arg in parameters if arg.kind not in ("rest", "options")]
    rest = [arg.name for arg in parameters if arg.kind == "rest"]
    options = [arg.name for arg in parameters if arg.kind == "options"]
    forbid(len(args) > len(plain) and not rest, "too many arguments")
    for arg, value in zip(plain, args, strict=False):
        names[arg.name] = value
    known = {arg.name for arg in plain if not arg.unnamed}
    more: dict[ir.Literal, Value] = {}
    for name, value in kwargs.items():
        forbid(name in names or (name not in known and not options), "unexpected keyword")
        if name in known:
            names[name] = value
        else:
            more[name] = value
    for arg in plain:
        if arg.name not in names:
            if arg.default is None:
                raise Rejected("missing argument")
            names[arg.name] = arg.default.value
    for name in rest:
        names[name] = CollectionValue("tuple", dict(enumerate(args[len(plain) :])))
    for name in options:
        names[name] = CollectionValue("dict", more)
    return names
