"""The Program itself: classes, inputs, training flag, dynamic shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exportdiff_strategies.program.classes import ClassDef
from exportdiff_strategies.program.inputs import Dynamic, Input, NamedInputs, TensorInput


@dataclass(frozen=True, slots=True)
class Program:
    """A random model and the arguments that it is called with; ``enum`` is a name of ENUMS.

    With ``graph``, the model is an ``fx.GraphModule`` that calls the children of the root class.
    """

    classes: tuple[ClassDef, ...]
    args: NamedInputs
    kwargs: NamedInputs = ()
    training: bool = False
    dynamic: Dynamic | None = None
    enum: str = "Enum"
    graph: bool = False

    @property
    def root(self) -> ClassDef:
        """The class of the model itself."""
        return self.classes[-1]

    @property
    def inputs(self) -> NamedInputs:
        """All example inputs by name: positional ones first, then keyword arguments."""
        return self.args + self.kwargs


def probe_inputs(program: Program, sizes: tuple[int, ...]) -> NamedInputs:
    """The inputs of a dynamic Program, with these sizes in its dynamic dimensions (one for each Dim)."""
    assert program.dynamic is not None
    return tuple((name, _resized(value, name, program.dynamic, sizes)) for name, value in program.inputs)


def _resized(value: Input, name: str, dynamic: Dynamic, sizes: tuple[int, ...]) -> Input:
    if not isinstance(value, TensorInput):
        return value
    shape = list(value.fill.shape)
    for argument, dim, symbol in dynamic.places:
        if argument == name:
            shape[dim] = next(s for d, s in zip(dynamic.dims, sizes, strict=True) if d.name == symbol)
    return replace(value, fill=replace(value.fill, shape=tuple(shape)))
