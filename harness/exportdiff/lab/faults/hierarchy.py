"""Faults of torch.export.unflatten: the modules, and the calls between them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torch.export import UnflattenedModule

from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

# The name torch.export.unflatten is the function; this is the module that defines the function.
unflattening: Any = sys.modules[UnflattenedModule.__module__]

CALLED_TWICE = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 0.5))

    def forward(self, x, flag):
        return x * self.weight if flag else x + self.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, True) + 1, False)
"""

TWO_NUMBERS = """
class Child(nn.Module):
    def forward(self, x, number):
        return x + number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, 1) * 2, 3)
"""

TWO_KEYWORDS = """
class Child(nn.Module):
    def forward(self, x, number):
        return torch.add(x, x, alpha=number)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, 3) * 2, 4)
"""

TWO_BUFFERS = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.full((3,), 0.5))
        self.register_buffer("two", torch.full((3,), 0.25))

    def forward(self, x, flag):
        return x * (self.one if flag else self.two)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, True) + 1, False)
"""

TWO_LEVELS = """
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 0.5))

    def forward(self, x, flag):
        return x * self.weight if flag else x + self.weight


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, flag):
        return self.inner(x, flag) * (2 if flag else 3)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(self.outer(x, True), False)
"""

DROPPED = """
class Inner(nn.Module):
    def forward(self, x):
        return x * 2


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.children_ = nn.ModuleList([Inner()])

    def forward(self, x):
        return self.children_[0](x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        self.outer(x)
        return self.outer(x)
"""

SAME_CALL_TWICE = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 0.5))

    def forward(self, x):
        return x * self.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x) + 1)
"""

NEVER_CALLED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 3)
        self.spare = nn.Identity()

    def forward(self, x):
        return self.used(x)
"""

CLOSURE = """
class One(nn.Module):
    def forward(self, x, function):
        return function(x * 2)


class Two(nn.Module):
    def forward(self, x):
        return x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = One()
        self.two = Two()

    def forward(self, x):
        return self.one(x, self.two)
"""

COND_IN_CHILD = """
class Child(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x) * 2
"""


TWO_CHILDREN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.ReLU()
        self.two = nn.Sigmoid()

    def forward(self, x):
        return self.two(self.one(x))
"""


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE, cites="PR 137013")
def every_call_runs_the_first_calls_graph() -> AbstractContextManager[object]:
    """A submodule that is called twice runs the graph of its first call both times."""
    return wrapped(unflattening, "_check_graph_equivalence", lambda original, *modules: True)


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_NUMBERS)
def calls_with_different_numbers_share_a_graph() -> Iterator[None]:
    """Two calls of a submodule share a graph if they differ only in Python numbers."""
    same = edited(
        unflattening._check_graph_equivalence, "            return str(arg)", '            return ""'
    )
    with same:
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_KEYWORDS)
def calls_with_different_keyword_values_share_a_graph() -> Iterator[None]:
    """Two calls of a submodule share a graph if they differ only in keyword arguments of an operator."""
    same = edited(unflattening._check_graph_equivalence, 'f"{key}={value}"', "key")
    with same:
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_BUFFERS)
def calls_with_different_buffers_share_a_graph() -> Iterator[None]:
    """Two calls of a submodule share a graph if they differ only in the buffer that they read."""
    same = edited(
        unflattening._check_graph_equivalence, '("call_function", "get_attr")', '("call_function",)'
    )
    with same:
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE, cites="PR 142141")
def later_calls_lack_the_parameters() -> AbstractContextManager[object]:
    """Only the graph of a submodule's first call gets the parameters."""
    return edited(unflattening._assign_attr, "if _is_call_name(k, item)", "if k == item")


@fault(check="outputs", paths="nonstrict:unflatten*", source=DROPPED, cites="PR 179278")
def sorting_submodules_fails_on_later_calls() -> AbstractContextManager[object]:
    """Sorting the submodules looks up the name of a second call, which is not in the list."""
    return edited(
        unflattening._reorder_submodules,
        "fqn_order.get(fqn, fqn_order.get(base_fqn, len(fqn_order)))",
        "fqn_order[fqn]",
    )


@fault(check="outputs", paths="nonstrict:unflatten*", source=CLOSURE, cites="PR 159418")
def a_call_from_outside_the_parent_fails() -> AbstractContextManager[object]:
    """unflatten cannot place a module that is called by a module other than its parent."""
    return wrapped(unflattening, "_fix_nn_module_stacks", lambda original, graph: None)


@fault(check="outputs", paths="nonstrict:unflatten*", source=COND_IN_CHILD, cites="PR 138978")
def branch_graphs_are_not_copied() -> AbstractContextManager[object]:
    """A rebuilt submodule lacks the branch graphs of its torch.cond."""
    return wrapped(unflattening, "_copy_graph_attrs", lambda original, *rest: None)


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_LEVELS, cites="PR 137646")
def consecutive_calls_are_merged() -> AbstractContextManager[object]:
    """Two calls of a submodule with nothing between them become one call."""
    return edited(unflattening._ModuleFrame.run_from, 'int(k.split("@")[-1]) if "@" in k else 0', "0")


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def calls_with_other_operators_are_merged() -> AbstractContextManager[object]:
    """Two calls of a submodule share a graph if their graphs are equally long."""
    return edited(
        unflattening._check_graph_equivalence,
        "graph_dump(x.graph) == graph_dump(y.graph)",
        "len(x.graph.nodes) == len(y.graph.nodes)",
    )


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def later_calls_have_no_state() -> AbstractContextManager[object]:
    """Of the calls of a submodule that have a graph each, only the first gets its parameters."""
    return edited(unflattening._assign_attr, "if _is_call_name(k, item)", "if k == item")


@fault(check="purity", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def unflatten_prints_debug_output() -> AbstractContextManager[object]:
    """The debug output of unflatten is left on."""
    return edited(unflattening._ModuleFrame.__init__, "self.verbose = False", "self.verbose = True")


@fault(check="structure", paths="nonstrict:unflatten*", source=SAME_CALL_TWICE, cites="PR 137013")
def identical_calls_do_not_share_a_graph() -> AbstractContextManager[object]:
    """Two identical calls of a submodule do not share a graph."""
    return wrapped(unflattening, "_check_graph_equivalence", lambda original, *modules: False)


@fault(check="structure", paths="nonstrict:unflatten*", source=NEVER_CALLED)
def uncalled_modules_are_missing() -> AbstractContextManager[object]:
    """The rebuilt hierarchy lacks the modules that the model does not call."""
    return edited(unflattening._reorder_submodules, "if _get_submodule(parent, fqn) is None:", "if False:")


@fault(check="structure", paths="nonstrict:unflatten*", source=SAME_CALL_TWICE)
def operators_move_to_the_root() -> AbstractContextManager[object]:
    """The rebuilt root module runs the operators of its submodules itself."""
    return edited(unflattening._fix_nn_module_stacks, "if _is_prefix(prev_fqn, curr_fqn):", "if False:")


@fault(check="structure", paths="nonstrict:unflatten*", source=TWO_CHILDREN)
def submodules_come_in_reverse() -> AbstractContextManager[object]:
    """The submodules of an unflattened module are enumerated in reverse order."""
    return edited(
        unflattening._reorder_submodules,
        "children.sort(key=operator.itemgetter(0))",
        "children.sort(key=operator.itemgetter(0), reverse=True)",
    )
