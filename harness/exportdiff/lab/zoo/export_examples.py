"""The examples of ``torch._export.db``, with which PyTorch documents what export supports and what not."""

from __future__ import annotations

import copy
import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from exportdiff.lab.zoo.model import ZooModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

MODULE = "torch._export.db.examples"


def models() -> Iterator[ZooModel]:
    """Yield all examples, by name; those that PyTorch calls unsupported as well."""
    examples = importlib.import_module(MODULE).all_examples()
    for name in sorted(examples):
        example = examples[name]
        dynamic = example.dynamic_shapes is not None
        yield ZooModel(
            f"export_db/{name}",
            f"{MODULE}.{name}",
            partial(_make, example),
            partial(copy.deepcopy, example.dynamic_shapes) if dynamic else None,
            # Without dynamic sizes, export promises nothing for inputs of other sizes.
            partial(_probes, example) if dynamic and example.extra_args is not None else None,
        )


def _make(example: Any) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    # The database holds one live model and one set of inputs for each example.
    made = copy.deepcopy((example.model, example.example_args, example.example_kwargs))
    return made  # noqa: RET504  # named for the type checker


def _probes(example: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    return [copy.deepcopy((example.extra_args, example.example_kwargs))]
