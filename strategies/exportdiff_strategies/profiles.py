"""The profiles: named weightings of the switches that a Program may turn on.

A profile is the base table with other weights for some switches. To add a profile, add an entry to PROFILES.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from exportdiff_strategies.idioms import KINDS


class Needing(NamedTuple):
    """The weight of a switch for what not every supported torch has."""

    weight: int
    needs: str
    """The full name of what torch must have, with the module that defines it."""


_SWITCHES: dict[str, int | Needing] = {
    # hierarchy
    "hierarchy.deep": 90,
    "hierarchy.layer": 48,
    "hierarchy.container": 52,
    "hierarchy.nested_container": 40,
    "hierarchy.slice": 100,
    "hierarchy.shared": 60,
    "hierarchy.alias": 50,
    "hierarchy.attach": 40,
    "hierarchy.guest": 35,
    "hierarchy.more_children": 80,
    "hierarchy.plain": 25,
    "hierarchy.aside": 14,
    "hierarchy.copied": 25,
    "hierarchy.traced": 40,
    "hierarchy.graph_root": 75,
    "hierarchy.hook": 25,
    # state
    "state.parameter": 45,
    "state.frozen": 30,
    "state.buffer": 60,
    "state.scratch": 30,
    "state.constant": 40,
    "state.second": 30,
    "state.held": 20,
    "state.unset": 22,
    "state.counter": 45,
    "state.mode": 15,
    "state.rate": 25,
    "state.dtype": 25,
    "state.derived": 30,
    "state.reinterpreted": 66,
    "state.layout": 45,
    "state.parametrized": 36,
    "state.scaled": 70,
    "state.tied": 40,
    "state.own": 48,
    "state.read_child": 45,
    # updates of attributes
    "update.bump": 36,
    "update.rebind": 42,
    "update.swap": 40,
    "update.create": 15,
    "update.lazy": 25,
    "update.hand_over": 44,
    "update.copy": 55,
    "update.grow": 6,
    # values that take two steps
    "flow.twice": 20,
    "flow.shift": 22,
    "flow.between": 58,
    "flow.recurrent": 25,
    "flow.aliases": 40,
    "flow.returned": 20,
    # calls
    "calls.bool": 70,
    "calls.int": 36,
    "calls.float": 35,
    "calls.str": 25,
    "calls.enum": 36,
    "calls.enum_base": 80,
    "calls.size": 48,
    "calls.optional": 30,
    "calls.second_tensor": 30,
    "calls.group": 35,
    "calls.function": 60,
    "calls.either": 52,
    "calls.rest": 32,
    "calls.options": 38,
    "calls.again": 90,
    "calls.family": 30,
    "calls.expression": 55,
    "calls.keyword": 40,
    "calls.keyword_order": 50,
    "calls.pass_down": 97,
    "calls.own_state": 60,
    "calls.dropped": 52,
    "calls.deep": 60,
    "calls.method": 35,
    "calls.forward": 25,
    "calls.group_result": 20,
    "calls.untouched": 25,
    "calls.no_result": 18,
    "calls.unnamed": 20,
    "calls.keyword_only": 25,
    "calls.other_type": 30,
    # control flow
    "control.if": 92,
    "control.twin": 60,
    "control.match": 100,
    "control.early_return": 35,
    "control.training": 60,
    "control.shape": 55,
    "control.grad": 58,
    "control.identity": 45,
    "control.loop": 70,
    "control.repeat": 40,
    "control.ternary": 40,
    "control.try": 46,
    "control.raise": 34,
    # regions
    "region.whole": 15,
    "region.written": 70,
    "region.no_grad": 50,
    "region.enable_grad": 20,
    "region.autocast": 35,
    "region.annotate": Needing(30, "torch.fx.traceback.annotate"),
    "region.checkpoint": 64,
    "region.cond": 66,
    "region.map": 27,
    "region.vmap": 30,
    "region.func_grad": 15,
    "region.while_loop": 56,
    "region.scan": Needing(100, "torch._higher_order_ops.scan.scan"),
    # in-place
    "inplace.on_argument": 50,
    "inplace.on_state": 75,
    "inplace.on_local": 50,
    "inplace.on_view": 55,
    "inplace.on_fresh": 75,
    "inplace.read_back": 70,
    # op groups
    "op.map": 80,
    "op.zip": 70,
    "op.int": 90,
    "op.float": 60,
    "op.activation": 40,
    "op.reduce": 30,
    "op.shape": 30,
    "op.matmul": 50,
    "op.view": 50,
    "op.compare": 25,
    "op.cast": 25,
    "op.index": 42,
    "op.norm": 25,
    "op.factory": 25,
    "op.complex": 50,
    "op.bits": 11,
    "op.nn": 32,
    "op.custom": 12,
    "op.size": 32,
    "op.data": 38,
    "op.heads": 30,
    "op.autograd": 12,
    "op.gradient_hook": 5,
    "op.random": 10,
    "op.seeded": 9,
    "op.results": 30,
    "op.pair": 60,
    "op.turned": 75,
    "op.inplace.value": 72,
    "op.inplace.item": 45,
    "op.inplace.scatter": 35,
    "op.inplace.out": 30,
    "op.inplace.metadata": 82,
    "op.inplace.storage": 95,
    "op.inplace.custom": 10,
    "op.inplace.own_data": 8,
    "op.inplace.random": 12,
    # inputs and outputs
    "input.dtype": 24,
    "input.side_dtype": 40,
    "input.odd_text": 25,
    "input.scalar": 10,
    "input.empty": 6,
    "input.layout": 55,
    "input.again": 25,
    "input.group": 25,
    "input.nested": 40,
    "input.value": 45,
    "input.requires_grad": 20,
    "input.history": 80,
    "output.tuple": 40,
    "output.list": 20,
    "output.dict": 25,
    "output.named": 15,
    "output.data": 15,
    "output.result": 75,
    "output.nested": 25,
    "output.python": 50,
    "output.view": 40,
    "output.argument": 30,
    "output.state": 45,
    # names
    "names.of_torch": 14,
    "names.operator": 45,
    "names.argument": 24,
    "names.prefix": 15,
    "names.fields": 50,
    "names.keys": 50,
    # dynamic shapes
    "dynamic.shapes": 14,
    "dynamic.hints": Needing(75, "torch.export.dynamic_shapes.Dim.DYNAMIC"),
    "dynamic.range": 65,
    "dynamic.second": 60,
    # the whole model
    "model.training": 35,
    "model.debris": 12,
}

BASE: dict[str, int] = {
    name: entry.weight if isinstance(entry, Needing) else entry for name, entry in _SWITCHES.items()
}
"""Switch -> the percentage of Programs in which it is on."""

NEEDS: dict[str, str] = {
    **{name: entry.needs for name, entry in _SWITCHES.items() if isinstance(entry, Needing)},
    **{f"idiom.{name}": kind.needs for name, kind in KINDS.items() if kind.needs},
}
"""Switch -> what torch must have; the switches that are not here need nothing that a torch may lack."""


def _with(**groups: Mapping[str, int]) -> dict[str, int]:
    """The base table with other weights, given by group."""
    changed = {
        f"{group}.{name}": weight for group, weights in groups.items() for name, weight in weights.items()
    }
    unknown = changed.keys() - BASE.keys()
    if unknown:
        raise KeyError(f"no such switches: {sorted(unknown)}")
    return BASE | changed


_NO_REGIONS = dict.fromkeys(
    ("autocast", "annotate", "checkpoint", "cond", "map", "while_loop", "scan", "vmap", "func_grad"), 0
)
_NO_UPDATES = dict.fromkeys(("bump", "rebind", "swap", "create", "lazy", "hand_over", "copy", "grow"), 0)
_NO_STRANGE_INPUTS = dict.fromkeys(("dtype", "side_dtype", "scalar", "empty", "group", "nested"), 0)

PROFILES: dict[str, Mapping[str, int]] = {
    "core": _with(
        region=_NO_REGIONS,
        input=_NO_STRANGE_INPUTS,
        dynamic={"shapes": 0},
        update=_NO_UPDATES,
        hierarchy={"traced": 0, "hook": 0, "guest": 20},
        state={"parametrized": 0, "derived": 0},
        calls={"function": 0, "either": 0, "rest": 0, "options": 0, "group": 0, "group_result": 0},
    ),
    "mutation": _with(
        inplace=dict.fromkeys(("on_argument", "on_state", "on_local", "on_view"), 85),
        op={
            "inplace.value": 95,
            "inplace.item": 80,
            "inplace.scatter": 60,
            "inplace.out": 50,
            "inplace.metadata": 60,
            "inplace.storage": 30,
        },
        update={"rebind": 50, "swap": 25, "create": 25, "bump": 15, "copy": 60},
        state={"buffer": 90, "scratch": 50, "constant": 50, "second": 60},
        region={"no_grad": 50, **_NO_REGIONS},
    ),
    "metadata": _with(
        inplace={**dict.fromkeys(("on_argument", "on_state", "on_local"), 85), "on_fresh": 25, "on_view": 30},
        op={
            "inplace.metadata": 95,
            "inplace.storage": 60,
            "inplace.value": 12,
            "inplace.item": 6,
            "view": 70,
        },
        input={"layout": 60, "again": 50},
        control={"shape": 80},
        update=_NO_UPDATES,
        region=_NO_REGIONS,
    ),
    "sharing": _with(
        hierarchy={"shared": 90, "alias": 80, "attach": 70, "guest": 60, "container": 60},
        state={"tied": 80, "derived": 70, "read_child": 70, "second": 50},
        calls={"deep": 80, "again": 95},
        region=_NO_REGIONS,
    ),
    "control-flow": _with(
        hierarchy={"deep": 90},
        control=dict.fromkeys(
            ("if", "match", "early_return", "training", "shape", "grad", "loop", "repeat", "ternary"), 85
        ),
        calls={"bool": 90, "int": 60, "str": 60, "optional": 60, "function": 40, "either": 40},
        region={"cond": 30, "map": 12, "while_loop": 15, "scan": 12},
    ),
    "regions": _with(
        region={
            "no_grad": 85,
            "enable_grad": 40,
            "autocast": 20,
            "checkpoint": 45,
            "cond": 65,
            "map": 30,
            "while_loop": 15,
            "scan": 15,
        },
        state={"parameter": 70, "buffer": 85, "rate": 40},
        update={"bump": 10, "rebind": 60, "swap": 5, "create": 5, "copy": 70},
        control={"if": 50, "loop": 40, "repeat": 15, "ternary": 15},
        calls={"again": 95, "dropped": 60, "group": 5, "either": 5, "rest": 5, "options": 5, "untouched": 50},
        op={"pair": 15},
        input={**_NO_STRANGE_INPUTS, "requires_grad": 60},
    ),
    "dynamic": _with(
        dynamic={"shapes": 100, "hints": 50, "range": 75},
        control={"shape": 80, "if": 85},
        calls={"second_tensor": 60},
        inplace={"on_argument": 70},
        op={"inplace.metadata": 95, "inplace.storage": 75, "size": 80},
        input={"scalar": 0, "empty": 0, "layout": 75},
        region={**_NO_REGIONS, "cond": 40},
    ),
    "everyday": _with(
        hierarchy={
            "layer": 80,
            "container": 60,
            "slice": 40,
            "shared": 75,
            "alias": 30,
            "attach": 15,
            "traced": 5,
            "hook": 40,
            "plain": 45,
            "copied": 45,
            "guest": 20,
        },
        state={
            "parameter": 70,
            "buffer": 90,
            "scratch": 40,
            "second": 60,
            "counter": 60,
            "mode": 35,
            "rate": 40,
            "dtype": 8,
            "derived": 12,
            "layout": 8,
            "parametrized": 60,
            "tied": 50,
            "own": 80,
            "held": 35,
            "unset": 35,
        },
        update={
            "bump": 25,
            "rebind": 60,
            "swap": 4,
            "create": 12,
            "lazy": 40,
            "hand_over": 25,
            "copy": 75,
            "grow": 15,
        },
        flow={"twice": 45, "shift": 45, "between": 75, "recurrent": 45, "aliases": 90, "returned": 45},
        calls={
            "bool": 85,
            "float": 20,
            "str": 45,
            "size": 3,
            "optional": 60,
            "second_tensor": 60,
            "function": 10,
            "either": 20,
            "rest": 10,
            "keyword": 65,
            "method": 45,
            "forward": 8,
            "group_result": 45,
            "unnamed": 5,
            "expression": 35,
        },
        control={"training": 60, "grad": 8, "identity": 15, "early_return": 50, "match": 20, "repeat": 30},
        region={
            "no_grad": 65,
            "whole": 40,
            "checkpoint": 45,
            "autocast": 30,
            "annotate": 8,
            "cond": 45,
            "map": 8,
            "vmap": 25,
            "func_grad": 15,
            "while_loop": 20,
            "scan": 12,
        },
        inplace={"on_argument": 40, "on_view": 45},
        op={
            "size": 60,
            "data": 45,
            "heads": 40,
            "autograd": 30,
            "gradient_hook": 8,
            "random": 15,
            "seeded": 3,
            "results": 45,
            "complex": 4,
            "norm": 50,
            "nn": 50,
            "reduce": 50,
            "activation": 60,
            "inplace.metadata": 18,
            "inplace.storage": 8,
            "inplace.own_data": 5,
            "turned": 45,
        },
        input={"dtype": 6, "side_dtype": 15, "scalar": 2, "empty": 1, "layout": 12, "again": 60},
        output={"dict": 40, "named": 35, "data": 35, "python": 15},
        names={"of_torch": 4, "operator": 8, "argument": 6, "fields": 20},
        dynamic={"shapes": 25},
        model={"training": 55, "debris": 5},
    ),
    "wide": BASE,
}
"""Every profile by its name; ``default`` mixes them, except ``inference``."""

_NOT_RUN = (
    *("op.complex", "op.custom", "op.autograd", "op.gradient_hook", "op.random", "op.seeded", "op.bits"),
    *(
        "op.inplace.random",
        "op.inplace.custom",
        "op.inplace.storage",
        "op.inplace.own_data",
        "op.inplace.out",
    ),
    *("region.autocast", "region.cond", "region.map", "region.vmap", "region.func_grad", "region.checkpoint"),
    *("region.while_loop", "region.scan", "state.reinterpreted", "output.python", "model.training"),
    *("input.dtype", "input.side_dtype", "input.empty", "inplace.on_state", "state.counter", "update.bump"),
    *("dynamic.range",),
)
"""What no inference engine promises to run: complex numbers, random numbers, autograd, training, Python
results, counters in the state."""

_RARELY_RUN = {
    # State with two names that is written to: "Encountered duplicated or aliased inputs that are mutated".
    "hierarchy.shared": 15,
    "hierarchy.alias": 5,
    "hierarchy.copied": 10,
    "hierarchy.attach": 5,
    "hierarchy.guest": 5,
    "state.tied": 10,
    "update.hand_over": 5,
    "input.again": 10,
    # A buffer gets another shape or dtype, or another tensor: its shape and its memory are those of export.
    "update.grow": 2,
    "update.swap": 1,
    "state.dtype": 2,
    "op.inplace.metadata": 5,
    # The branch fixes a size that a named Dim declares: "Constraints violated".
    "control.shape": 10,
    # An engine takes tensors and numbers.
    "calls.str": 10,
}
"""What torch.export or run_decompositions refuses in most programs that contain it, before an engine sees
them, and text among the inputs. Each program that is refused is one that judges no engine."""

PROFILES["inference"] = {**PROFILES["everyday"], **_RARELY_RUN, **dict.fromkeys(_NOT_RUN, 0)}

MIX = (
    "wide",
    "core",
    "wide",
    "mutation",
    "metadata",
    "wide",
    "sharing",
    "control-flow",
    "control-flow",
    "dynamic",
    "regions",
    *("everyday",) * 5,
)
"""The profiles that the default mixes, each repeated by its weight."""

IDIOMS = tuple(f"idiom.{name}" for name in KINDS)
"""The switches of idioms. They have no weights: PERCENT_WITH_IDIOM says how many Programs get one of them."""

PERCENT_WITH_IDIOM: dict[str, int] = {**dict.fromkeys(PROFILES, 40), "core": 0, "everyday": 50}
"""Profile -> the percentage of Programs that get an idiom, if one fits."""

IDIOMS_LEFT_OUT: dict[str, frozenset[str]] = {
    **dict.fromkeys(PROFILES, frozenset()),
    "inference": frozenset(
        f"idiom.{name}"
        for name in (
            *("func_grad", "gradient_hook", "seed", "shape_result", "sparse"),
            *("cond_form", "associative_scan", "flex_attention"),
        )
    ),
}
"""Profile -> the idioms that its Programs never contain: for ``inference``, those of autograd, random
numbers, Python results, sparse tensors and higher-order operators."""

NAMES = ("default", *PROFILES)
"""The names that ``--profile`` accepts."""
