"""The imports and definitions that a source starts with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from exportdiff_strategies import program as ir
from exportdiff_strategies.control import CONTROLS
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.regions import FIELDS_HERE, HOOKS, PARAMETRIZATIONS, PREAMBLES
from exportdiff_strategies.render.statements import INDENT


def import_lines(body: str, further: Iterable[str]) -> Iterator[str]:
    """The imports that a source with this body needs; ``further`` ones come in their places."""
    standard = [line for line in further if line in _STANDARD]
    standard += [f"import {name}" for name in ("copy", "math") if re.search(rf"\b{name}\.\w+\(", body)]
    if "@dataclass" in body:
        standard.append("from dataclasses import dataclass")
    base = re.search(r"^class Kind\(.*?(\w+)\):", body, re.MULTILINE)
    if base:
        standard.append(f"from enum import {base[1]}")
    if "NamedTuple" in body:
        standard.append("from typing import NamedTuple")
    yield from (*dict.fromkeys(standard), *([""] if standard else []))
    yield "import torch"
    if re.search(r"\bF\.", body):
        yield "import torch.nn.functional as F"
    yield "from torch import nn"
    yield from (line for line in further if line not in _STANDARD)


_STANDARD = {
    *(
        f"import {name}"
        for name in ("collections", "contextlib", "dataclasses", "functools", "random", "types")
    ),
    "from enum import Enum",
}
"""The imports of idioms that are no imports of torch."""


def preambles(program: ir.Program) -> Iterator[tuple[str, ...]]:
    """The further imports and the definitions that the source of a Program needs, each once."""
    wanted: dict[str, tuple[str, ...]] = {"graph": PREAMBLES["graph"]} if program.graph else {}
    for node in ir.nodes((program.classes, tuple(given for _, given in program.inputs))):
        if isinstance(node, ir.Op) and OPS[node.name].preamble:
            wanted[OPS[node.name].preamble] = PREAMBLES[OPS[node.name].preamble]
        elif isinstance(node, ir.Collection | ir.CollectionInput) and node.kind in PREAMBLES:
            wanted[node.kind] = _record(node.kind, node.keys)
        elif isinstance(node, ir.CallModule) and node.form in PREAMBLES:
            wanted[node.form] = PREAMBLES[node.form]
        elif isinstance(node, ir.Lit) and isinstance(node.value, ir.Kind):
            wanted["enum"] = _enum(program.enum)
        elif isinstance(node, ir.Control) and CONTROLS[node.name].preamble:
            wanted[CONTROLS[node.name].preamble] = PREAMBLES[CONTROLS[node.name].preamble]
        elif isinstance(node, ir.Hook):
            wanted[node.name] = HOOKS[node.name].lines
        elif isinstance(node, ir.Parametrize):
            spec = PARAMETRIZATIONS[node.name]
            wanted[spec.preamble] = PREAMBLES[spec.preamble]
            if spec.lines:
                wanted[node.name] = spec.lines
        elif isinstance(node, ir.UseIdiom):
            idiom = KINDS[node.kind].idioms[node.number]
            wanted |= {line: (line,) for line in idiom.imports}
            if idiom.preamble:
                wanted[f"idiom {node.kind}"] = tuple(idiom.preamble.splitlines())
    yield from (wanted[name] for name in sorted(wanted))


def _enum(base: str) -> tuple[str, ...]:
    """The definition of the enumeration."""
    members = (
        f"{INDENT}{member.name} = {value!r}" for member, value in zip(ir.Kind, ir.ENUMS[base], strict=True)
    )
    return (f"class Kind({base}):", *members)


def _record(kind: str, fields: Iterable[ir.Literal]) -> tuple[str, ...]:
    """The definition of a namedtuple or dataclass."""
    listed = [f"{INDENT}{field}: torch.Tensor" for field in fields]
    return tuple(part for line in PREAMBLES[kind] for part in (listed if line == FIELDS_HERE else [line]))
