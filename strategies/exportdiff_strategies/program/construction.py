"""The statements of ``__init__``: children, tensors, Python attributes, hooks, parametrizations."""

from __future__ import annotations

from dataclasses import dataclass

from exportdiff_strategies.program.literals import AttributePath, Literal
from exportdiff_strategies.types import Shape


@dataclass(frozen=True, slots=True)
class Fill:
    """Shape, dtype and values of a tensor: all ``low``, or evenly spaced from ``low`` to ``high``."""

    shape: Shape
    low: float = 1.0
    high: float | None = None
    dtype: str = "float32"


@dataclass(frozen=True, slots=True)
class New:
    """A new instance of a class of the Program or, if ``layer``, of an entry of LAYERS.

    ``scale`` multiplies the initial values of the instance's own tensors. Without it, two instances of one
    class would hold the same values, and a path that runs the wrong instance would go unnoticed. ``guest``
    is the path of an existing module that the constructor takes.
    """

    name: str
    params: tuple[int | str, ...] = ()
    layer: bool = False
    scale: float = 1.0
    guest: AttributePath = ()


@dataclass(frozen=True, slots=True)
class NewChild:
    """``self.<attr> = <New>``; ``traced`` replaces the module by its ``fx.GraphModule``."""

    attr: str
    new: New
    traced: bool = False


@dataclass(frozen=True, slots=True)
class Bind:
    """``self.<target> = self.<source>``: shares a module or ties a tensor, at any depth.

    With ``aside``, ``object.__setattr__`` sets it: the module does not register its new attribute.
    """

    target: AttributePath
    source: AttributePath
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Container:
    """A ``ModuleList``, ``Sequential`` or ``ModuleDict``, or a plain "list" or "dict" of modules.

    The items are new modules, existing ones (an AttributePath) and containers.
    """

    attr: str
    kind: str
    items: tuple[New | AttributePath | Container, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorAttr:
    """A tensor attribute; ``kind`` is parameter, buffer, scratch (a non-persistent buffer) or constant.

    A ``frozen`` parameter requires no gradient. ``layout`` is the memory layout, as in TensorInput.
    """

    attr: str
    kind: str
    fill: Fill
    frozen: bool = False
    layout: str = ""


@dataclass(frozen=True, slots=True)
class UnsetTensor:
    """A tensor attribute that is None until ``forward`` sets it; ``kind`` as in TensorAttr, not parameter."""

    attr: str
    kind: str


@dataclass(frozen=True, slots=True)
class TensorContainer:
    """A ``ParameterList`` or ``ParameterDict``, or a plain "list" or "dict" of parameters or constants."""

    attr: str
    kind: str
    items: tuple[TensorAttr, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CopiedModule:
    """``self.<attr> = copy.copy(self.<source>)`` or, if ``deep``, ``copy.deepcopy``, of a module."""

    attr: str
    source: AttributePath
    deep: bool = False


@dataclass(frozen=True, slots=True)
class DerivedTensor:
    """A buffer or constant: a view of the tensor at ``source`` or, without ``op``, that same tensor."""

    attr: str
    kind: str
    source: AttributePath
    op: str = ""
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class PythonAttr:
    """A Python attribute."""

    attr: str
    value: Literal


@dataclass(frozen=True, slots=True)
class Hook:
    """A forward hook on the module at ``path``; ``name`` is a key of HOOKS."""

    path: AttributePath
    name: str


@dataclass(frozen=True, slots=True)
class Parametrize:
    """A parametrization, a key of PARAMETRIZATIONS, of parameter ``attr`` of the module at ``path``."""

    path: AttributePath
    attr: str
    name: str


@dataclass(frozen=True, slots=True)
class InitIdiom:
    """The statements of ``__init__`` that idiom ``number`` of a kind needs."""

    kind: str
    number: int


Init = (
    NewChild
    | CopiedModule
    | Bind
    | Container
    | TensorAttr
    | UnsetTensor
    | TensorContainer
    | DerivedTensor
    | PythonAttr
    | Hook
    | Parametrize
    | InitIdiom
)
