"""Validates documents by the JSON Schemas that exportdiff ships."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from exportdiff.interfaces.schemas import SUFFIX, schema, schema_names


def closed(described: Any) -> Any:
    """Return a schema that allows no other keys than those that it describes."""
    if isinstance(described, list):
        return [*map(closed, described)]
    if not isinstance(described, dict):
        return described
    result = {key: closed(each) for key, each in described.items()}
    if "properties" in result and "$schema" not in result.get("properties", {}):
        result.setdefault("unevaluatedProperties", False)
    return result


def validator(name: str, *, strict: bool = True) -> Draft202012Validator:
    """Return the validator of a schema; ``strict``: every key must be described."""
    every = {f"{each}{SUFFIX}": schema(each) for each in schema_names()}
    # A finding has further keys where it is used, so only the schemas that use it are closed.
    resources = ((uri, Resource.from_contents(each)) for uri, each in every.items())
    described = closed(every[f"{name}{SUFFIX}"]) if strict else every[f"{name}{SUFFIX}"]
    return Draft202012Validator(described, registry=Registry().with_resources(resources))
