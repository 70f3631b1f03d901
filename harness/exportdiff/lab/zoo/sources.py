"""The sources of the zoo: a table. A new source is one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.loading import check
from exportdiff.lab.zoo import export_examples, module_database
from exportdiff.lab.zoo.families import FAMILIES

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

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that are not installed."""
        return tuple(name for name in self.packages if find_spec(name) is None)


def _families() -> Iterator[ZooModel]:
    for family in FAMILIES:
        yield family.zoo_model()


SOURCES = (
    ModelSource("transformers", "Families of transformers, in tiny form", ("transformers",), _families),
    # The database imports PyTorch's own helpers for tests, and these import expecttest.
    ModelSource("module_db", "PyTorch's database of modules", ("expecttest",), module_database.models),
    ModelSource("export_db", "The examples of torch._export.db", (), export_examples.models),
)


def names(source: str) -> tuple[str, ...]:
    """Return the names of all models of a source, in its order."""
    return tuple(model.name for model in _source(source).models())


def model_named(name: str) -> ZooModel:
    """Return one model. Raises KeyError for an unknown name."""
    for model in _source(name.partition("/")[0]).models():
        if model.name == name:
            return model
    raise KeyError(name)


def load_model(name: str) -> Case:
    """Return the case of one model, built once. Raises UsageError if it cannot be built and judged."""
    case = model_named(name).case()
    check(case, None)
    return case


def _source(name: str) -> ModelSource:
    return {source.name: source for source in SOURCES}[name]
