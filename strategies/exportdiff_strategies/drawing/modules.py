"""Finding modules and attributes below a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exportdiff_strategies import program as ir
from exportdiff_strategies.values import Instance, Value


def walk(owner: Instance, depth: int) -> Iterator[tuple[ir.AttributePath, Value]]:
    """Everything within ``depth`` attribute steps of a module; steps into containers do not count."""
    for step, value in owner.attrs.items():
        yield (step,), value
        # A traced module only keeps the attributes that it uses.
        if isinstance(value, Instance) and not value.traced:
            inner = depth if isinstance(value.kind, str) else depth - 1
            if inner > 0:
                for path, found in walk(value, inner):
                    yield (step, *path), found


def modules(owner: Instance, depth: int) -> Iterator[tuple[ir.AttributePath, Instance]]:
    """The modules within ``depth`` attribute steps, without containers."""
    for path, value in walk(owner, depth):
        if isinstance(value, Instance) and not isinstance(value.kind, str):
            yield path, value


def containers(owner: Instance, kinds: Iterable[str]) -> Iterator[tuple[ir.AttributePath, Instance]]:
    """The containers of some kinds that are attributes of a module."""
    for path, value in walk(owner, 1):
        if isinstance(value, Instance) and isinstance(value.kind, str) and value.kind in kinds:
            yield path, value


def module_at(owner: Instance, path: ir.AttributePath) -> Instance:
    """The module at a path from ``owner`` that contains no slice."""
    for step in path:
        assert not isinstance(step, ir.Slice)
        value = owner.attrs[step]
        assert isinstance(value, Instance)
        owner = value
    return owner


def class_of(instance: Instance) -> ir.ClassDef | None:
    """The class of the Program that a module is an instance of, if any."""
    return instance.kind if isinstance(instance.kind, ir.ClassDef) else None


def classes(owner: Instance, depth: int) -> list[ir.ClassDef]:
    """The classes of the modules within ``depth`` attribute steps, without layers."""
    return [cls for _, module in modules(owner, depth) if (cls := class_of(module)) is not None]


def count_instances(root: Instance, seen: set[int] | None = None) -> int:
    """The number of module objects at and below ``root``."""
    seen = set() if seen is None else seen
    if id(root) in seen:
        return 0
    seen.add(id(root))
    return 1 + sum(count_instances(v, seen) for v in root.attrs.values() if isinstance(v, Instance))


def is_instance_of(module: Instance, name: str) -> bool:
    """Whether a module is an instance of this class, and is not traced."""
    cls = class_of(module)
    return cls is not None and cls.name == name and not module.traced
