"""Tags of the example inputs."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies import program as ir
from exportdiff_strategies.constants import ODD_TEXTS, OTHER_TYPES
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector, Tag


def _tensor_inputs(p: Analysis) -> list[ir.TensorInput]:
    """All example tensors, including those in containers."""
    return [given for given in p.inputs if isinstance(given, ir.TensorInput)]


def _has_input_dtype(dtype: str) -> Detector:
    """An input has this dtype."""
    return lambda p: any(t.fill.dtype == dtype for t in _tensor_inputs(p))


def _has_input_layout(name: str) -> Detector:
    """An input has this memory layout."""
    return lambda p: any(t.layout == name for t in _tensor_inputs(p))


def _has_input_shape(test: Callable[[tuple[int, ...]], bool]) -> Detector:
    """The shape of an input passes the test."""
    return lambda p: any(test(t.fill.shape) for t in _tensor_inputs(p))


def _has_input_container(kind: str) -> Detector:
    """An input is a container of this kind."""
    return lambda p: any(isinstance(i, ir.CollectionInput) and i.kind == kind for i in p.inputs)


def _has_input_of(*kinds: type) -> Detector:
    """An input is a Python value of one of these types."""
    return lambda p: any(isinstance(i, ir.Lit) and type(i.value) in kinds for i in p.inputs)


def _takes_other_type(p: Analysis) -> bool:
    kinds = {arg.name: arg.kind for arg in p.root.args}
    return any(
        isinstance(given, ir.Lit)
        and given.value in OTHER_TYPES.get(kinds.get(name, ""), ())
        and type(given.value).__name__ != kinds[name]
        for name, given in p.program.inputs
    )


def _has_value_in_container(p: Analysis) -> bool:
    items = [item for i in p.inputs if isinstance(i, ir.CollectionInput) for item in i.items]
    return any(
        isinstance(item, ir.Lit) or item == ir.CollectionInput(item.kind, ())
        for item in items
        if isinstance(item, ir.Lit | ir.CollectionInput)
    )


TABLE: dict[str, Tag] = {
    "input.same_twice": Tag(
        "one tensor passed twice", lambda p: any(isinstance(i, ir.AliasInput) and not i.op for i in p.inputs)
    ),
    "input.view_of_another": Tag(
        "one input a view of another",
        lambda p: any(isinstance(i, ir.AliasInput) and bool(i.op) for i in p.inputs),
    ),
    "input.transposed": Tag("a transposed input", _has_input_layout("transposed")),
    "input.sliced": Tag("an input with holes", _has_input_layout("sliced")),
    "input.offset": Tag(
        "an input that starts after the beginning of its storage", _has_input_layout("offset")
    ),
    "input.expanded": Tag("an expanded input", _has_input_layout("expanded")),
    "input.windows": Tag("an input of windows that overlap", _has_input_layout("windows")),
    "input.real": Tag("an input that is the real part of a complex tensor", _has_input_layout("real")),
    "input.negative": Tag("an input that is negated when it is read", _has_input_layout("negative")),
    "input.conjugate": Tag("an input that is conjugated when it is read", _has_input_layout("conjugate")),
    "input.computed": Tag(
        "an input that is no leaf of autograd", lambda p: any(t.history for t in _tensor_inputs(p))
    ),
    "input.view_of_leaf": Tag(
        "an input that is a view of a leaf of autograd",
        lambda p: any(t.history == "view of leaf" for t in _tensor_inputs(p)),
    ),
    "input.overlapping": Tag(
        "an input that overlaps with part of another",
        lambda p: any(isinstance(i, ir.AliasInput) and i.op == "rows" for i in p.inputs),
    ),
    "input.scalar": Tag("a 0-d input", _has_input_shape(lambda s: not s)),
    "input.empty": Tag("an empty input", _has_input_shape(lambda s: 0 in s)),
    "input.size1": Tag("an input with a dimension of size 1", _has_input_shape(lambda s: 1 in s)),
    **{
        f"input.{dtype}": Tag(f"a {dtype} input", _has_input_dtype(dtype))
        for dtype in ("float16", "bfloat16", "float64", "int64", "bool", "complex64")
    },
    "input.requires_grad": Tag(
        "an input that requires grad", lambda p: any(t.requires_grad for t in _tensor_inputs(p))
    ),
    **{
        f"input.{kind}": Tag(f"a {word} as input", _has_input_container(kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "input.none": Tag("None as input", _has_input_of(type(None))),
    "input.bool_flag": Tag("a Python bool as input", _has_input_of(bool)),
    "input.number": Tag("a Python int as input", _has_input_of(int)),
    "input.float": Tag("a Python float as input", _has_input_of(float)),
    "input.string": Tag("a string as input", _has_input_of(str)),
    "input.odd_text": Tag(
        "a string as input that needs quoting",
        lambda p: any(isinstance(i, ir.Lit) and i.value in ODD_TEXTS for i in p.inputs),
    ),
    "input.enum": Tag("a member of an enumeration as input", _has_input_of(ir.Kind)),
    "input.size": Tag("a torch.Size as input", _has_input_of(ir.Size)),
    "input.value": Tag("a container of inputs that are not only tensors", _has_value_in_container),
    "input.other_type": Tag(
        "a Python number of another type than the argument is meant for", _takes_other_type
    ),
    "input.keyword": Tag("an input by keyword", lambda p: bool(p.program.kwargs)),
    "model.training": Tag("exported in train mode", lambda p: p.program.training),
}
