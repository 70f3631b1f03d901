"""Tries the sizes of dynamic dimensions: at the ends of the range, and those of the probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch

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
from exportdiff.runtime.paths.read.symbolic_sizes import recorded_sizes, size_range, sizes_with, symbol

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
    recorded = recorded_sizes(program, examples.fresh())
    start, lowered = Checkpoint(model), SavedModule(module)
    found = []
    for declared in declared_dimensions(model, examples.fresh(), spec):
        size = recorded[declared.leaf].get(declared.dim)
        example, *others = (tensor.shape[declared.dim] for tensor in _tensors(examples, declared.leaf))
        if type(example) is not int:  # of a jagged tensor: the sizes of its rows
            continue
        recorded_range = size_range(size, program)
        tried = []
        for wanted in _candidates(declared, recorded_range, example, others):
            sizes = _sizes(declared, size, wanted, recorded)
            if sizes is None or not _can_resize(examples, sizes):
                continue
            eager = _refusal(model, resized(examples.fresh(), sizes)) is None
            refusal = _refusal(module, resized(examples.fresh(), sizes))
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


def _accepted(size: object, recorded: SizeRange) -> str:
    if not isinstance(size, torch.SymInt):
        return f"only {size}"
    if symbol(size) is None:
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
    known = symbol(size)
    if known is None:
        return None if isinstance(size, torch.SymInt) else {(declared.leaf, declared.dim): wanted}
    return sizes_with(recorded, {known: wanted})


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
        resized(examples.fresh(), sizes)
    except Exception:
        return False
    return True


def resized(inputs: Inputs, sizes: Mapping[tuple[int, int], int]) -> Inputs:
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
