"""Deviating calls: calls that differ from the example in one point that export treats as fixed.

The point is an argument, a context manager around the call, or an attribute of the model. An exported program
has to refuse such a call or answer it correctly.
"""

from __future__ import annotations

import contextlib
import functools
import zlib
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from types import CodeType
from typing import Any, TypeVar

import torch
from torch import nn

from exportdiff.runtime.observing.tensors import argument

T = TypeVar("T")


Key = tuple[str, int | str | None]
"""The kind of a deviation and what it alters: the same for all copies of the example."""


@dataclass(frozen=True)
class Deviation:
    """One change to the example call: of a leaf, of the context around the call, or of the model."""

    deviation: str
    description: str
    """For people: ``args[1] is False, not True``."""
    target: int | str | None = None
    """The index of the leaf in ``(args, kwargs)``, or the name of the attribute; None for a context."""
    leaf: Any = None
    """The new value of the leaf or the attribute."""
    where: str = ""
    """What is altered, as one would write it: ``args[1]``, ``model.scale``; empty for a context."""

    @property
    def key(self) -> Key:
        """Return what identifies this deviation among those of one example."""
        return self.deviation, self.target

    def prepare(self, model: nn.Module) -> None:
        """Switch the mode of the model or assign the attribute, if the deviation is one of those."""
        if first := DEVIATIONS[self.deviation].first:
            eval(_code(first), {"model": model})
        if isinstance(self.target, str):
            owner, _, name = self.target.rpartition(".")
            setattr(model.get_submodule(owner), name, self.leaf)

    def context(self) -> contextlib.AbstractContextManager[object]:
        """Return the context manager for the call."""
        around = DEVIATIONS[self.deviation].around
        made: contextlib.AbstractContextManager[object] = (
            eval(_code(around), {"torch": torch}) if around else _NONE
        )
        return made


_NONE = contextlib.nullcontext()


@dataclass(frozen=True)
class DeviationKind:
    """One kind of deviation, as Python expressions: repro files show them, and the harness runs them.

    The expressions can use ``leaf``, ``leaves`` (all leaves of ``(args, kwargs)``), ``at`` (the index of the
    leaf) and ``torch``.
    """

    applies: str = "False"
    """Whether this kind can change the leaf."""
    expression: str = ""
    """The new leaf."""
    around: str = ""
    """Instead of both: a context manager to make the call in, with the leaves of the example."""
    first: str = ""
    """Instead of both: a call of a method of the model, before the call with the leaves of the example."""
    of_model: bool = False
    """Whether the leaves are the plain attributes of the model's modules, not the arguments."""
    of_dicts: bool = False
    """Whether the leaves are the outermost dicts among the arguments."""
    finds_exchange: bool = False
    """Whether it is informative although eager runs the same operators: a wrong answer shows that two
    arguments were exchanged."""
    keeps_history: bool = False
    """Whether the new leaf keeps the autograd history that the expression gives it; otherwise it requires
    grad if the leaf did, and has no history."""


_STRIDED = "type({0}) is torch.Tensor and {0}.layout is torch.strided"
_TENSOR = _STRIDED.format("leaf")
_TWIN = f"t is not leaf and {_STRIDED.format('t')} and (t.shape, t.dtype) == (leaf.shape, leaf.dtype)"
# Eager has no arithmetic on floating point numbers of eight bits.
_COUNTED = _STRIDED + " and ({0}.dtype.itemsize > 1 or not {0}.is_floating_point())"

DEVIATIONS: dict[str, DeviationKind] = {
    "flag": DeviationKind("type(leaf) is bool", "not leaf"),
    "number": DeviationKind("type(leaf) in (int, float)", "leaf + 1"),
    # Equal to the example's number, but of another type.
    "float": DeviationKind("type(leaf) is int and float(leaf) == leaf", "float(leaf)"),
    "int": DeviationKind("type(leaf) is bool or type(leaf) is float and leaf.is_integer()", "int(leaf)"),
    "bool": DeviationKind("type(leaf) in (int, float) and leaf in (0, 1)", "bool(leaf)"),
    # The same items, and another order. Keyword arguments are a dict too.
    "order": DeviationKind(
        "type(leaf) is dict and len(leaf) > 1",
        "dict(reversed(leaf.items()))",
        of_dicts=True,
        finds_exchange=True,
    ),
    "text": DeviationKind("type(leaf) is str", 'leaf + "x"'),
    # Of an enumeration.
    "member": DeviationKind(
        'hasattr(type(leaf), "__members__") and len(type(leaf)) > 1',
        "next(member for member in type(leaf) if member is not leaf)",
    ),
    # Values that no other argument has: ones instead of a missing mask would change nothing.
    "none": DeviationKind(
        f"leaf is None and any({_COUNTED.format('t')} for t in leaves)",
        f"next(~t if t.dtype is torch.bool else t - 3 for t in leaves if {_COUNTED.format('t')})",
    ),
    # The last element of the last dimension twice. The result is contiguous, so the leaf must be contiguous.
    "size": DeviationKind(
        f"{_TENSOR} and leaf.dim() and leaf.numel() and leaf.is_contiguous()",
        "torch.cat([leaf, leaf[..., -1:]], -1)",
    ),
    # The first dimension eight times as long: if it is dynamic, usually beyond its range.
    "length": DeviationKind(
        f"{_TENSOR} and leaf.dim() and 0 < leaf.numel() < 10**6 and leaf.is_contiguous()",
        "torch.cat([leaf] * 8)",
    ),
    # One dimension more, at the end: the other dimensions keep their sizes.
    "rank": DeviationKind(
        f"{_TENSOR} and leaf.dtype is not torch.bool and {_COUNTED.format('leaf')}",
        "torch.stack([leaf, leaf + leaf], -1)",
    ),
    "dtype": DeviationKind(_TENSOR, "leaf.float() if leaf.dtype == torch.float64 else leaf.double()"),
    # Every other place of a memory twice as large.
    "stride": DeviationKind(
        f"{_TENSOR} and leaf.dim() and leaf.numel() > 1", "torch.stack([leaf, leaf], -1)[..., 0]"
    ),
    "requires-grad": DeviationKind(
        f"{_TENSOR} and leaf.is_floating_point()",
        "leaf.detach().clone().requires_grad_(not leaf.requires_grad)",
        keeps_history=True,
    ),
    # Another argument a second time.
    "alias": DeviationKind(
        f"{_TENSOR} and any({_TWIN} for t in leaves)",
        f"next(t for t in leaves if {_TWIN})",
        keeps_history=True,
    ),
    # Another tensor in the memory of another argument.
    "overlap": DeviationKind(
        f"{_TENSOR} and any({_TWIN} for t in leaves)",
        f"next(t for t in leaves if {_TWIN}).detach()[...]",
    ),
    # A tensor that is not a view becomes a view that starts in the middle of its memory, and the reverse.
    "view": DeviationKind(
        f"{_TENSOR} and leaf.numel() and leaf.is_contiguous() and not leaf._is_view()",
        "torch.stack([leaf, leaf])[1]",
    ),
    "base": DeviationKind(f"{_TENSOR} and leaf._is_view()", "leaf.detach().clone()"),
    # The autograd history: the result of an operator becomes a leaf, and the reverse.
    "history": DeviationKind(
        f"{_TENSOR} and leaf.requires_grad",
        "torch.enable_grad()(torch.clone)(leaf) if leaf.is_leaf else leaf.detach().clone().requires_grad_()",
        keeps_history=True,
    ),
    # The same numbers, conjugated twice: once in memory, and once when they are read.
    "conjugate": DeviationKind(
        f"{_TENSOR} and leaf.is_complex()",
        "leaf.resolve_conj() if leaf.is_conj() else leaf.conj_physical().conj()",
    ),
    # An argument that is given twice becomes two tensors, with the same strides.
    "apart": DeviationKind(
        f"{_TENSOR} and leaf.is_leaf and any(t is leaf for t in leaves[:at])", "leaf.__deepcopy__({})"
    ),
    # It becomes two tensors with other values: the values of tensors are dynamic.
    "unlike": DeviationKind(
        f"{_TENSOR} and leaf.is_leaf and leaf.is_contiguous() and not leaf._is_view() "
        f"and {_COUNTED.format('leaf')} and any(t is leaf for t in leaves[:at])",
        "~leaf if leaf.dtype is torch.bool else leaf.detach() - 3",
        finds_exchange=True,
    ),
    # The training flag of a module is an attribute too.
    "attribute": DeviationKind(
        "type(leaf) in (bool, int, float, str)",
        'not leaf if type(leaf) is bool else leaf + ("x" if type(leaf) is str else 1)',
        of_model=True,
    ),
    # Users call eval() before they use a model. ep.module().eval() raises, because it cannot switch the mode.
    "eval": DeviationKind(first="model.eval()"),
    "no-grad": DeviationKind(around="torch.no_grad()"),
    "inference": DeviationKind(around="torch.inference_mode()"),
    "autocast": DeviationKind(around='torch.autocast("cpu", torch.bfloat16)'),
}
"""By name."""

METADATA = frozenset(
    ("dtype", "stride", "requires-grad", "alias", "overlap", "apart", "view", "base", "history", "conjugate")
)
"""The kinds of deviation that alter only the metadata of an argument, except sizes, or its memory."""
CONTEXTS = frozenset(name for name, kind in DEVIATIONS.items() if kind.around)
"""The kinds of deviation that change the context of the call, and no argument."""
_PROMISED_BY_EXPORT = frozenset(DEVIATIONS.keys() - METADATA - CONTEXTS - {"attribute"})
PROMISED_DEVIATIONS = {
    "compile": frozenset(DEVIATIONS),
    "nonstrict": _PROMISED_BY_EXPORT,
    "strict": _PROMISED_BY_EXPORT,
    "draft": _PROMISED_BY_EXPORT,
    "file": _PROMISED_BY_EXPORT,
}
"""By mode, the kinds of deviation that torch promises to notice.

Of an exported program's inputs, "passing a different value at run time will result in an error" for
Python values, and sizes are static by default; "other forms of Tensor metadata (e.g. device, dtype)"
are static as well, but no error is promised (PyTorch docs, torch.export Programming Model). An equal number
of another type is another value: torch/_export/utils.py, _check_input_constraints_for_graph, compares the
types of numbers. The docs do not mention context managers around a call; a program has no attributes.

torch.compile guards on all that TENSOR_MATCH compares (PyTorch docs, TorchDynamo Deeper Dive, 'What is a
guard?'); on types and values of Python objects, on which arguments are one tensor, and on the global state,
with grad mode and autocast (torch/_dynamo/guards.py, EQUALS_MATCH, DUPLICATE_INPUT, GLOBAL_STATE; PyTorch
docs, Dealing with Recompilations, for attributes).
"""


def deviations_of(
    leaves: list[Any],
    places: Sequence[str],
    names: Set[str],
    model: nn.Module | None = None,
    dicts: Sequence[tuple[str, object]] = (),
) -> list[Deviation]:
    """Return every deviation of the named kinds; those of attributes only with a ``model``.

    ``dicts``: the leaves of the example if each dict is a leaf, with their places.
    """
    attributes = [] if model is None else list(_attributes(model))
    everything: list[Deviation] = []
    for name, deviation in DEVIATIONS.items():
        if name not in names:
            continue
        if deviation.around:
            everything.append(Deviation(name, f"{deviation.around} is in force"))
        elif deviation.first:
            everything.append(Deviation(name, f"{deviation.first} comes first"))
        elif deviation.of_model:
            values = [value for _, value in attributes]
            for number, (attribute, value) in enumerate(attributes):
                if (new := _altered(name, number, values)) is not None:
                    where = f"model.{attribute}"
                    words = _words(name, where, value, new, "")
                    everything.append(Deviation(name, words, attribute, new, where))
        elif deviation.of_dicts:
            values = [value for _, value in dicts]
            for number, where in enumerate(argument(place) for place, _ in dicts):
                if (new := _altered(name, number, values)) is not None:
                    words = f"the keys of {where} come in another order"
                    everything.append(Deviation(name, words, number, new, where))
        else:
            for at, leaf in enumerate(leaves):
                if (new := _altered(name, at, leaves)) is not None:
                    where = argument(places[at])
                    words = _words(name, where, leaf, new, _again(new, leaves, places))
                    everything.append(Deviation(name, words, at, new, where))
    return everything


def _attributes(model: nn.Module) -> Iterator[tuple[str, object]]:
    """Yield the attributes that a user may assign, with their names.

    Most attributes of torch's own layers must agree with their weights: a recurrent cell with another
    hidden_size reads out of bounds, in eager too. The others are in _OF_LAYERS.
    """
    for prefix, module in model.named_modules():
        library = type(module).__module__.startswith("torch.")
        for name, value in vars(module).items():
            assignable = name in _OF_LAYERS if library else name not in _INTERNAL
            if assignable and not name.startswith("_"):
                yield f"{prefix}.{name}" if prefix else name, value


_INTERNAL = vars(nn.Module()).keys() - {"training"}
_OF_LAYERS = ("training", "inplace")


def in_rotation(everything: Sequence[Deviation], salt: str) -> list[Deviation]:
    """Return the order in which to make the calls; it depends on ``salt`` alone.

    Each round has one deviation per kind, so that a flag counts as much as the six kinds for a tensor.
    """
    number = zlib.crc32(salt.encode())
    ways = [[one for one in everything if one.deviation == name] for name in DEVIATIONS]
    ways = [_rotated(way, number // 7) for way in ways if way]
    rounds = zip_longest(*_rotated(ways, number))
    return [one for each in rounds for one in each if one is not None]


def _rotated(items: list[T], by: int) -> list[T]:
    by %= max(len(items), 1)
    return [*items[by:], *items[:by]]


def _altered(name: str, at: int, leaves: list[Any]) -> Any:
    deviation, leaf = DEVIATIONS[name], leaves[at]
    if not _evaluated(deviation.applies, at, leaves):
        return None
    with torch.no_grad():
        new = _evaluated(deviation.expression, at, leaves)
    grad = isinstance(leaf, torch.Tensor) and leaf.requires_grad
    if deviation.keeps_history or not grad:
        return new
    return new.detach().requires_grad_(new.is_floating_point())


def _evaluated(text: str, at: int, leaves: list[Any]) -> Any:
    # One namespace: a generator expression sees no locals of eval.
    return eval(_code(text), {"leaf": leaves[at], "leaves": leaves, "at": at, "torch": torch})


@functools.cache
def _code(text: str) -> CodeType:
    return compile(text, "<off-spec>", "eval")


def _again(new: object, leaves: list[Any], places: Sequence[str]) -> str:
    """Return the name of the argument that is this very tensor, or nothing."""
    if not isinstance(new, torch.Tensor):
        return ""
    return next((argument(place) for leaf, place in zip(leaves, places, strict=True) if leaf is new), "")


_UNSEEN = {
    "overlap": "is in the memory of another argument",
    "history": "has another history",
    "conjugate": "is conjugated when it is read, or is no longer",
    "view": "is a view",
    "base": "is no view",
    "unlike": "is a separate tensor, with other values",
}
"""Kind of deviation -> what it changes, where sizes, strides and dtype stay."""


def _words(name: str, where: str, leaf: object, new: object, again: str) -> str:
    if again:
        return f"{where} is {again} once more"
    if isinstance(new, torch.Tensor) and _described(new) == _described(leaf):
        return f"{where} {_UNSEEN.get(name, 'is a separate tensor')}"
    return f"{where} is {_described(new)}, not {_described(leaf)}"


def _described(leaf: object) -> str:
    if not isinstance(leaf, torch.Tensor):
        return repr(leaf)
    dtype = str(leaf.dtype).removeprefix("torch.")
    grad = ", requires grad" if leaf.requires_grad else ""
    return f"{dtype}{list(leaf.shape)} with stride {list(leaf.stride())}{grad}"
