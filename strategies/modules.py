"""Drawing one module class: its tensors, its children and how they are shared, its arguments, its body."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from strategies.bodies import LITERALS, Scope, draw_outputs, draw_result, draw_statements, walk
from strategies.layers import LAYERS
from strategies.machine import FUEL, Frame, Instance, Machine, Ref, Value, argument, tensor
from strategies.program import (
    Arg,
    Bind,
    Child,
    ClassDef,
    Container,
    Fill,
    Init,
    Input,
    Lit,
    New,
    Path,
    Return,
    Tensor,
    Var,
)
from strategies.swarm import Chooser
from strategies.types import Shape

DEPTH = 4
"""Levels of module classes, the root's included."""

INSTANCES = 5
"""Module instances that one child may bring along."""

SCENARIOS = 4
"""Combinations of argument values that a body is drawn under."""

SCALES = (0.5, -1.0)
"""None exceeds 1: the machine's bound on initial values holds for all."""

FILLS: tuple[tuple[float, float | None], ...] = (
    (1.0, None),
    (-1.0, 2.0),
    (0.5, 1.5),
    (0.0, None),
    (2.0, -1.5),
)


@dataclass(frozen=True, slots=True)
class Style:
    """What the classes of one Program have in common: the shape of ``x`` and shapes that go with it."""

    shape: Shape
    training: bool

    @property
    def companions(self) -> list[Shape]:
        """Shapes that broadcast with ``shape`` or multiply with it, simplest first."""
        shapes = [self.shape, self.shape[-1:], self.shape[::-1], (1,) * len(self.shape), ()]
        return list(dict.fromkeys(shapes))


class ClassBuilder:
    """Draws one class; ``owner`` is an instance of it that grows with every drawn attribute."""

    def __init__(
        self, choose: Chooser, machine: Machine, style: Style, name: str, levels: dict[str, int]
    ) -> None:
        """Draw class ``name`` over the machine's classes; ``levels`` are their depths, bottom up."""
        self.choose = choose
        self.machine = machine
        self.style = style
        self.name = name
        self.levels = levels
        self.init: list[Init] = []
        self.owner = Instance(ClassDef(name, (), (), ()))

    def add(self, init: Init) -> None:
        """Append a statement of ``__init__`` and execute it."""
        self.init.append(init)
        self.machine.initialize(self.owner, init)

    # state

    def draw_tensors(self) -> None:
        """Parameters, buffers and constants."""
        kinds = ("buffer", "parameter", "scratch", "constant")
        for kind, attr in zip(kinds, ("buf", "w", "tmp", "k"), strict=True):
            if self.choose.on(f"state.{kind}") and self.choose.chance(50):
                self.add(Tensor(attr, kind, self.draw_fill()))

    def draw_fill(self, shape: Shape | None = None) -> Fill:
        """A tensor's shape and values."""
        if shape is None:
            shape = self.choose.pick(self.style.companions)
        low, high = self.choose.pick(FILLS)
        return Fill(shape, low, high)

    # children

    def draw_children(self) -> None:
        """Children: fresh, shared, aliased, in containers; then ties between what hangs on them."""
        usable = [n for n, level in self.levels.items() if level < DEPTH]
        usable.reverse()
        if usable:
            # Mostly the newest class, so that most classes end up below the root.
            first = self.choose.pick(usable) if self.choose.chance(30) else usable[0]
            self.add(Child("a", self._new(first)))
            if self.choose.on("hierarchy.more_children"):
                for attr in "bc"[: self.choose.upto(2)]:
                    self.add(self._another(attr, usable))
        if self.choose.on("hierarchy.layer") and self.choose.chance(50):
            self.add(Child("layer", self._draw_layer()))
        if self.choose.on("hierarchy.container") and self.choose.chance(50):
            container = self._draw_container(usable)
            if container is not None:
                self.add(container)
        if self.choose.on("hierarchy.attach") and self.choose.chance(70):
            self._attach()
        if self.choose.on("state.tied") and self.choose.chance(60):
            self._tie()

    def _new(self, name: str) -> New:
        """An instance, mostly with values of its own where its class has tensors."""
        owns = any(isinstance(init, Tensor) for init in self.machine.classes[name].init)
        scaled = owns and self.choose.on("state.scaled") and self.choose.chance(60)
        return New(name, scale=self.choose.pick(SCALES) if scaled else 1.0)

    def _another(self, attr: str, usable: list[str]) -> Init:
        options: list[Init] = [Child(attr, self._new(name)) for name in usable]
        if self.choose.on("hierarchy.shared") and self.choose.chance(60):
            options = [Bind((attr,), ("a",))]
        if self.choose.on("hierarchy.alias") and self.choose.chance(60):
            deep = [p for p, v in walk(self.owner, 3) if len(p) > 1 and _is_module(v)]
            if deep:
                options = [Bind((attr,), path) for path in deep]
        return self.choose.pick(options)

    def _draw_layer(self) -> New:
        size = self.style.shape[-1] if self.style.shape else 0
        names = [
            name
            for name, spec in LAYERS.items()
            if not (spec.sized and not size) and not (spec.eval_only and self.style.training)
        ]
        name = self.choose.pick(names)
        return New(name, (size,) if LAYERS[name].sized else (), layer=True)

    def _draw_container(self, usable: list[str]) -> Container | None:
        kind = self.choose.pick(("ModuleList", "Sequential", "ModuleDict"))
        existing: list[Path] = [p for p, v in walk(self.owner, 2) if _is_module(v)]
        items: list[New | Path] = []
        for _ in range(1 + self.choose.upto(2)):
            options: list[New | Path] = [self._new(name) for name in usable]
            if self.choose.on("hierarchy.layer"):
                options.append(self._draw_layer())
            if self.choose.on("hierarchy.shared"):
                options += existing
                options += [item for item in items if not isinstance(item, New)]
            if options:
                items.append(self.choose.pick(options))
        if not items:
            return None
        keys = tuple("pqr"[: len(items)]) if kind == "ModuleDict" else ()
        attr = {"ModuleList": "layers", "Sequential": "seq", "ModuleDict": "table"}[kind]
        return Container(attr, kind, tuple(items), keys)

    def _attach(self) -> None:
        """Hang one child on another: a module that is reached through two parents."""
        modules = [(p, v) for p, v in walk(self.owner, 2) if _is_module(v)]
        options = [
            Bind((*host, "extra"), guest)
            for host, host_value in modules
            for guest, guest_value in modules
            if isinstance(host_value, Instance)
            and isinstance(host_value.kind, ClassDef)
            and isinstance(guest_value, Instance)
            and not _reaches(guest_value, host_value)
        ]
        if options:
            self.add(self.choose.pick(options))

    def _tie(self) -> None:
        """Make one tensor attribute another's: only like with like, as ``nn.Module`` demands."""
        tensors = [(p, v) for p, v in walk(self.owner, 3) if isinstance(v, Ref)]
        options = [
            Bind(target, source)
            for target, old in tensors
            for source, new in tensors
            if target != source
            and old is not new
            and old.storage.kind == new.storage.kind
            and old.type == new.type
        ]
        if options:
            self.add(self.choose.pick(options))

    # arguments

    def draw_args(self, flags: int = 60) -> tuple[Arg, ...]:
        """``x``, maybe a second tensor, and (in that many percent) flags; those with a default come last."""
        args = [Arg("x", "tensor")]
        # Flags that reach through several levels: mostly take what a child takes.
        below = self._child_kinds() if self.name != "Model" else set()
        if self.choose.on("calls.second_tensor") and self.choose.chance(40):
            args.append(Arg("y", "tensor"))
        for name, kind in (("flag", "bool"), ("n", "int"), ("mode", "str")):
            if self.choose.on(f"calls.{kind}") and self.choose.chance(90 if kind in below else flags):
                default = Lit(self.choose.pick(LITERALS[kind][:2]))
                # Once one argument has a default, all that follow need one.
                wanted = self.choose.chance(40) or args[-1].default is not None
                args.append(Arg(name, kind, default if wanted else None))
        if self.choose.on("calls.optional") and self.choose.chance(50):
            args.append(Arg("bias", "optional", Lit(None)))
        return tuple(args)

    def _child_kinds(self) -> set[str]:
        children = [v.kind for _, v in walk(self.owner, 1) if isinstance(v, Instance)]
        return {arg.kind for kind in children if isinstance(kind, ClassDef) for arg in kind.args}

    def _values(self, arg: Arg) -> list[Value]:
        if arg.kind == "tensor":
            return [tensor(Fill(self.style.shape))]
        if arg.kind == "optional":
            return [None, tensor(Fill(self.style.shape))]
        return [*LITERALS[arg.kind][:2]]

    def frames(self, args: tuple[Arg, ...]) -> list[Frame]:
        """The scenarios: combinations of argument values, each on a module of its own."""
        combinations = itertools.product(*(self._values(arg) for arg in args))
        frames = []
        for values in itertools.islice(combinations, SCENARIOS):
            names = {arg.name: value for arg, value in zip(args, values, strict=True)}
            frames.append(Frame(self.owner, names, [FUEL]).copy())
        return frames

    # classes

    def draw_child_class(self) -> ClassDef:
        """A class that others use: it returns a tensor."""
        self.draw_tensors()
        self.draw_children()
        args = self.draw_args()
        scope = Scope(self.choose, self.machine, args, self.frames(args))
        body = draw_statements(scope, 1 + self.choose.upto(1))
        result = draw_result(scope) if scope.frames else Var("x")
        assert result is not None, "x is a tensor in every scenario"
        body.append(Return(result))
        return ClassDef(self.name, tuple(self.init), args, tuple(body))

    def draw_root_class(self, inputs: dict[str, Input], args: tuple[Arg, ...]) -> ClassDef:
        """The class ``Model``, drawn for the very inputs that it is called with."""
        names: dict[str, Value] = {
            arg.name: argument(inputs[arg.name])
            if arg.name in inputs
            else (arg.default.value if arg.default else None)
            for arg in args
        }
        scope = Scope(self.choose, self.machine, args, [Frame(self.owner, names, [FUEL]).copy()])
        body = draw_statements(scope, 1 + self.choose.upto(2))
        outputs = draw_outputs(scope) if scope.frames else Var("x")
        assert outputs is not None, "x is a tensor"
        body.append(Return(outputs))
        return ClassDef(self.name, tuple(self.init), args, tuple(body))


def _is_module(value: Instance | Ref) -> bool:
    return isinstance(value, Instance) and not isinstance(value.kind, str)


def _reaches(start: Instance, goal: Instance) -> bool:
    """Whether ``goal`` hangs somewhere below ``start``: attaching it there would make a cycle."""
    if start is goal:
        return True
    return any(_reaches(v, goal) for v in start.attrs.values() if isinstance(v, Instance))


def count_instances(root: Instance, seen: set[int] | None = None) -> int:
    """How many module objects hang below one, itself included."""
    seen = set() if seen is None else seen
    if id(root) in seen:
        return 0
    seen.add(id(root))
    return 1 + sum(count_instances(v, seen) for v in root.attrs.values() if isinstance(v, Instance))
