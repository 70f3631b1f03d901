"""Tags of how modules are nested and shared, and of the layers of ``nn``."""

from __future__ import annotations

from collections import defaultdict

from exportdiff_strategies import program as ir
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.regions import HOOKS, PARAMETRIZATIONS
from exportdiff_strategies.tags.analysis import Analysis, Route
from exportdiff_strategies.tags.tag import Tag, has_node, marked


def _depth(p: Analysis) -> int:
    """The number of levels of module classes."""
    levels: dict[str, int] = {}
    for cls in p.classes:
        below = [
            levels[name] for name in (cls.guest, *(new.name for new in ir.new_modules(cls))) if name in levels
        ]
        levels[cls.name] = 1 + max(below, default=0)
    return levels[p.root.name]


def _shared_modules(p: Analysis) -> list[list[Route]]:
    """The occurrences of each module that can be reached in several ways."""
    found: dict[int, list[Route]] = defaultdict(list)
    for each in p.occurrences:
        if not isinstance(each.module.kind, str):
            found[id(each.module)].append(each)
    return [group for group in found.values() if len(group) > 1]


def _callers(p: Analysis) -> dict[int, set[int]]:
    """Module -> the modules that call it (all by id)."""
    found: dict[int, set[int]] = defaultdict(set)
    for call in p.called:
        found[call.callee].add(call.caller)
    return found


def _never_called(p: Analysis) -> bool:
    called = {call.callee for call in p.called}
    return any(
        id(each.module) not in called and not isinstance(each.module.kind, str) for each in p.occurrences
    )


def _has_two_names(p: Analysis) -> bool:
    ways = ({(id(each.parent), each.step) for each in group} for group in _shared_modules(p))
    return any(len({parent for parent, _ in names}) < len(names) for names in ways)


def _uses_slice(p: Analysis) -> bool:
    paths = [node.container for node in p.nodes if isinstance(node, ir.Loop)]
    paths += [call.callee for call in p.calls]
    return any(isinstance(step, ir.Slice) for path in paths for step in path)


TABLE: dict[str, Tag] = {
    "hierarchy.flat": Tag("the root is the only module class", lambda p: _depth(p) == 1),
    "hierarchy.depth2": Tag("two levels of module classes", lambda p: _depth(p) == 2),
    "hierarchy.depth3": Tag("three levels of module classes", lambda p: _depth(p) == 3),
    "hierarchy.depth4": Tag("four levels of module classes", lambda p: _depth(p) == 4),
    "hierarchy.shared": Tag("one instance under two attributes of one module", _has_two_names),
    "hierarchy.two_parents": Tag(
        "one instance under attributes of two modules",
        lambda p: any(len({id(each.parent) for each in group}) > 1 for group in _shared_modules(p)),
    ),
    "hierarchy.alias_levels": Tag(
        "one instance at two depths",
        lambda p: any(len({each.depth for each in group}) > 1 for group in _shared_modules(p)),
    ),
    "hierarchy.recursive": Tag(
        "one instance called by two modules", lambda p: any(len(c) > 1 for c in _callers(p).values())
    ),
    "hierarchy.guest": Tag("an existing module passed to a constructor", has_node(ir.New, lambda n: n.guest)),
    "hierarchy.module_list": Tag("an nn.ModuleList", has_node(ir.Container, kind="ModuleList")),
    "hierarchy.module_dict": Tag("an nn.ModuleDict", has_node(ir.Container, kind="ModuleDict")),
    "hierarchy.sequential": Tag("an nn.Sequential", has_node(ir.Container, kind="Sequential")),
    "hierarchy.plain_container": Tag(
        "modules in a plain list or dict", has_node(ir.Container, lambda c: c.kind in ("list", "dict"))
    ),
    "hierarchy.aside": Tag("a module in an attribute that is not registered", has_node(ir.Bind, aside=True)),
    "hierarchy.copied": Tag("copy.copy of a module", has_node(ir.CopiedModule, deep=False)),
    "hierarchy.deep_copied": Tag("copy.deepcopy of a module", has_node(ir.CopiedModule, deep=True)),
    "hierarchy.nested_container": Tag(
        "a container in a container",
        has_node(ir.Container, lambda c: any(isinstance(item, ir.Container) for item in c.items)),
    ),
    "hierarchy.sliced": Tag("part of a container iterated or called", _uses_slice),
    "hierarchy.never_called": Tag("a module that nothing calls", _never_called),
    "hierarchy.no_op_child": Tag("a call of a child that runs no tensor op", marked("hierarchy.no_op_child")),
    "hierarchy.graph_root": Tag("an fx.GraphModule as the model", lambda p: p.program.graph),
    "hierarchy.graph_root_containers": Tag(
        "an fx.GraphModule as the model, with a container", lambda p: p.program.graph and p.has(ir.Container)
    ),
    "hierarchy.graph_module": Tag("an fx.GraphModule child", has_node(ir.NewChild, traced=True)),
    "hierarchy.hook": Tag("a forward hook", has_node(ir.Hook, lambda h: not HOOKS[h.name].before)),
    "hierarchy.pre_hook": Tag("a forward pre-hook", has_node(ir.Hook, lambda h: HOOKS[h.name].before)),
    "hierarchy.parametrized": Tag("torch.nn.utils.parametrize on a module", has_node(ir.Parametrize)),
    **{
        f"hierarchy.{name}": Tag(f"the parametrization {name}", has_node(ir.Parametrize, name=name))
        for name in PARAMETRIZATIONS
    },
    **{
        f"layer.{name}": Tag(f"the layer {name} of nn", has_node(ir.New, layer=True, name=name))
        for name in LAYERS
    },
}
