"""The sources of the zoo: a table. A new source is one entry here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.default_paths import DEPLOYED
from exportdiff.interfaces.checking.loading import check
from exportdiff.lab.zoo import (
    decoding,
    export_examples,
    generation,
    module_database,
    operator_databases,
    passing,
)
from exportdiff.lab.zoo.docs import models as documentation
from exportdiff.lab.zoo.families import FAMILIES
from exportdiff.runtime.paths import backends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exportdiff.core.case import Case
    from exportdiff.lab.zoo.model import ZooModel


@dataclass(frozen=True)
class ModelSource:
    """Where models come from."""

    name: str
    """The first part of the names of its models."""
    title: str
    """For people."""
    packages: tuple[str, ...]
    """What it needs besides torch, as it is imported."""
    models: Callable[[], Iterator[ZooModel]]
    """Yields them. Call it in a child process only: what it imports may change torch."""
    paths: tuple[str, ...] = DEPLOYED
    """The paths on which its models are judged."""
    batch: int = 1
    """How many of its models one process judges before those with findings get processes of their own."""

    @property
    def usable_paths(self) -> tuple[str, ...]:
        """The paths whose backend is installed."""
        return tuple(each for each in self.paths if _is_installed(re.split("[+:]", each)[0]))

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that are not installed."""
        return tuple(name for name in self.packages if find_spec(name) is None)


def _is_installed(mode: str) -> bool:
    return backends.is_mode(mode) and not backends.lacking(mode)


def _families() -> Iterator[ZooModel]:
    for family in FAMILIES:
        yield family.zoo_model()


DECODED = ("nonstrict:module", "nonstrict:unflatten", "executorch:portable", "executorch:xnnpack")
"""Paths on which models decode with a cache in buffers."""

PASSED = ("nonstrict:module", "nonstrict:unflatten", "onnx:program", "onnx:plain")
"""Paths on which models decode with the cache as input and output: ONNX programs keep no state."""

EXPORTERS = ("transformers_dynamo:torch", "transformers_onnx:onnxruntime", "transformers_executorch:xnnpack")
"""Paths on which transformers exports by itself."""

PRESERVED = ("nonstrict+preserve:unflatten", "nonstrict+preserve_leaves:unflatten")
"""Paths that preserve the call signatures of submodules."""

BATCH = 20

# The databases import PyTorch's own helpers for tests, and these import expecttest.
SOURCES = (
    ModelSource("transformers", "Families of transformers, in tiny form", ("transformers",), _families),
    ModelSource(
        "decoding",
        "Decoding of transformers with a cache: a prompt and ten steps",
        ("transformers",),
        decoding.models,
        DECODED,
    ),
    ModelSource(
        "passing",
        "Decoding of transformers with the cache as input and output: a prompt and ten steps",
        ("transformers",),
        passing.models,
        PASSED,
    ),
    ModelSource(
        "exporters",
        "Decoding as transformers.exporters exports it: a prefill and ten steps with caches",
        ("transformers",),
        generation.models,
        EXPORTERS,
    ),
    ModelSource(
        "module_db",
        "PyTorch's database of modules",
        ("expecttest",),
        module_database.models,
        (*DEPLOYED, *PRESERVED),
        BATCH,
    ),
    ModelSource(
        "export_db",
        "The examples of torch._export.db",
        (),
        export_examples.models,
        (*DEPLOYED, *PRESERVED),
        BATCH,
    ),
    ModelSource("docs", "The examples in the docstrings of torch", (), documentation.models, batch=BATCH),
    ModelSource(
        "operators",
        "PyTorch's databases of operators",
        ("expecttest",),
        operator_databases.models,
        batch=BATCH,
    ),
)


def names(source: str) -> tuple[str, ...]:
    """Return the names of all models of a source, in its order."""
    return tuple(model.name for model in source_of(source).models())


def model_named(name: str) -> ZooModel:
    """Return one model. Raises KeyError for an unknown name."""
    for model in source_of(name).models():
        if model.name == name:
            return model
    raise KeyError(name)


def load_model(name: str) -> Case:
    """Return the case of one model, built once. Raises UsageError if it cannot be built and judged."""
    return loaded(model_named(name))


def loaded(model: ZooModel) -> Case:
    """Return the case of a model, built once. Raises UsageError if it cannot be built and judged."""
    case = model.case()
    check(case, None)
    return case


def source_of(name: str) -> ModelSource:
    """Return the source of a model, or the source of this name. Raises KeyError."""
    return {source.name: source for source in SOURCES}[name.partition("/")[0]]
