"""The values of the abstract machine: tensors, modules, functions and containers, without data.

A TensorValue stands for a tensor object: its type, the Storage that it shares with its views, and the
ViewFamily in which gradients spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from exportdiff_strategies import program as ir
from exportdiff_strategies.types import TensorType

STATE = ("parameter", "buffer", "scratch", "constant")
"""The kinds of memory that outlives a call."""

REGISTERED = ("parameter", "buffer", "scratch")
"""The kinds of tensors that a module has registered."""


@dataclass(slots=True, eq=False)
class Storage:
    """Memory that tensors share.

    ``kind`` is the Tensor.kind of the attribute that owns it, "input" for an input, "" for an intermediate.
    """

    bound: float = 2.0
    kind: str = ""
    layer: bool = False
    """Whether it belongs to a layer of ``nn``. The code of the layer relies on its sizes."""
    seen_without_grad: bool = False
    """Whether a view of this memory was made under no_grad."""


@dataclass(slots=True, eq=False)
class ViewFamily:
    """A tensor and its differentiable views: if one starts to require grad, all do.

    ``leaf``: the base is a leaf that requires grad, so autograd forbids in-place writes to any of them.
    """

    grad: bool = False
    leaf: bool = False
    gained: bool = False
    """Whether it requires grad because of an in-place write.

    Autograd then mistakes older views for leaves.
    """


BITS = 2.0**31
"""No absolute value of an int32 exceeds this."""


@dataclass(slots=True, eq=False)
class TensorValue:
    """A tensor object. An in-place op on its metadata changes its type under all of its names.

    ``restriction`` is "no_grad" for a view made under no_grad, and "multi" for a view of an op that returns
    several views. Autograd forbids writing to both if gradients are involved. ``lazy``: the memory holds
    other values, of which the tensor is the conjugate or the negative. ``bits``: it is the memory of another
    dtype.
    """

    type: TensorType
    storage: Storage
    family: ViewFamily
    restriction: str = ""
    view: bool = False
    lazy: bool = False
    bits: bool = False

    @property
    def bound(self) -> float:
        """No absolute value exceeds this."""
        return BITS if self.bits else self.storage.bound

    @property
    def grad(self) -> bool:
        """Whether it requires grad."""
        return self.family.grad


@dataclass(slots=True, eq=False)
class Instance:
    """A module object or a container of modules; the items of a container are attributes too.

    ``kind`` is the class, the layer or the type of container. ``slots`` maps the names of tensors to their
    Tensor.kind, ``parametrized`` and ``hooks`` hold names of tables and statements of ``__init__`` (by id),
    ``origins`` maps attributes to the statement of ``__init__`` that made them. Copies share the last three:
    only construction changes them.
    """

    kind: ir.ClassDef | ir.New | str
    attrs: dict[ir.Step, Value] = field(default_factory=dict)
    slots: dict[ir.Step, str] = field(default_factory=dict)
    hooks: list[tuple[str, int]] = field(default_factory=list)
    parametrized: dict[ir.Step, tuple[str, int]] = field(default_factory=dict)
    origins: dict[ir.Step, int] = field(default_factory=dict)
    traced: bool = False
    twins: list[Instance] = field(default_factory=list)
    """It and its shallow copies, which share what is registered: children, parameters and buffers."""

    def store(self, step: ir.Step, value: Value) -> None:
        """Bind an attribute; what is registered changes in shallow copies as well."""
        self.attrs[step] = value
        if self.twins and (isinstance(value, Instance) or self.slots.get(step) in REGISTERED):
            for twin in self.twins:
                twin.attrs[step] = value


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A bound method."""

    owner: Instance
    name: str


@dataclass(frozen=True, slots=True)
class TorchFunction:
    """A function of torch; ``name`` is a key of OPS."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class CollectionValue:
    """A container of values; ``kind`` as in Collection. Items of a tuple or list are numbered."""

    kind: str
    items: dict[ir.Literal, Value]


@dataclass(frozen=True, slots=True, eq=False)
class OtherValue:
    """What an idiom makes or takes, and the machine knows nothing about; ``kind`` is a key of KINDS."""

    kind: str


PythonValue = bool | int | float | str | ir.Kind | ir.Size
"""The Python values that are the same in the machine as in Python."""

Value = (
    TensorValue
    | Instance
    | BoundMethod
    | TorchFunction
    | CollectionValue
    | OtherValue
    | PythonValue
    | tuple[object, ...]
    | None
)


def leaves(values: Iterable[Value]) -> Iterator[Value]:
    """The values in nested containers."""
    for value in values:
        if isinstance(value, CollectionValue):
            yield from leaves(value.items.values())
        else:
            yield value


def tensors_in(values: Iterable[Value]) -> Iterator[TensorValue]:
    """The tensors in nested containers."""
    return (value for value in leaves(values) if isinstance(value, TensorValue))


@dataclass(slots=True)
class CallFrame:
    """One running call of a method: its module, its variables, and the fuel, shared by all frames of a call.

    ``fuel`` holds one number: how many more ops may run.
    """

    owner: Instance
    names: dict[str, Value]
    fuel: list[int]

    def assign(self, name: str, value: Value) -> None:
        """Bind a variable; ``names`` stays ordered by the latest binding."""
        self.names.pop(name, None)
        self.names[name] = value

    def copy(self) -> CallFrame:
        """A copy that shares nothing mutable with this frame, for trying out a statement."""
        memo: dict[int, object] = {}
        owner = _copy_instance(self.owner, memo)
        return CallFrame(owner, {k: _copy(v, memo) for k, v in self.names.items()}, list(self.fuel))


def _copy(value: Value, memo: dict[int, object]) -> Value:
    if isinstance(value, TensorValue):
        return _copy_ref(value, memo)
    if isinstance(value, Instance):
        return _copy_instance(value, memo)
    if isinstance(value, CollectionValue):
        return CollectionValue(value.kind, {key: _copy(item, memo) for key, item in value.items.items()})
    if isinstance(value, BoundMethod):
        return BoundMethod(_copy_instance(value.owner, memo), value.name)
    return value


def _copy_ref(ref: TensorValue, memo: dict[int, object]) -> TensorValue:
    known = memo.get(id(ref))
    if isinstance(known, TensorValue):
        return known
    storage = memo.get(id(ref.storage))
    if not isinstance(storage, Storage):
        old = ref.storage
        storage = memo[id(old)] = Storage(old.bound, old.kind, old.layer, old.seen_without_grad)
    family = memo.get(id(ref.family))
    if not isinstance(family, ViewFamily):
        family = memo[id(ref.family)] = ViewFamily(ref.family.grad, ref.family.leaf, ref.family.gained)
    copied = memo[id(ref)] = TensorValue(
        ref.type, storage, family, ref.restriction, ref.view, ref.lazy, ref.bits
    )
    return copied


def _copy_instance(instance: Instance, memo: dict[int, object]) -> Instance:
    known = memo.get(id(instance))
    if isinstance(known, Instance):
        return known
    copied = memo[id(instance)] = Instance(
        instance.kind,
        {},
        dict(instance.slots),
        instance.hooks,
        instance.parametrized,
        instance.origins,
        instance.traced,
    )
    for step, value in instance.attrs.items():
        copied.attrs[step] = _copy(value, memo)
    copied.twins = [_copy_instance(twin, memo) for twin in instance.twins]
    return copied


def deep_copy(instance: Instance) -> Instance:
    """A copy of a module, of its children and of its tensors."""
    memo: dict[int, object] = {}
    copied = _copy_instance(instance, memo)
    for part in memo.values():
        if isinstance(part, Instance):
            part.hooks, part.parametrized = [*part.hooks], {**part.parametrized}
            part.origins = {**part.origins}
    return copied
