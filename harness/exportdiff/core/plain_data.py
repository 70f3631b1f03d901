"""Converts plain data to one line of JSON and back: dataclasses of this project, containers, numbers, text.

Reading runs only the constructors of these dataclasses, so a file from an unknown source is safe, unlike with
pickle. Tuples, sets, enumerations and paths keep their types.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pathlib
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

PACKAGE = "exportdiff"
"""Only dataclasses and enumerations of this package are written and read."""


class NotPlainError(ValueError):
    """A value is not plain data, or a text was not written by ``dumps``."""


def dumps(value: object) -> str:
    """Return plain data as one line of JSON. Raises NotPlainError."""
    return json.dumps(_encoded(value), ensure_ascii=False, separators=(",", ":"))


def loads(text: str) -> Any:
    """Return the value that ``dumps`` wrote. Raises NotPlainError for any other text."""
    try:
        return _decoded(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, ImportError, RecursionError) as error:
        raise NotPlainError(f"no plain data: {error}") from None


def _encoded(value: object) -> Any:
    if isinstance(value, Enum):
        return {"enum": _name(type(value)), "value": value.name}
    # Exact types only: a NumPy number, for example, would come back as another type.
    if value is None or type(value) in (bool, int, float, str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field for field in dataclasses.fields(value) if field.init)
        return {
            "data": _name(type(value)),
            "fields": {f.name: _encoded(getattr(value, f.name)) for f in fields},
        }
    if type(value) in (tuple, list, set, frozenset):
        items: Any = value
        ordered = sorted(items, key=repr) if isinstance(value, set | frozenset) else items
        return {"items": [_encoded(item) for item in ordered], "of": type(value).__name__}
    if isinstance(value, Mapping):
        return {"pairs": [[_encoded(key), _encoded(item)] for key, item in value.items()]}
    if isinstance(value, pathlib.PurePath):
        return {"path": str(value)}
    raise NotPlainError(f"{type(value).__qualname__} is no plain data")


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise NotPlainError("a list without its type")
        return value
    if "data" in value:
        fields = {name: _decoded(item) for name, item in value["fields"].items()}
        return _class(value["data"])(**fields)
    if "items" in value:
        kind = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}[value["of"]]
        return kind(map(_decoded, value["items"]))
    if "pairs" in value:
        return {_decoded(key): _decoded(item) for key, item in value["pairs"]}
    if "enum" in value:
        return _class(value["enum"])[value["value"]]
    return pathlib.Path(value["path"])


def _name(kind: type) -> str:
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__.partition(".")[0] != PACKAGE or "<" in name:
        raise NotPlainError(f"{name} is no plain data of this project")
    return name


@cache
def _class(name: str) -> Any:
    module, _, qualified = name.partition(":")
    if module.partition(".")[0] != PACKAGE:
        raise NotPlainError(f"{name} is not of this project")
    found: Any = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, Enum))):
        raise NotPlainError(f"{name} is no plain data")
    return found
