"""What the abstract machine computes with: storages, tensors, modules and containers without data."""

from __future__ import annotations

from dataclasses import dataclass, field

from strategies.program import ClassDef, Kind, New, Size, Step
from strategies.types import TensorType


@dataclass(slots=True, eq=False)
class Storage:
    """Memory that tensors share.

    ``kind`` is the Tensor.kind of the attribute, or "input", that it was made for; empty for an intermediate.
    """

    bound: float = 2.0
    kind: str = ""
    layer: bool = False
    """Whether it belongs to a layer of ``nn``, whose code expects it as it is."""
    seen_without_grad: bool = False
    """Whether a view of it was made under no_grad."""


@dataclass(slots=True, eq=False)
class Family:
    """A tensor and its differentiable views: they come to require grad together.

    ``leaf``: the base is a leaf that requires grad, so that autograd forbids to write to any of them.
    """

    grad: bool = False
    leaf: bool = False
    gained: bool = False
    """Whether a write brought the gradients: autograd then mistakes older views for leaves."""


@dataclass(slots=True, eq=False)
class Ref:
    """A tensor object: in-place metadata ops change its type for everyone who holds it.

    ``born`` is "no_grad" for a view made in that mode, "multi" for one of several views made at once:
    autograd lets no one write to these when gradients are involved.
    """

    type: TensorType
    storage: Storage
    family: Family
    born: str = ""
    view: bool = False

    @property
    def bound(self) -> float:
        """No absolute value exceeds this."""
        return self.storage.bound

    @property
    def grad(self) -> bool:
        """Whether it requires grad."""
        return self.family.grad


@dataclass(slots=True, eq=False)
class Instance:
    """A module object. Steps into containers are attributes too.

    What only construction changes (``slots`` apart) is shared between copies: the kind of each attribute, the
    hooks on the module, the parametrized attributes, and which statement of ``__init__`` made an attribute.
    """

    kind: ClassDef | New | str
    attrs: dict[Step, Value] = field(default_factory=dict)
    slots: dict[Step, str] = field(default_factory=dict)
    hooks: list[tuple[str, int]] = field(default_factory=list)
    parametrized: dict[Step, tuple[str, int]] = field(default_factory=dict)
    origins: dict[Step, int] = field(default_factory=dict)
    traced: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A bound method."""

    owner: Instance
    name: str


@dataclass(frozen=True, slots=True)
class Primitive:
    """A function of torch, by the name of its entry of the op table."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A container of values; ``kind`` as in Group. Items of tuple and list are numbered."""

    kind: str
    items: dict[int | str, Value]


PythonValue = bool | int | float | str | Kind | Size
"""The Python values that are passed around as they are."""

Value = Ref | Instance | Method | Primitive | Box | PythonValue | tuple[object, ...] | None


@dataclass(slots=True)
class Frame:
    """One activation of a method: the module it runs on, its variables, and the ops left to execute."""

    owner: Instance
    names: dict[str, Value]
    tank: list[int]

    def assign(self, name: str, value: Value) -> None:
        """Bind a variable; ``names`` stays ordered by the latest binding."""
        self.names.pop(name, None)
        self.names[name] = value

    def copy(self) -> Frame:
        """A copy that shares nothing mutable, for trying out a statement."""
        memo: dict[int, object] = {}
        owner = _copy_instance(self.owner, memo)
        return Frame(owner, {k: _copy(v, memo) for k, v in self.names.items()}, list(self.tank))


def _copy(value: Value, memo: dict[int, object]) -> Value:
    if isinstance(value, Ref):
        return _copy_ref(value, memo)
    if isinstance(value, Instance):
        return _copy_instance(value, memo)
    if isinstance(value, Box):
        return Box(value.kind, {key: _copy(item, memo) for key, item in value.items.items()})
    if isinstance(value, Method):
        return Method(_copy_instance(value.owner, memo), value.name)
    return value


def _copy_ref(ref: Ref, memo: dict[int, object]) -> Ref:
    known = memo.get(id(ref))
    if isinstance(known, Ref):
        return known
    storage = memo.get(id(ref.storage))
    if not isinstance(storage, Storage):
        old = ref.storage
        storage = memo[id(old)] = Storage(old.bound, old.kind, old.layer, old.seen_without_grad)
    family = memo.get(id(ref.family))
    if not isinstance(family, Family):
        family = memo[id(ref.family)] = Family(ref.family.grad, ref.family.leaf, ref.family.gained)
    copied = memo[id(ref)] = Ref(ref.type, storage, family, ref.born, ref.view)
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
    return copied
