"""What ``__init__`` does, on types: instances of modules, and who hangs where."""

from __future__ import annotations

from strategies.layers import LAYERS
from strategies.ops import OPS, Rejected
from strategies.program import (
    Bind,
    Child,
    ClassDef,
    Container,
    Derived,
    Fill,
    Hook,
    Init,
    Key,
    New,
    Parametrize,
    Path,
    Plain,
    Slice,
    Step,
    Tensor,
)
from strategies.trace import Trace
from strategies.types import TensorType, contiguous_stride, dense, expanded, inexact, swap
from strategies.values import Family, Instance, Ref, Storage, Value

LAYOUTS = ("transposed", "sliced", "offset", "expanded")
"""How a tensor may lie in memory other than one element after the other, from the first on."""


def laid_out(shape: tuple[int, ...], dtype: str, layout: str) -> TensorType:
    """The type of a tensor of that layout; raises Rejected where the shape does not allow it."""
    kind = dense(shape, dtype)
    if layout == "transposed":
        if len(shape) != 2:
            raise Rejected("only matrices are transposed")
        return swap(dense(shape[::-1], dtype), 0, 1)
    if layout == "sliced":
        if not shape:
            raise Rejected("nothing to slice")
        wide = contiguous_stride((*shape[:-1], 2 * shape[-1]))
        return TensorType(shape, (*wide[:-1], 2), dtype)
    if layout == "offset" and not shape:
        raise Rejected("nothing to leave out")
    if layout == "expanded":
        if not shape or shape[0] == 0:
            raise Rejected("nothing to expand")
        return expanded(dense((1, *shape[1:]), dtype), 0, shape[0])
    return kind


def fresh(
    kind: TensorType, slot: str = "", bound: float = 2.0, grad: bool = False, frozen: bool = False
) -> Ref:
    """A tensor of its own memory; a parameter, or (``grad``) an input that requires grad, is a leaf."""
    leaf = (slot == "parameter" and inexact(kind.dtype) and not frozen) or grad
    return Ref(kind, Storage(bound, slot), Family(leaf, leaf))


def filled(fill: Fill, slot: str = "", frozen: bool = False, layout: str = "") -> Ref:
    """The tensor that a Fill describes, in a layout."""
    bound = max(abs(fill.low), abs(fill.high if fill.high is not None else fill.low), 1.0)
    if fill.high is not None and not inexact(fill.dtype):
        bound = 2.0  # see render: such a tensor counts from 0 to 2
    return fresh(laid_out(fill.shape, fill.dtype, layout), slot, bound, frozen=frozen)


def resolve(owner: Instance, path: Path, trace: Trace | None = None) -> Value:
    """What hangs at a path; raises Rejected where nothing does. A trace learns which inits were needed."""
    value: Value = owner
    for step in path:
        if not isinstance(value, Instance):
            raise Rejected("no such attribute")
        if isinstance(step, Slice):
            value = _sliced(value, step)
            continue
        if step not in value.attrs:
            raise Rejected("no such attribute")
        if trace is not None and step in value.origins:
            trace.used.add(value.origins[step])
        value = value.attrs[step]
    return value


def _sliced(box: Instance, step: Slice) -> Instance:
    if box.kind not in ("ModuleList", "Sequential"):
        raise Rejected("not a sequence")
    items = list(box.attrs.values())[step.start : step.stop]
    return Instance(box.kind, dict(enumerate(items)))


class Builder:
    """Executes ``__init__``."""

    def __init__(self, classes: dict[str, ClassDef]) -> None:
        """Know these classes; the mapping may grow."""
        self.classes = classes
        self._outer: list[int] = []
        """The statements of ``__init__`` that are being executed, outermost first."""

    def build(self, new: New, owner: Instance | None, trace: Trace | None = None) -> Instance:
        """A fresh instance, as its ``__init__`` leaves it; ``owner`` knows the way to a guest."""
        if new.layer:
            instance = Instance(new)
            for name, (kind, tensor_type, bound) in LAYERS[new.name].tensors(new.params).items():
                made = instance.attrs[name] = fresh(tensor_type, kind, bound)
                made.storage.layer = True
                instance.slots[name] = kind
            return instance
        cls = self.classes[new.name]
        instance = Instance(cls)
        if cls.guest:
            guest = resolve(owner, new.guest, trace) if owner is not None and new.guest else None
            instance.attrs["guest"] = guest if guest is not None else self.build(New(cls.guest), None, trace)
        for init in cls.init:
            self.initialize(instance, init, trace)
        return instance

    def initialize(self, owner: Instance, init: Init, trace: Trace | None = None) -> None:
        """Execute one statement of ``__init__``; a trace learns what the statement depends on."""
        if trace is None:
            self._execute(owner, init, None)
            return
        inner = Trace(needs=trace.needs)
        self._outer.append(id(init))
        self._execute(owner, init, inner)
        self._outer.pop()
        needed = trace.needs.setdefault(id(init), set())
        needed |= inner.used
        if isinstance(init, Bind | Hook | Parametrize):
            # It may change a module that the constructor was given: then the construction counts.
            needed.update(self._outer)

    def _execute(self, owner: Instance, init: Init, trace: Trace | None) -> None:
        if isinstance(init, Child):
            child = self.build(init.new, owner, trace)
            child.traced = init.traced
            self._hang(owner, init.attr, child, init)
        elif isinstance(init, Bind):
            target = resolve(owner, init.target[:-1], trace)
            source = resolve(owner, init.source, trace)
            if not isinstance(target, Instance):
                raise Rejected("not a module")
            step = init.target[-1]
            if isinstance(source, Ref):
                self._check_tie(owner, init.source, target, step, source)
            replaced = target.origins.get(step)
            if trace is not None and replaced is not None:
                trace.used.add(replaced)
            self._hang(target, step, source, init)
        elif isinstance(init, Container):
            self._hang(owner, init.attr, self._container(owner, init, trace), init)
        elif isinstance(init, Tensor):
            made = filled(init.fill, init.kind, init.frozen, init.layout)
            self._hang(owner, init.attr, made, init, init.kind)
        elif isinstance(init, Derived):
            self._derive(owner, init, trace)
        elif isinstance(init, Plain):
            value = init.value
            assert value is None or isinstance(value, bool | int | float | str)
            self._hang(owner, init.attr, value, init)
        else:
            self._dress(owner, init, trace)

    def _check_tie(self, owner: Instance, path: Path, target: Instance, step: Step, source: Ref) -> None:
        """``nn.Module`` takes a parameter where one was, and a buffer where one was."""
        holder = resolve(owner, path[:-1])
        assert isinstance(holder, Instance)
        if step in target.parametrized or path[-1] in holder.parametrized:
            raise Rejected("parametrized")
        if (target.slots.get(step) == "parameter") is not (
            source.storage.kind == "parameter" and not source.view
        ):
            raise Rejected("a parameter and something else")

    def _hang(self, owner: Instance, step: Step, value: Value, init: Init, slot: str = "") -> None:
        owner.attrs[step] = value
        owner.origins[step] = id(init)
        if isinstance(value, Ref) and step not in owner.slots:
            owner.slots[step] = slot or value.storage.kind

    def _container(self, owner: Instance, init: Container, trace: Trace | None) -> Instance:
        box = Instance(init.kind)
        for index, item in enumerate(init.items):
            step: Step = Key(init.keys[index]) if init.keys else index
            if isinstance(item, New):
                box.attrs[step] = self.build(item, owner, trace)
            elif isinstance(item, Container):
                box.attrs[step] = self._container(owner, item, trace)
            else:
                box.attrs[step] = resolve(owner, item, trace)
        return box

    def _derive(self, owner: Instance, init: Derived, trace: Trace | None) -> None:
        source = resolve(owner, init.source, trace)
        if not isinstance(source, Ref):
            raise Rejected("not a tensor")
        if not init.op:
            if source.storage.kind == "parameter" and not source.view:
                raise Rejected("a parameter is no buffer")
            self._hang(owner, init.attr, source, init, init.kind)
            return
        outcome = OPS[init.op].rule([source], init.params)
        if not outcome.alias or outcome.same:
            raise Rejected("not a view")
        view = Ref(outcome.type, source.storage, Family(), view=True)
        self._hang(owner, init.attr, view, init, init.kind)

    def _dress(self, owner: Instance, init: Hook | Parametrize, trace: Trace | None) -> None:
        module = resolve(owner, init.path, trace)
        if not isinstance(module, Instance) or isinstance(module.kind, str) or module.traced:
            raise Rejected("not a module of a class")
        if isinstance(init, Hook):
            if isinstance(module.kind, New) and LAYERS[module.kind.name].form:
                raise Rejected("the hook takes one tensor")
            module.hooks.append((init.name, id(init)))
            return
        value = module.attrs.get(init.attr)
        if not isinstance(value, Ref) or "." in init.attr or module.parametrized:
            raise Rejected("no plain parameter")
        if module.slots.get(init.attr) != "parameter":
            raise Rejected("not a parameter")
        module.parametrized[init.attr] = (init.name, id(init))
