"""Tags of dynamic shapes."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector, Tag


def _branches_on_size(p: Analysis) -> bool:
    on_sizes = ("size", "even_size", "size_is", "numel")
    return p.program.dynamic is not None and p.has(ir.Cond, lambda c: c.name in on_sizes)


def _dynamic_shapes_are(test: Callable[..., bool]) -> Detector:
    """The shapes are dynamic, and pass the test."""
    return lambda p: p.program.dynamic is not None and test(p.program.dynamic)


def _passes_extra_arguments(p: Analysis, given: ir.NamedInputs) -> bool:
    """Whether the shapes are dynamic and these arguments include some for ``*rest`` or ``**options``."""
    own = {arg.name for arg in p.root.args}
    return p.program.dynamic is not None and any(name not in own for name, _ in given)


TABLE: dict[str, Tag] = {
    "dynamic.rest": Tag(
        "dynamic shapes, and *args given", lambda p: _passes_extra_arguments(p, p.program.args)
    ),
    "dynamic.options": Tag(
        "dynamic shapes, and **kwargs given", lambda p: _passes_extra_arguments(p, p.program.kwargs)
    ),
    "dynamic.named": Tag("a Dim", _dynamic_shapes_are(lambda d: d.dims[0].kind == "named")),
    "dynamic.range": Tag("a Dim with a range", _dynamic_shapes_are(lambda d: d.dims[0].low is not None)),
    "dynamic.auto": Tag("Dim.AUTO", _dynamic_shapes_are(lambda d: d.dims[0].kind == "auto")),
    "dynamic.dynamic": Tag("Dim.DYNAMIC", _dynamic_shapes_are(lambda d: d.dims[0].kind == "dynamic")),
    "dynamic.equal": Tag(
        "two dynamic sizes that are equal",
        _dynamic_shapes_are(lambda d: sum(name == "n" for _, _, name in d.places) > 1),
    ),
    "dynamic.second": Tag(
        "a second dynamic size", _dynamic_shapes_are(lambda d: len(d.dims) > 1 and not d.dims[1].base)
    ),
    "dynamic.derived": Tag(
        "a dynamic size that follows from another", _dynamic_shapes_are(lambda d: any(x.base for x in d.dims))
    ),
    "dynamic.branch": Tag("a branch on a size, with dynamic shapes", _branches_on_size),
    "dynamic.zero": Tag("a probe of size 0", _dynamic_shapes_are(lambda d: any(0 in p for p in d.probes))),
    "dynamic.one": Tag("a probe of size 1", _dynamic_shapes_are(lambda d: any(1 in p for p in d.probes))),
    "dynamic.edge": Tag(
        "a probe at an edge of the range",
        _dynamic_shapes_are(lambda d: any(p[0] in (d.dims[0].low, d.dims[0].high) for p in d.probes)),
    ),
}
