"""Tags of what the model returns."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector, Tag
from exportdiff_strategies.values import CollectionValue, TensorValue, Value


def _returns_role(*roles: str) -> Detector:
    """An output has one of these roles."""
    return lambda p: any(role in roles for _, role in p.outputs)


def _returns_container(kind: str) -> Detector:
    """The model returns a container of this kind."""
    return lambda p: any(
        group.kind == kind
        for r in ir.of_type(p.root.body, ir.Return)
        for group in ir.of_type(r.value, ir.Collection)
    )


def _returns_python(*kinds: type) -> Detector:
    """The model returns a Python value of one of these types."""
    return lambda p: any(type(leaf) in kinds for leaf, _ in p.outputs)


def _empty_boxes(value: Value) -> bool:
    return isinstance(value, CollectionValue) and (
        not value.items or any(map(_empty_boxes, value.items.values()))
    )


def _returns_duplicate(p: Analysis) -> bool:
    tensors = [id(leaf) for leaf, _ in p.outputs if isinstance(leaf, TensorValue)]
    return len(set(tensors)) < len(tensors)


TABLE: dict[str, Tag] = {
    **{
        f"output.{kind}": Tag(f"a {word} returned", _returns_container(kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "output.result": Tag(
        "a named tuple of torch returned, as that of x.max(0)",
        lambda p: any(
            isinstance(part, CollectionValue) and part.kind == "result"
            for _, result in p.trace.results
            for part in (result, *(result.items.values() if isinstance(result, CollectionValue) else ()))
        ),
    ),
    "output.nested": Tag(
        "a container in a container returned",
        lambda p: any(
            isinstance(item, ir.Collection)
            for r in ir.of_type(p.root.body, ir.Return)
            for g in ir.of_type(r.value, ir.Collection)
            for item in g.items
        ),
    ),
    "output.duplicate": Tag("one tensor returned twice", _returns_duplicate),
    "output.input": Tag("an input returned", _returns_role("input")),
    "output.view_of_input": Tag("a view of an input returned", _returns_role("view of input")),
    "output.buffer": Tag("a buffer returned", _returns_role("buffer", "scratch")),
    "output.view_of_buffer": Tag(
        "a view of a buffer returned", _returns_role("view of buffer", "view of scratch")
    ),
    "output.parameter": Tag("a parameter returned", _returns_role("parameter")),
    "output.constant": Tag("a constant returned", _returns_role("constant")),
    "output.none": Tag("None returned", lambda p: any(leaf is None for leaf, _ in p.outputs)),
    "output.number": Tag("a Python number returned", _returns_python(bool, int, float)),
    "output.text": Tag("a text returned", _returns_python(str)),
    "output.enum": Tag("a member of an enumeration returned", _returns_python(ir.Kind)),
    "output.size": Tag("a torch.Size returned", _returns_python(ir.Size)),
    "output.empty": Tag(
        "an empty container returned",
        lambda p: any(_empty_boxes(result) for _, result in p.trace.results[:1]),
    ),
    "output.no_tensor": Tag(
        "no tensor returned", lambda p: not any(isinstance(leaf, TensorValue) for leaf, _ in p.outputs)
    ),
}
