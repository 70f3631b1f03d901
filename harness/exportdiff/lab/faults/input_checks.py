"""Faults of torch's checks on inputs: the guards of ep.module(), the constraints of unflatten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch._export.utils as export_utils
import torch.export._unlift as unlifting
from torch.export import UnflattenedModule

from exportdiff.lab.faults.exporting import LINEAR
from exportdiff.lab.faults.registry import fault, wrapped
from exportdiff.lab.faults.unlifting import REST
from exportdiff.runtime.patching.editing import edited

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

RANGE = """
class Model(nn.Module):
    def forward(self, x):
        return x * 2


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=3, max=6)}}


def probes():
    return [((torch.ones(6, 3),), {}), ((torch.ones(3, 3),), {})]
"""

FLAG = """
class Model(nn.Module):
    def forward(self, x, flag):
        return x + 1 if flag else x * 3


def make():
    return Model(), (torch.ones(2, 3), True)
"""

SIZE = """
class Model(nn.Module):
    def forward(self, x):
        return x * x.shape[1]
"""

STRING = """
class Model(nn.Module):
    def forward(self, x, mode):
        return x + 1 if mode == "add" else x * 3


def make():
    return Model(), (torch.ones(2, 3), "add")
"""

BRANCH_BEYOND_RANGE = """
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] <= 6 else x * 3


def make():
    return Model(), (torch.ones(4, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=3, max=6)}}
"""

NOT_A_NUMBER = """
class Model(nn.Module):
    def forward(self, x, number):
        return torch.where(x > number, x, 2.0)


def make():
    return Model(), (torch.ones(2, 3), float("nan"))
"""


@fault(check="guards", paths="nonstrict:unflatten*", source=LINEAR)
def unflatten_expects_a_wrong_size() -> AbstractContextManager[object]:
    """The check of input sizes in unflatten is off by one."""
    return edited(export_utils._check_symint, "elif arg != int(symint):", "elif arg + 1 != int(symint):")


@fault(check="guards", paths="nonstrict:unflatten*", source=RANGE)
def unflatten_excludes_the_largest_size() -> AbstractContextManager[object]:
    """The check of input sizes in unflatten refuses the largest size of a range."""
    return edited(export_utils._check_symint, "if arg > max_val:", "if arg >= max_val:")


@fault(check="guards", paths="nonstrict:module*", source=RANGE)
def guards_exclude_the_largest_size() -> AbstractContextManager[object]:
    """The guard on a range of sizes refuses the largest size."""
    return edited(unlifting._get_input_guards_for_graph, 'f"{src} <= {max_val}"', 'f"{src} < {max_val}"')


@fault(check="guards", paths="nonstrict:module*", source=RANGE)
def guards_exclude_the_smallest_size() -> AbstractContextManager[object]:
    """The guard on a range of sizes refuses the smallest size."""
    return edited(unlifting._get_input_guards_for_graph, 'f"{src} >= {min_val}"', 'f"{src} > {min_val}"')


@fault(check="outputs", paths="nonstrict:module*", source=STRING)
def guards_write_strings_without_quotes() -> AbstractContextManager[object]:
    """The guard on a string lacks the quotes, so it reads the string as the name of a variable."""
    return edited(unlifting._get_input_guards_for_graph, "\"{src} == '{meta}'\"", '"{src} == {meta}"')


@fault(check="outputs", paths="nonstrict:module*", source=NOT_A_NUMBER, cites="PR 180399")
def guards_contain_the_text_nan() -> AbstractContextManager[object]:
    """The guard on a NaN contains the text nan, which is not defined there."""
    return edited(unlifting._get_input_guards_for_graph, "if math.isnan(meta):", "if False:")


@fault(check="outputs", paths="nonstrict:module*", source=REST)
def guards_misname_variadic_arguments() -> AbstractContextManager[object]:
    """Guards on *args use the names in the model's signature instead of the names in ep.module()."""
    return wrapped(unlifting, "_force_gm_signature_match", lambda original, code, signature: code)


@fault(check="guards", paths="nonstrict:module*", source=FLAG)
def guards_accept_another_flag() -> AbstractContextManager[object]:
    """There is no guard on Python numbers and flags, although the graph has them as constants."""
    return edited(unlifting._get_input_guards_for_graph, "if isinstance(meta, int):", "if False:")


@fault(check="guards", paths="nonstrict:module*", source=SIZE)
def guards_accept_another_size() -> AbstractContextManager[object]:
    """There is no guard on a size that the graph has as a constant."""
    return edited(unlifting._get_input_guards_for_graph, "if isinstance(dim, int):", "if False:")


@fault(check="guards", paths="nonstrict:module*", source=BRANCH_BEYOND_RANGE)
def guards_accept_sizes_beyond_the_range() -> AbstractContextManager[object]:
    """There is no guard on the largest size of a range."""
    return edited(unlifting._get_input_guards_for_graph, "if max_val < math.inf:", "if max_val < 0:")


@fault(check="guards", paths="nonstrict:module*", source=STRING)
def guards_accept_another_string() -> AbstractContextManager[object]:
    """There is no guard on a string, although the graph has what it selects."""
    return edited(unlifting._get_input_guards_for_graph, "isinstance(meta, str)", "isinstance(meta, bytes)")


@fault(check="guards", paths="nonstrict:unflatten*", source=FLAG)
def unflatten_accepts_another_flag() -> AbstractContextManager[object]:
    """The rebuilt module does not compare Python arguments with the values at export."""
    return edited(export_utils._check_input_constraints_for_graph, "elif arg != node_val:", "elif False:")


@fault(check="guards", paths="nonstrict:unflatten*", source=SIZE)
def unflatten_accepts_any_input() -> AbstractContextManager[object]:
    """The rebuilt module does not check its inputs."""
    return edited(
        UnflattenedModule.__init__,
        "self.check_input_constraints = True",
        "self.check_input_constraints = False",
    )
