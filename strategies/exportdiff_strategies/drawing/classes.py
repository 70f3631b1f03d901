"""Drawing one module class: its tensors, its children and how they are shared, its methods."""

from __future__ import annotations

from contextlib import nullcontext

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.arguments import draw_args, scenarios
from exportdiff_strategies.drawing.bodies import (
    branch_on_size_first,
    draw_body,
    draw_outputs,
    draw_result,
    draw_statements,
    write_in_operator_first,
)
from exportdiff_strategies.drawing.failing import draw_refusal
from exportdiff_strategies.drawing.flows import returned_state, write_alias_first
from exportdiff_strategies.drawing.layers import TRACED_LAYERS, draw_layer
from exportdiff_strategies.drawing.modules import class_of, classes, is_instance_of, modules, walk
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.drawing.state import NEW_NAMES
from exportdiff_strategies.drawing.style import Style
from exportdiff_strategies.drawing.tracing import traceable
from exportdiff_strategies.drawing.writers import draw_writes
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.machine import FUEL, LAZY, Machine
from exportdiff_strategies.machine.construction import reaches
from exportdiff_strategies.ops import OPS, Rejected
from exportdiff_strategies.regions import HOOKS, PARAMETRIZATIONS
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.values import CallFrame, Instance, TensorValue, Value

DEPTH = 4
"""The largest number of levels of module classes, the root's included."""

INSTANCES = 7
"""The largest number of module instances below a child, the child included."""

SCALES = (0.5, -1.0)
"""Scales of instances. None exceeds 1, so that the machine's bound on initial values holds."""

NAMES = {
    "buffer": ("mean", "count"),
    "parameter": ("w", ""),
    "scratch": ("hidden", "total"),
    "constant": ("k", "c"),
}
"""Kind of tensor -> the names of the first and the second one, not in alphabetical order."""


CONTAINERS = {
    "ModuleList": "layers",
    "Sequential": "seq",
    "ModuleDict": "table",
    "list": "blocks",
    "dict": "experts",
}
"""Kind of container -> the name of its attribute."""

USUAL_PARAMETRIZATIONS = [*PARAMETRIZATIONS, "LowRank", *["weight_norm"] * 2, *["spectral_norm"] * 3]
"""The names of parametrizations; those that fit few parameters more often."""

WHOLE = ("no_grad", "no_grad", "no_grad", "autocast", "enable_grad", "inference_mode")
"""The ``with`` blocks around everything that a model does."""


class ClassBuilder:
    """Draws one class; ``owner`` is an instance of the class that grows with every drawn attribute."""

    def __init__(
        self, choose: Chooser, machine: Machine, style: Style, name: str, levels: dict[str, int]
    ) -> None:
        """Prepare to draw class ``name``; ``levels`` maps the machine's classes to their depths."""
        self.choose = choose
        self.machine = machine
        self.style = style
        self.name = name
        self.levels = levels
        self.init: list[ir.Init] = []
        self.guest = ""
        self.owner = Instance(ir.ClassDef(name, (), (), ()))

    def add(self, init: ir.Init) -> bool:
        """Append a statement of ``__init__`` and execute it.

        If it is rejected, do nothing and return False.
        """
        try:
            self.machine.builder.initialize(self.owner, init)
        except Rejected:
            return False
        self.init.append(init)
        return True

    # state

    def draw_tensors(self) -> None:
        """Draw parameters, buffers, constants and Python attributes."""
        for kind, (attr, second) in NAMES.items():
            if self.choose.maybe(f"state.{kind}", 50):
                frozen = kind == "parameter" and self.choose.maybe("state.frozen", 40)
                self._draw_tensor(attr, kind, frozen)
                if second and self.choose.maybe("state.second", 40):
                    self._draw_tensor(second, kind)
        self.draw_held()
        if self.choose.maybe("state.counter", 50):
            self.add(ir.PythonAttr("step", self.choose.pick((1, 0, 2))))
        if self.choose.maybe("state.rate", 60):
            self.add(ir.PythonAttr("rate", self.choose.pick((0.5, 2.0, -1.0))))
        if self.choose.maybe("state.mode", 50):
            self.add(ir.PythonAttr("mode", self.choose.pick(("a", "b"))))
        if self.choose.maybe("state.unset", 60):
            for attr in NEW_NAMES[: 1 + self.choose.upto(1)]:
                self.add(ir.UnsetTensor(attr, self.choose.pick(("buffer", "scratch", "constant"))))
            if self.choose.chance(50):
                # Export numbers the buffers: those that are None come first, or last.
                self.init.sort(key=lambda init: not isinstance(init, ir.UnsetTensor))

    def draw_held(self) -> None:
        """Draw a plain list or dict of tensors, or a list or dict of parameters that is a module."""
        if not self.choose.maybe("state.held", 60):
            return
        kind = self.choose.pick(("list", "dict", "ParameterList", "ParameterDict"))
        count = 1 + self.choose.upto(1)
        items = []
        for _ in range(count):
            registered = kind.startswith("Parameter")
            each = "parameter" if registered or self.choose.chance(30) else "constant"
            items.append(ir.TensorAttr("", each, self.style.fill(self.choose, each)))
        self.add(
            ir.TensorContainer(
                "held", kind, tuple(items), tuple("uv"[:count]) if kind.endswith("ict") else ()
            )
        )

    def _draw_tensor(self, attr: str, kind: str, frozen: bool = False) -> None:
        fill = self.style.fill(self.choose, kind)
        layout = ""
        if self.choose.maybe("state.layout", 60):
            # A tensor to be updated needs one memory location per element. And a copy of what is conjugated
            # or negated when it is read may have been computed: "materialized at any time" (torch.conj).
            unfit = {"expanded", "windows", *LAZY}
            layouts = self.style.layouts(fill.shape, fill.dtype)
            layout = self.choose.pick([name for name in layouts if name not in unfit])
        self.add(ir.TensorAttr(attr, kind, fill, frozen, layout))

    def draw_derived(self) -> None:
        """Draw a buffer or constant that is a tensor of this module or of a child, or a view of one."""
        if not self.choose.maybe("state.derived", 60):
            return
        sources = [(path, v) for path, v in walk(self.owner, 2) if isinstance(v, TensorValue)]
        if not sources:
            return
        path, source = self.choose.pick(sources)
        kind = self.choose.pick(("buffer", "scratch", "constant"))
        if source.storage.kind != "parameter" and self.choose.chance(40):
            self.add(ir.DerivedTensor("same", kind, path))
            return
        names = ["detach", "row", "t", "rows", "transpose"]
        if self.choose.on("state.reinterpreted"):
            dtype = source.type.dtype
            names += {"complex64": ["view_as_real", "view_float"] * 3, "float32": ["bits"] * 3}.get(dtype, [])
        name = self.choose.pick(names)
        choices = OPS[name].choices([source])
        if not isinstance(choices, list) or not choices:
            return
        chosen = self.choose.pick(choices)
        self.add(ir.DerivedTensor("part", kind, path, name, chosen))
        others = [choice for choice in choices if choice != chosen]
        if others and self.choose.chance(50):
            # Another view of the same memory, mostly with the same size and another offset.
            kind = self.choose.pick(("buffer", "scratch", "constant"))
            self.add(ir.DerivedTensor("rest", kind, path, name, self.choose.pick(others)))

    # children

    def draw_children(self) -> None:
        """Draw children (new, shared, aliased, in containers), and then ties between their tensors."""
        choose = self.choose
        usable = [n for n, level in self.levels.items() if level < DEPTH]
        usable.reverse()
        if usable and self.name != "Model" and choose.maybe("hierarchy.guest", 60):
            self.guest = choose.pick([n for n in usable if not self.machine.classes[n].guest] or [""])
            if self.guest:
                self.owner.attrs["guest"] = self.machine.builder.build(ir.New(self.guest), None)
        if usable and not (self.guest and choose.chance(60)):
            # Mostly the newest class, so that most classes end up below the root.
            first = usable[0] if choose.on("hierarchy.deep") else choose.mostly_first(usable)
            self._draw_child("a", first)
            if choose.on("hierarchy.more_children"):
                for attr in "bc"[: choose.upto(2)]:
                    self._draw_another(attr, usable)
        if choose.maybe("hierarchy.layer", 60):
            layer = draw_layer(self.choose, self.style)
            if layer is not None:
                traced = layer.name in TRACED_LAYERS and choose.maybe("hierarchy.traced", 60)
                self.add(ir.NewChild("layer", layer, traced))
        if choose.maybe("hierarchy.container", 55):
            container = self._draw_container(usable)
            if container is not None:
                self.add(container)
        if choose.maybe("hierarchy.attach", 70):
            self._attach()
        if choose.maybe("hierarchy.aside", 70):
            self._set_aside()
        if choose.maybe("state.tied", 60):
            self._tie()
        self.draw_derived()
        self._draw_hooks()

    def _draw_child(self, attr: str, name: str) -> None:
        new = self._new(name)
        traced = traceable(self.machine.classes[name]) and self.choose.maybe("hierarchy.traced", 60)
        self.add(ir.NewChild(attr, new, traced))

    def _new(self, name: str) -> ir.New:
        """A new instance; if its class has tensors, mostly with its own initial values."""
        cls = self.machine.classes[name]
        owns = any(isinstance(init, ir.TensorAttr) for init in cls.init)
        scaled = owns and self.choose.maybe("state.scaled", 60)
        scale = self.choose.pick(SCALES) if scaled else 1.0
        if not cls.guest:
            return ir.New(name, scale=scale)
        guests = [path for path, m in modules(self.owner, 2) if is_instance_of(m, cls.guest)]
        if not guests:
            # The module to be shared must exist first.
            self.add(ir.NewChild("host", ir.New(cls.guest)))
            guests = [("host",)]
        return ir.New(name, scale=scale, guest=self.choose.pick(guests))

    def _draw_another(self, attr: str, usable: list[str]) -> None:
        options: list[ir.AttributePath] = []
        if self.choose.maybe("hierarchy.copied", 40):
            found = [path for path, module in modules(self.owner, 2) if not module.traced]
            if found and self.add(ir.CopiedModule(attr, self.choose.pick(found), self.choose.chance(40))):
                return
        if self.choose.maybe("hierarchy.shared", 60):
            options = [(step,) for (step, *_), _ in modules(self.owner, 1)]
        if self.choose.maybe("hierarchy.alias", 60):
            options = [p for p, _ in modules(self.owner, 3) if len(p) > 1] or options
        if options:
            self.add(ir.Bind((attr,), self.choose.pick(options)))
        else:
            self._draw_child(attr, self.choose.pick(usable))

    def _draw_container(self, usable: list[str]) -> ir.Container | None:
        kind = self.choose.pick(("ModuleList", "Sequential", "ModuleDict"))
        if self.choose.maybe("hierarchy.plain", 50):
            kind = self.choose.pick(("list", "dict"))
        attr = CONTAINERS[kind]
        keyed = kind in ("ModuleDict", "dict")
        items = self._draw_items(usable, 1 + self.choose.upto(2))
        if items and not keyed and self.choose.maybe("hierarchy.nested_container", 50):
            inner = self._draw_items(usable, 1 + self.choose.upto(1))
            items.append(ir.Container("", "Sequential", tuple(inner)))
        if not items:
            return None
        return ir.Container(attr, kind, tuple(items), tuple("pqrs"[: len(items)]) if keyed else ())

    def _draw_items(self, usable: list[str], count: int) -> list[ir.New | ir.AttributePath | ir.Container]:
        items: list[ir.New | ir.AttributePath | ir.Container] = []
        existing: list[ir.AttributePath] = [path for path, _ in modules(self.owner, 2)]
        for _ in range(count):
            options: list[ir.New | ir.AttributePath] = [self._new(name) for name in usable]
            layer = draw_layer(self.choose, self.style) if self.choose.on("hierarchy.layer") else None
            if layer is not None and not LAYERS[layer.name].form:
                options.append(layer)
            if self.choose.on("hierarchy.shared"):
                options += existing
            if options:
                items.append(self.choose.pick(options))
        return items

    def _attach(self) -> None:
        """Make one child a child of another as well: a module with two parents."""
        found = [*modules(self.owner, 2)]
        options = [
            ir.Bind((*host, "extra"), guest)
            for host, host_value in found
            for guest, guest_value in found
            if class_of(host_value) is not None
            and not host_value.traced
            and not reaches(guest_value, host_value)
        ]
        if options:
            self.add(self.choose.pick(options))

    def _set_aside(self) -> None:
        """Give this module, or a child, an attribute that is a module but is not registered."""
        found = [*modules(self.owner, 2)]
        hosts = [(path, m) for path, m in modules(self.owner, 1) if class_of(m) is not None and not m.traced]
        options = [
            ir.Bind((*host, "link"), source, aside=True)
            for host, module in [((), self.owner), *hosts]
            for source, linked in found
            if not reaches(linked, module)
        ]
        if options:
            self.add(self.choose.pick(options))

    def _tie(self) -> None:
        """Make two tensor attributes the same tensor; both must be of one kind, as ``nn.Module`` demands."""
        tensors = [(p, v) for p, v in walk(self.owner, 3) if isinstance(v, TensorValue)]
        options = [
            ir.Bind(target, source)
            for target, old in tensors
            for source, new in tensors
            if target != source
            and old is not new
            and old.storage.kind == new.storage.kind
            and old.type == new.type
        ]
        if options:
            self.add(self.choose.pick(options))

    def _draw_hooks(self) -> None:
        """Draw hooks on children, and parametrizations of their parameters."""
        choose = self.choose
        if choose.maybe("hierarchy.hook", 60):
            hosts = [path for path, m in modules(self.owner, 2) if not m.traced]
            if hosts:
                self.add(ir.Hook(choose.pick(hosts), choose.pick([*HOOKS])))
        if choose.maybe("state.parametrized", 60):
            places = [
                (path[:-1], str(path[-1]))
                for path, value in walk(self.owner, 2)
                if isinstance(value, TensorValue) and value.storage.kind == "parameter"
            ]
            if places:
                name, first = choose.pick(USUAL_PARAMETRIZATIONS), choose.pick(places)
                # Most parametrizations fit some parameters only.
                any(self.add(ir.Parametrize(path, attr, name)) for path, attr in (first, *places))

    # classes

    def draw_child_class(self) -> ir.ClassDef:
        """Draw a class that other classes use."""
        self.draw_tensors()
        self.draw_children()
        # Flags reach through many levels if the innermost class takes them.
        flags = 90 if self.choose.on("hierarchy.deep") else 60
        args = draw_args(self.choose, self._child_kinds(), flags)
        methods = self._draw_helper()
        self._update_class(args, (), methods)
        scope = Scope(
            self.choose,
            self.machine,
            args,
            scenarios(self.owner, args, self.style, same=self.choose.on("control.identity")),
            methods=tuple(method.name for method in methods),
        )
        refusal = draw_refusal(scope) if self.choose.maybe("control.raise", 60) else None
        body = draw_writes(scope) if refusal is None and self.choose.maybe("calls.no_result", 35) else []
        if not body:
            body = [*([refusal] if refusal is not None else []), *draw_body(scope, 1, 3)]
            result = (returned_state(scope, body) or draw_result(scope)) if scope.frames else ir.Var("x")
            body.append(ir.Return(result if result is not None else ir.Var("x")))
            methods += self._draw_twice(args)
        return ir.ClassDef(self.name, tuple(self.init), args, tuple(body), methods, self.guest)

    def _update_class(
        self, args: tuple[ir.Arg, ...], body: tuple[ir.Return, ...], methods: tuple[ir.MethodDef, ...]
    ) -> None:
        """Give the owner the attributes and methods drawn so far, so that statements can use them."""
        self.owner.kind = ir.ClassDef(self.name, tuple(self.init), args, body, methods, self.guest)

    def _draw_helper(self) -> tuple[ir.MethodDef, ...]:
        """A method other than ``forward`` that ``forward`` may call."""
        if not self.choose.maybe("calls.method", 60):
            return ()
        args = (ir.Arg("x", "tensor"),)
        scope = Scope(self.choose, self.machine, args, scenarios(self.owner, args, self.style))
        body = draw_statements(scope, 1, 1)
        result = draw_result(scope) if scope.frames else ir.Var("x")
        return (ir.MethodDef("helper", args, (*body, ir.Return(result or ir.Var("x")))),)

    def _draw_twice(self, args: tuple[ir.Arg, ...]) -> tuple[ir.MethodDef, ...]:
        """A method that calls ``self.forward`` twice; if there is a flag, with the flag inverted."""
        if not self.choose.maybe("calls.method", 40) or any(arg.default is None for arg in args[1:]):
            return ()
        flags = [arg for arg in args[1:] if arg.kind == "bool"]
        second = (
            ((flags[0].name, ir.Lit(not (flags[0].default and flags[0].default.value))),) if flags else ()
        )
        method = "forward" if self.choose.chance(70) else ""
        body = (
            ir.Assign("x", ir.CallModule((), (ir.Var("x"),), (), "forward")),
            ir.Return(ir.CallModule((), (ir.Var("x"),), second, method)),
        )
        return (ir.MethodDef("twice", (ir.Arg("x", "tensor"),), body),)

    def draw_root_class(
        self, args: tuple[ir.Arg, ...], calls: list[dict[str, Value]], most: int | None = None
    ) -> ir.ClassDef:
        """Draw the class ``Model`` for the inputs of these calls; ``most``: the largest size of ``x``."""
        self._update_class(args, (), ())
        frames = [CallFrame(self.owner, names, [FUEL]).copy() for names in calls]
        scope = Scope(self.choose, self.machine, args, frames)
        if len(calls) > 1:
            branch_on_size_first(scope, most)
        write_alias_first(scope)
        whole = self.choose.pick(WHOLE) if self.choose.maybe("region.whole", 75) else ""
        if whole == "no_grad":
            write_in_operator_first(scope)
        with self.machine.region(whole) if whole else nullcontext():
            body = draw_body(scope, 1, 5)
            outputs = draw_outputs(scope) if scope.frames else None
        body.append(ir.Return(outputs if outputs is not None else ir.Var("x")))
        if whole:
            body = [ir.With(whole, tuple(body), decorator=self.choose.chance(50))]
        return ir.ClassDef(self.name, tuple(self.init), args, tuple(body))

    def _child_kinds(self) -> set[str]:
        return {arg.kind for cls in classes(self.owner, 1) for arg in cls.args}
