"""Faults of torch.export.unflatten: modules, and who calls whom."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torch.export import UnflattenedModule

from harness.faults.registry import fault, wrapped
from harness.patching.editing import edited

if TYPE_CHECKING:
    from collections.abc import Iterator

# The attribute torch.export.unflatten is the function; this is the module that it lives in.
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
"""

NEVER_CALLED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 3)
        self.spare = nn.Identity()

    def forward(self, x):
        return self.used(x)


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
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


def make():
    return Model(), (torch.ones(2, 3),)
"""


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE, cites="PR 137013")
def every_call_runs_the_first_calls_graph() -> Iterator[None]:
    """A submodule called twice runs its first graph both times."""
    with wrapped(unflattening, "_check_graph_equivalence", lambda original, *modules: True):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_NUMBERS)
def calls_that_differ_in_a_number_are_one() -> Iterator[None]:
    """Two calls of a submodule share a graph if they differ in Python numbers only."""
    same = edited(
        unflattening._check_graph_equivalence, "            return str(arg)", '            return ""'
    )
    with same:
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_KEYWORDS)
def calls_that_differ_in_a_keyword_are_one() -> Iterator[None]:
    """Two calls of a submodule share a graph if they differ in keyword arguments of an operator only."""
    same = edited(unflattening._check_graph_equivalence, 'f"{key}={value}"', "key")
    with same:
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_BUFFERS)
def calls_that_differ_in_a_buffer_are_one() -> Iterator[None]:
    """Two calls of a submodule share a graph if they differ in which buffer they read only."""
    same = edited(
        unflattening._check_graph_equivalence, '("call_function", "get_attr")', '("call_function",)'
    )
    with same:
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=CALLED_TWICE, cites="PR 142141")
def further_calls_lack_the_parameters() -> Iterator[None]:
    """Parameters are assigned to the graph of the first call of a submodule only."""
    with edited(unflattening._assign_attr, "if _is_call_name(k, item)", "if k == item"):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=DROPPED, cites="PR 179278")
def further_calls_have_no_place_in_the_order() -> Iterator[None]:
    """Sorting the submodules looks for the name of a second call, which is not in the list."""
    with edited(
        unflattening._reorder_submodules,
        "fqn_order.get(fqn, fqn_order.get(base_fqn, len(fqn_order)))",
        "fqn_order[fqn]",
    ):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=CLOSURE, cites="PR 159418")
def a_call_out_of_the_hierarchy_is_an_error() -> Iterator[None]:
    """A module that is called by one that is not its parent cannot be placed."""
    with wrapped(unflattening, "_fix_nn_module_stacks", lambda original, graph: None):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=COND_IN_CHILD, cites="PR 138978")
def branches_are_left_behind() -> Iterator[None]:
    """The graphs of torch.cond in a submodule are not handed to the rebuilt submodule."""
    with wrapped(unflattening, "_copy_graph_attrs", lambda original, *rest: None):
        yield


@fault(check="outputs", paths="nonstrict:unflatten*", source=TWO_LEVELS, cites="PR 137646")
def calls_in_a_row_are_one() -> Iterator[None]:
    """Two calls of a submodule with nothing in between are taken for one."""
    with edited(unflattening._ModuleFrame.run_from, 'int(k.split("@")[-1]) if "@" in k else 0', "0"):
        yield


@fault(check="purity", paths="nonstrict:unflatten*", source=CALLED_TWICE)
def unflatten_prints_what_it_does() -> Iterator[None]:
    """What was there to debug the rebuilding of the hierarchy is left on."""
    with edited(unflattening._ModuleFrame.__init__, "self.verbose = False", "self.verbose = True"):
        yield


@fault(check="structure", paths="nonstrict:unflatten*", source=SAME_CALL_TWICE, cites="PR 137013")
def every_call_has_a_graph_of_its_own() -> Iterator[None]:
    """Two calls of a submodule that do the same do not share a graph."""
    with wrapped(unflattening, "_check_graph_equivalence", lambda original, *modules: False):
        yield


@fault(check="structure", paths="nonstrict:unflatten*", source=NEVER_CALLED)
def modules_that_nothing_calls_are_gone() -> Iterator[None]:
    """The rebuilt hierarchy has the modules that are called, and no others."""
    with edited(unflattening._reorder_submodules, "if _get_submodule(parent, fqn) is None:", "if False:"):
        yield


@fault(check="structure", paths="nonstrict:unflatten*", source=SAME_CALL_TWICE)
def operators_are_filed_under_the_root() -> Iterator[None]:
    """The rebuilt root runs the operators of its submodules itself."""
    with edited(unflattening._fix_nn_module_stacks, "if _is_prefix(prev_fqn, curr_fqn):", "if False:"):
        yield
