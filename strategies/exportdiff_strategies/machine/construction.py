"""Executing ``__init__``: instances of modules, and what their attributes refer to."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.machine.tensors import filled_tensor, new_tensor
from exportdiff_strategies.ops import OPS, Rejected, forbid, require
from exportdiff_strategies.regions import PARAMETRIZATIONS
from exportdiff_strategies.trace import Trace
from exportdiff_strategies.values import Instance, TensorValue, Value, ViewFamily, deep_copy


def resolve(owner: Instance, path: ir.AttributePath, trace: Trace | None = None) -> Value:
    """The value of the attribute at a path from ``owner``. Raises Rejected if there is no such attribute.

    A trace records which statements of ``__init__`` made the attributes on the way.
    """
    value: Value = owner
    for step in path:
        if not isinstance(value, Instance):
            raise Rejected("no such attribute")
        if isinstance(step, ir.Slice):
            value = _sliced(value, step)
            continue
        require(step in value.attrs, "no such attribute")
        if trace is not None and step in value.origins:
            trace.used.add(value.origins[step])
        value = value.attrs[step]
    return value


def _sliced(box: Instance, step: ir.Slice) -> Instance:
    require(box.kind in ("ModuleList", "Sequential"), "not a sequence")
    items = list(box.attrs.values())[step.start : step.stop]
    return Instance(box.kind, dict(enumerate(items)))


IDIOM = "(idiom)"
"""The key in ``Instance.origins`` of the statements that an idiom needs."""


class Builder:
    """Executes ``__init__``."""

    def __init__(self, classes: dict[str, ir.ClassDef], training: bool) -> None:
        """Prepare to build instances of these classes; the mapping may grow later.

        ``training``: the model is in train mode.
        """
        self.classes = classes
        self.training = training
        self._outer: list[int] = []
        """The statements of ``__init__`` that are being executed, outermost first."""

    def build(self, new: ir.New, owner: Instance | None, trace: Trace | None = None) -> Instance:
        """A new instance, in the state that its ``__init__`` leaves; a guest's path starts at ``owner``."""
        if new.layer:
            return _layer(new)
        cls = self.classes[new.name]
        instance = Instance(cls)
        if cls.guest:
            guest = resolve(owner, new.guest, trace) if owner is not None and new.guest else None
            instance.attrs["guest"] = (
                guest if guest is not None else self.build(ir.New(cls.guest), None, trace)
            )
        for init in cls.init:
            self.initialize(instance, init, trace)
        return instance

    def initialize(self, owner: Instance, init: ir.Init, trace: Trace | None = None) -> None:
        """Execute one statement of ``__init__``; a trace records which others the statement depends on."""
        if trace is None:
            self._execute(owner, init, None)
            return
        inner = Trace(needs=trace.needs)
        self._outer.append(id(init))
        self._execute(owner, init, inner)
        self._outer.pop()
        needed = trace.needs.setdefault(id(init), set())
        needed |= inner.used
        if isinstance(init, ir.Bind | ir.Hook | ir.Parametrize):
            # The statement may change a module that this constructor was given: then the construction counts.
            needed.update(self._outer)

    def _execute(self, owner: Instance, init: ir.Init, trace: Trace | None) -> None:
        if isinstance(init, ir.NewChild):
            child = self.build(init.new, owner, trace)
            child.traced = init.traced
            _set_attribute(owner, init.attr, child, init)
        elif isinstance(init, ir.CopiedModule):
            _set_attribute(owner, init.attr, _copied(owner, init, trace), init)
        elif isinstance(init, ir.TensorContainer):
            _set_attribute(owner, init.attr, _held(init), init)
        elif isinstance(init, ir.Bind):
            _bind(owner, init, trace)
        elif isinstance(init, ir.Container):
            _set_attribute(owner, init.attr, self._container(owner, init, trace), init)
        elif isinstance(init, ir.TensorAttr):
            made = filled_tensor(init.fill, init.kind, init.frozen, init.layout)
            _set_attribute(owner, init.attr, made, init, init.kind)
        elif isinstance(init, ir.UnsetTensor):
            _set_attribute(owner, init.attr, None, init)
            owner.slots[init.attr] = init.kind
        elif isinstance(init, ir.DerivedTensor):
            _derive(owner, init, trace)
        elif isinstance(init, ir.PythonAttr):
            value = init.value
            assert value is None or isinstance(value, bool | int | float | str)
            _set_attribute(owner, init.attr, value, init)
        elif isinstance(init, ir.InitIdiom):
            owner.origins[IDIOM] = id(init)
        elif isinstance(init, ir.Hook):
            _add_hook(owner, init, trace)
        else:
            _add_parametrization(owner, init, trace)

    def _container(self, owner: Instance, init: ir.Container, trace: Trace | None) -> Instance:
        box = Instance(init.kind)
        for index, item in enumerate(init.items):
            step: ir.Step = ir.Key(init.keys[index]) if init.keys else index
            if isinstance(item, ir.New):
                box.attrs[step] = self.build(item, owner, trace)
            elif isinstance(item, ir.Container):
                box.attrs[step] = self._container(owner, item, trace)
            else:
                box.attrs[step] = resolve(owner, item, trace)
        if init.kind in ("list", "dict") and not self.training and depends_on_mode(box):
            raise Rejected("eval() does not reach modules in plain containers")
        return box


def depends_on_mode(module: Instance) -> bool:
    """Whether a module, or one below it, behaves otherwise in train mode than in eval mode."""
    kind = module.kind
    if isinstance(kind, ir.New) and LAYERS[kind.name].has_modes:
        return True
    if isinstance(kind, ir.ClassDef) and any(
        cond.name == "training" for cond in ir.of_type(kind.bodies, ir.Cond)
    ):
        return True
    if any(PARAMETRIZATIONS[name].updates for name, _ in module.parametrized.values()):
        return True
    return any(isinstance(value, Instance) and depends_on_mode(value) for value in module.attrs.values())


def _held(init: ir.TensorContainer) -> Instance:
    box = Instance(init.kind)
    for index, item in enumerate(init.items):
        step: ir.Step = ir.Key(init.keys[index]) if init.keys else index
        box.attrs[step] = filled_tensor(item.fill, item.kind)
        box.slots[step] = item.kind
    return box


def _copied(owner: Instance, init: ir.CopiedModule, trace: Trace | None) -> Instance:
    source = resolve(owner, init.source, trace)
    if not isinstance(source, Instance) or isinstance(source.kind, str) or source.traced:
        raise Rejected("not a module of a class")
    if init.deep:
        forbid(_has_computed(source), "copy.deepcopy refuses what autograd computed")
        return deep_copy(source)
    forbid(source.parametrized, "a parametrized module has its own class")
    copied = Instance(source.kind, {**source.attrs}, {**source.slots}, source.hooks, source.parametrized)
    copied.origins = {**source.origins}
    source.twins = copied.twins = [*(source.twins or [source]), copied]
    for twin in source.twins:
        twin.twins = source.twins
    return copied


def _has_computed(module: Instance) -> bool:
    """Whether an idiom left a tensor that autograd computed in a module, or in one below it."""
    found = ir.of_type(module.kind.init, ir.InitIdiom) if isinstance(module.kind, ir.ClassDef) else []
    if any(KINDS[idiom.kind].idioms[idiom.number].computes for idiom in found):
        return True
    return any(isinstance(value, Instance) and _has_computed(value) for value in module.attrs.values())


def _layer(new: ir.New) -> Instance:
    instance = Instance(new)
    for name, (kind, tensor_type, bound) in LAYERS[new.name].tensors(new.params).items():
        made = instance.attrs[name] = new_tensor(tensor_type, kind, bound)
        made.storage.layer = True
        instance.slots[name] = kind
    return instance


def _set_attribute(owner: Instance, step: ir.Step, value: Value, init: ir.Init, slot: str = "") -> None:
    if isinstance(value, TensorValue) and step not in owner.slots:
        owner.slots[step] = slot or value.storage.kind
    owner.store(step, value)
    for each in owner.twins or [owner]:
        each.origins[step] = id(init)


def reaches(start: Instance, goal: Instance) -> bool:
    """Whether ``goal`` is ``start`` or below it: attaching ``start`` to ``goal`` would then make a cycle."""
    # Shallow copies share their children.
    if start is goal or any(start is twin for twin in goal.twins):
        return True
    return any(reaches(v, goal) for v in start.attrs.values() if isinstance(v, Instance))


def _bind(owner: Instance, init: ir.Bind, trace: Trace | None) -> None:
    target = resolve(owner, init.target[:-1], trace)
    source = resolve(owner, init.source, trace)
    if not isinstance(target, Instance):
        raise Rejected("not a module")
    step = init.target[-1]
    # Modules that a constructor was given may be below each other elsewhere.
    if isinstance(source, Instance) and reaches(source, target):
        raise Rejected("a module below itself")
    if isinstance(source, TensorValue):
        _check_tie(owner, init.source, target, step, source)
    if init.aside:
        if not isinstance(source, Instance) or isinstance(source.kind, str) or step in target.attrs:
            raise Rejected("only a module is set aside, under a new name")
        target.attrs[step] = source
        target.origins[step] = id(init)
        return
    replaced = target.origins.get(step)
    if trace is not None and replaced is not None:
        trace.used.add(replaced)
    _set_attribute(target, step, source, init)


def _check_tie(
    owner: Instance, path: ir.AttributePath, target: Instance, step: ir.Step, source: TensorValue
) -> None:
    """Raise Rejected unless ``nn.Module`` accepts ``source`` at ``step`` of ``target``.

    It only accepts a parameter where a parameter was, and no parameter where a buffer was.
    """
    holder = resolve(owner, path[:-1])
    assert isinstance(holder, Instance)
    forbid(step in target.parametrized or path[-1] in holder.parametrized, "parametrized")
    is_parameter = source.storage.kind == "parameter" and not source.view
    require((target.slots.get(step) == "parameter") is is_parameter, "a parameter and something else")


def _derive(owner: Instance, init: ir.DerivedTensor, trace: Trace | None) -> None:
    source = resolve(owner, init.source, trace)
    if not isinstance(source, TensorValue):
        raise Rejected("not a tensor")
    if not init.op:
        forbid(source.storage.kind == "parameter" and not source.view, "a parameter is not a buffer")
        _set_attribute(owner, init.attr, source, init, init.kind)
        return
    outcome = OPS[init.op].rule([source], init.params)
    forbid(not outcome.alias or outcome.same, "not a view")
    spec = OPS[init.op]
    forbid(spec.of_memory and (source.lazy or source.bits), "the memory holds other values")
    bits = source.bits or spec.reinterprets
    view = TensorValue(outcome.type, source.storage, ViewFamily(), view=True, lazy=source.lazy, bits=bits)
    _set_attribute(owner, init.attr, view, init, init.kind)


def _module(owner: Instance, path: ir.AttributePath, trace: Trace | None) -> Instance:
    """The module at a path that can take a hook or a parametrization."""
    module = resolve(owner, path, trace)
    if not isinstance(module, Instance) or isinstance(module.kind, str) or module.traced:
        raise Rejected("not a module of a class")
    return module


def _add_hook(owner: Instance, init: ir.Hook, trace: Trace | None) -> None:
    module = _module(owner, init.path, trace)
    if isinstance(module.kind, ir.New) and LAYERS[module.kind.name].form:
        raise Rejected("the hook takes one tensor")
    module.hooks.append((init.name, id(init)))


def _add_parametrization(owner: Instance, init: ir.Parametrize, trace: Trace | None) -> None:
    module = _module(owner, init.path, trace)
    value = module.attrs.get(init.attr)
    if not isinstance(value, TensorValue) or "." in init.attr or module.parametrized or module.twins:
        raise Rejected("not a plain parameter")
    require(module.slots.get(init.attr) == "parameter", "not a parameter")
    spec = PARAMETRIZATIONS[init.name]
    if not spec.op and not (isinstance(module.kind, ir.New) and len(value.type.shape) > 1):
        raise Rejected("not the weight of a layer")
    if spec.rank is not None and len(value.type.shape) != spec.rank:
        raise Rejected("another number of dimensions")
    module.parametrized[init.attr] = (init.name, id(init))
