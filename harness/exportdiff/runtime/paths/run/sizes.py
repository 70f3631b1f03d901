"""Tries the sizes of dynamic dimensions: at the ends of the range, and those of the probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch.export.graph_signature import InputKind

from exportdiff.core.case import seed
from exportdiff.runtime.inputs.copies import CALLS, build
from exportdiff.runtime.inputs.resizing import with_size
from exportdiff.runtime.observing.arguments import Inputs
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.checkpoint import Checkpoint
from exportdiff.runtime.observing.failure import failure
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.observing.saved_tensors import SavedModule
from exportdiff.runtime.observing.sizes import DynamicDimension, Resized, SizeRange, TriedSize
from exportdiff.runtime.paths.read.declared_sizes import declared_dimensions
from exportdiff.runtime.paths.read.graph_inputs import in_graph_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.export import ExportedProgram

    from exportdiff.core.case import Case
    from exportdiff.runtime.inputs.copies import Examples
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.paths.read.declared_sizes import Declared

LARGEST = 64
"""Larger sizes are tried only if the user's own probes have them."""


def dynamic_dimensions(
    case: Case, device: str, module: torch.nn.Module, program: ExportedProgram
) -> tuple[DynamicDimension, ...]:
    """Return what was declared for each dynamic dimension, and what the program and eager accept.

    ``module``: the program as it runs; it is restored.
    """
    spec = case.shapes()
    if spec is None:
        return ()
    model, examples = build(case, device)
    python = PythonState(model)
    recorded = _recorded(program, examples.fresh())
    start, lowered = Checkpoint(model), SavedModule(module)
    found = []
    for declared in declared_dimensions(model, examples.fresh(), spec):
        size = recorded[declared.leaf].get(declared.dim)
        example, *others = (tensor.shape[declared.dim] for tensor in _tensors(examples, declared.leaf))
        if type(example) is not int:  # of a jagged tensor: the sizes of its rows
            continue
        recorded_range = _range(size, program)
        tried = []
        for wanted in _candidates(declared, recorded_range, example, others):
            sizes = _sizes(declared, size, wanted, recorded)
            if sizes is None or not _can_resize(examples, sizes):
                continue
            eager = _refusal(model, _resized(examples.fresh(), sizes)) is None
            refusal = _refusal(module, _resized(examples.fresh(), sizes))
            tried.append(
                TriedSize(wanted, eager, refusal, _written(sizes, examples.fresh()), wanted in others)
            )
            python.undo()
            if not start.restore() or not lowered.restore():
                break
        found.append(
            DynamicDimension(
                declared.where,
                declared.text,
                _accepted(size, recorded_range),
                tuple(tried),
                declared.hint,
                declared.stated,
                example,
                fixed=not isinstance(size, torch.SymInt),
                recorded=recorded_range,
            )
        )
    return tuple(sorted(found, key=lambda each: each.where))


def _recorded(program: ExportedProgram, inputs: Inputs) -> list[dict[int, Any]]:
    """Return the sizes that the program records, by the number of the input and the dimension."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]
    leaves = in_graph_order(program, inputs.snapshot())
    values = {
        leaf.where: nodes[spec.arg.name].meta.get("val") for spec, leaf in zip(specs, leaves, strict=False)
    }
    tensors = (values.get(place) for place in inputs.places)
    return [dict(enumerate(each.shape)) if isinstance(each, torch.Tensor) else {} for each in tensors]


def _symbol(size: object) -> Any:
    """Return the symbol of a size; None: it is fixed, or computed from symbols."""
    if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
        return size.node.expr
    return None


def _range(size: object, program: ExportedProgram) -> SizeRange:
    """Return the range of a size in the program."""
    range_ = program.range_constraints.get(_symbol(size))
    if range_ is None:
        return SizeRange()
    # Infinity of sympy is no Integer, and says that it is an integer.
    ends = (range_.lower, range_.upper)
    return SizeRange(*(int(end) if getattr(end, "is_Integer", False) else None for end in ends))


def _accepted(size: object, recorded: SizeRange) -> str:
    if not isinstance(size, torch.SymInt):
        return f"only {size}"
    if _symbol(size) is None:
        return str(size)
    lower, upper = recorded.lower or 0, recorded.upper
    return f"{lower} and more" if upper is None else f"{lower} to {upper}"


def _candidates(declared: Declared, recorded: SizeRange, example: int, others: Sequence[int]) -> list[int]:
    """Return the sizes to try: the ends of both ranges, the example and the next, the probes."""
    ranges = (declared.stated, recorded)
    ends = (*(each.lower for each in ranges), *(each.upper for each in ranges), example + 1, 1, 2)
    return sorted({example, *others, *(end for end in ends if end is not None and end <= LARGEST)})


def _tensors(examples: Examples, leaf: int) -> list[Any]:
    """Return an input of the example, and the same input of each probe."""
    numbers = (0, *range(CALLS, examples.calls), *examples.small_calls)
    return [examples.fresh(number).leaves[leaf] for number in numbers]


def _sizes(
    declared: Declared, size: object, wanted: int, recorded: list[dict[int, Any]]
) -> dict[tuple[int, int], int] | None:
    """Return the new sizes, by the number of the input and the dimension; None: they are no numbers."""
    symbol = _symbol(size)
    if symbol is None:
        return None if isinstance(size, torch.SymInt) else {(declared.leaf, declared.dim): wanted}
    sizes: dict[tuple[int, int], int] = {}
    for leaf, dims in enumerate(recorded):
        for dim, each in dims.items():
            expression = each.node.expr if isinstance(each, torch.SymInt) else None
            if expression is not None and symbol in expression.free_symbols:
                value = expression.subs(symbol, wanted)
                if not value.is_integer:
                    return None
                sizes[leaf, dim] = int(value)
    return sizes


def _written(sizes: Mapping[tuple[int, int], int], inputs: Inputs) -> tuple[Resized, ...]:
    """Return the sizes that are not those of the example, with the places of their inputs."""
    return tuple(
        Resized(inputs.places[leaf], dim, size)
        for (leaf, dim), size in sizes.items()
        if cast("torch.Tensor", inputs.leaves[leaf]).shape[dim] != size
    )


def _can_resize(examples: Examples, sizes: Mapping[tuple[int, int], int]) -> bool:
    """Whether the inputs can have these sizes: not every class of tensors can be indexed."""
    try:
        _resized(examples.fresh(), sizes)
    except Exception:
        return False
    return True


def _resized(inputs: Inputs, sizes: Mapping[tuple[int, int], int]) -> Inputs:
    """Return inputs with other sizes."""
    leaves = list(inputs.leaves)
    for (number, dim), size in sizes.items():
        leaves[number] = with_size(cast("torch.Tensor", leaves[number]), dim, size)
    return inputs.with_leaves(leaves)


def _refusal(run: Callable[..., object], inputs: Inputs) -> Failure | None:
    """Return why a call raises; None: it does not."""
    seed(0)
    with restore_modes(), capture_output():
        try:
            run(*inputs.args, **inputs.kwargs)
        except Exception as error:
            return failure(error, "run")
    return None
