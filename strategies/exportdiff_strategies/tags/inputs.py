"""Tags of the example inputs."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.constants import ODD_TEXTS, OTHER_TYPES
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector, Tag, has_input


def _has_value(kind: type) -> Detector:
    """Detect an input that is a Python value of this type."""
    return has_input(ir.Lit, lambda literal: type(literal.value) is kind)


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
    "input.same_twice": Tag("one tensor passed twice", has_input(ir.AliasInput, op="")),
    "input.view_of_another": Tag(
        "one input a view of another",
        has_input(ir.AliasInput, lambda alias: alias.op),
    ),
    "input.transposed": Tag("a transposed input", has_input(ir.TensorInput, layout="transposed")),
    "input.sliced": Tag("an input with holes", has_input(ir.TensorInput, layout="sliced")),
    "input.offset": Tag(
        "an input that starts after the beginning of its storage", has_input(ir.TensorInput, layout="offset")
    ),
    "input.expanded": Tag("an expanded input", has_input(ir.TensorInput, layout="expanded")),
    "input.windows": Tag("an input of windows that overlap", has_input(ir.TensorInput, layout="windows")),
    "input.real": Tag(
        "an input that is the real part of a complex tensor", has_input(ir.TensorInput, layout="real")
    ),
    "input.negative": Tag(
        "an input that is negated when it is read", has_input(ir.TensorInput, layout="negative")
    ),
    "input.conjugate": Tag(
        "an input that is conjugated when it is read", has_input(ir.TensorInput, layout="conjugate")
    ),
    "input.computed": Tag(
        "an input that is no leaf of autograd", has_input(ir.TensorInput, lambda t: t.history)
    ),
    "input.view_of_leaf": Tag(
        "an input that is a view of a leaf of autograd",
        has_input(ir.TensorInput, history="view of leaf"),
    ),
    "input.overlapping": Tag(
        "an input that overlaps with part of another",
        has_input(ir.AliasInput, op="rows"),
    ),
    "input.scalar": Tag("a 0-d input", has_input(ir.TensorInput, lambda t: not t.fill.shape)),
    "input.empty": Tag("an empty input", has_input(ir.TensorInput, lambda t: 0 in t.fill.shape)),
    "input.size1": Tag(
        "an input with a dimension of size 1", has_input(ir.TensorInput, lambda t: 1 in t.fill.shape)
    ),
    **{
        f"input.{dtype}": Tag(
            f"a {dtype} input", has_input(ir.TensorInput, lambda t, dtype=dtype: t.fill.dtype == dtype)
        )
        for dtype in ("float16", "bfloat16", "float64", "int64", "bool", "complex64")
    },
    "input.requires_grad": Tag("an input that requires grad", has_input(ir.TensorInput, requires_grad=True)),
    **{
        f"input.{kind}": Tag(f"a {word} as input", has_input(ir.CollectionInput, kind=kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "input.none": Tag("None as input", _has_value(type(None))),
    "input.bool_flag": Tag("a Python bool as input", _has_value(bool)),
    "input.number": Tag("a Python int as input", _has_value(int)),
    "input.float": Tag("a Python float as input", _has_value(float)),
    "input.string": Tag("a string as input", _has_value(str)),
    "input.odd_text": Tag(
        "a string as input that needs quoting",
        has_input(ir.Lit, lambda literal: literal.value in ODD_TEXTS),
    ),
    "input.enum": Tag("a member of an enumeration as input", _has_value(ir.Kind)),
    "input.size": Tag("a torch.Size as input", _has_value(ir.Size)),
    "input.value": Tag("a container of inputs that are not only tensors", _has_value_in_container),
    "input.other_type": Tag(
        "a Python number of another type than the argument is meant for", _takes_other_type
    ),
    "input.keyword": Tag("an input by keyword", lambda p: bool(p.program.kwargs)),
    "model.training": Tag("exported in train mode", lambda p: p.program.training),
}
