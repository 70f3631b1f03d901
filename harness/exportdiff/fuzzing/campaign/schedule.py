"""Which paths an example runs on: the more a path costs, the more rarely.

A path that helps only with some programs runs more often on these (``SUITED``), and one that finds more than
others for what it costs runs more often on all (``learning.py``). The index of the example and the tags of
its program decide, so the same seed gives the same plan on any number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.learning import arm_of
from exportdiff.runtime.paths import all_paths, cost, is_listed, list_index
from exportdiff.runtime.paths.catalog import export_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exportdiff.core.path import Path

BASE = ("nonstrict:module", "nonstrict:unflatten")
"""The base paths: the simplest ones, which other paths add something to."""

RATES: dict[str, int] = {
    **dict.fromkeys(BASE, 4),
    "strict:module": 11,
    "strict:unflatten": 11,
    "nonstrict+preserve:unflatten": 7,
    "nonstrict+preserve+swap:unflatten": 7,
    "nonstrict+preserve+swap_leaves:unflatten": 7,
    "nonstrict+preserve+swap_one:unflatten": 7,
    "nonstrict+preserve_leaves:unflatten": 7,
    "nonstrict+reload:module": 11,
    "nonstrict+reload:unflatten": 11,
    "pipeline:stages": 7,
    # Programs that define dynamic shapes run on neither of these, and there are many.
    "nonstrict+dynamic:module": 11,
    "nonstrict+dynamic:unflatten": 11,
    "nonstrict+reexport:module": 29,
    "nonstrict+vector:unflatten": 29,
    "nonstrict+duplicate:module": 47,
    "nonstrict+deepcopy:module": 47,
    "nonstrict+reexport_unflattened:module": 37,
    "nonstrict+todevice:module": 37,
    "nonstrict+retie:module": 37,
    "nonstrict+retie:unflatten": 37,
    "nonstrict+train:module": 37,
    "nonstrict+train:unflatten": 37,
    "nonstrict+decompose:module": 37,
    "nonstrict+decompose:unflatten": 37,
    "nonstrict+preserve+decompose:unflatten": 37,
    "nonstrict+functionalize:module": 37,
    "nonstrict+functionalize:unflatten": 47,
    "nonstrict+dynamic+preserve:unflatten": 19,
    # Features of unflattened models other than being called.
    "nonstrict+described:unflatten": 47,
    "nonstrict+preserve+described:unflatten": 17,
    "nonstrict+adapted:unflatten": 37,
    "nonstrict+generated:unflatten": 37,
    "nonstrict+preserve+generated:unflatten": 29,
    # What users do with a lowered module: they rarely show what no other path shows.
    "nonstrict+converted:module": 47,
    "nonstrict+converted:unflatten": 47,
    "nonstrict+preserve+converted:unflatten": 29,
    "nonstrict+load_strictly:module": 47,
    "nonstrict+load_strictly:unflatten": 47,
    "nonstrict+functional:module": 47,
    "nonstrict+functional:unflatten": 47,
    "nonstrict+preserve+functional:unflatten": 29,
    "nonstrict+preserve+children:unflatten": 17,
    "nonstrict+preserve+swapped:module": 17,
    "nonstrict+preserve+repeated:unflatten": 97,
    "nonstrict+freed:module": 197,
    "nonstrict+freed:unflatten": 197,
    "strict+freed:module": 197,
    "nonstrict+trained:module": 47,
    "nonstrict+trained:unflatten": 47,
    "nonstrict+preserve+trained:unflatten": 79,
    "strict+trained:unflatten": 197,
    "nonstrict+differentiated:module": 47,
    "nonstrict+differentiated:unflatten": 79,
    "nonstrict+functionalize+differentiated:module": 97,
    "nonstrict+threaded:module": 79,
    "nonstrict+threaded:unflatten": 79,
    "nonstrict+preserve+threaded:unflatten": 47,
    "nonstrict+rewritten:module": 47,
    "nonstrict+rewritten:unflatten": 47,
    "nonstrict+dynamic+reexport:module": 37,
    "nonstrict+deferred:module": 29,
    "nonstrict+deferred:unflatten": 37,
    "strict+deferred:module": 47,
    "nonstrict+dynamic+deferred:module": 29,
    "nonstrict+lifted:module": 37,
    "strict+lifted:module": 47,
    "draft:module": 19,
    "draft:unflatten": 19,
    # By its yield of known bugs this would be rarer, but only here the guards of Dynamo run.
    "compile:compiled": 29,
    "compile:aot_eager": 97,
    "compile+graph_break:compiled": 97,
    # Steps after lowering, checkpoints, and settings of the process at export.
    **dict.fromkeys(
        (
            *("nonstrict+cast:module", "nonstrict+cast:unflatten", "nonstrict+reload+cast:module"),
            *("nonstrict+preserve+cast:unflatten", "nonstrict+preserve+load_strictly:unflatten"),
            *("nonstrict+load_back:module", "nonstrict+load_back:unflatten"),
            *("nonstrict+reload+load_back:module", "nonstrict+preserve+load_back:unflatten"),
            *("nonstrict+unflatten_first:module", "nonstrict+unflatten_first+deepcopy:module"),
            "nonstrict+unflatten_first+reload:module",
        ),
        97,
    ),
    **dict.fromkeys(
        (
            *("nonstrict+under_no_grad:module", "nonstrict+under_no_grad+decompose:module"),
            *("nonstrict+under_inference_mode:module", "nonstrict+under_float64:module"),
            *("nonstrict+under_autocast:module", "nonstrict+under_other_modes:module"),
            "strict+load_strictly:module",
        ),
        197,
    ),
    # What torch offers around a program: methods, archives, fewer checks, torch.compile of what runs.
    **dict.fromkeys(
        ("nonstrict+method:module", "nonstrict+method:unflatten", "nonstrict+method_of_part:module"), 79
    ),
    "nonstrict+method_of_part:unflatten": 29,
    "strict+method:module": 97,
    "nonstrict+unguarded:module": 79,
    "strict+unguarded:module": 197,
    **dict.fromkeys(("nonstrict+archived:module", "nonstrict+archived:unflatten"), 197),
    "nonstrict+extra_files:module": 197,
    "nonstrict+optimized:module": 97,
    **dict.fromkeys(("strict+optimized:module", "nonstrict+optimized:unflatten"), 197),
    "compile:fullgraph": 97,
    "pipeline:scheduled": 79,
    # The pinned torch refuses every program.
    "nonstrict+pickle:unflatten": 197,
}
"""``7``: one example in 7 runs on the path. For paths that are not listed, the cost decides (``STEPS``).

These are the rates with which a campaign starts; then it learns others (``learning.py``). They come from the
yield of 43,804 programs in four campaigns (``everyday``, mended torch 2.13.0), with 262 new findings. Per
unit of cost (that of ``nonstrict:module``), a thousand times: 0.3 on the base paths, which every program took
then; 34 on draft export, 30 on children, 8 to 20 on what is decomposed, converted or called functionally
after preserving; 2 to 8 on preserving, decomposing and aot_eager; 1 to 2 on strict export, dynamic sizes,
reloading and compiling; none on training, retying and other devices. So more paths find more than more
programs. ``exportdiff bench --only yield --full`` measures the yield of known bugs.
"""

STEPS = ((100.0, 11), (1000.0, 23), (float("inf"), 79))
"""``(100.0, 11)``: one example in 11 runs on a path that costs up to 100 ms. All numbers are primes, so that
for any two paths some example runs on both."""


WRITES = ("inplace.buffer", "inplace.input", "inplace.parameter", "inplace.constant", "state.rebound*")
"""Tags of programs that write to their state or inputs, which functional graphs must do at their end."""

READS_METADATA = ("control.*", "inplace.metadata", "input.view_of_another", "hierarchy.*hook")
"""Tags of programs whose Python code reads what Dynamo then guards."""

READS_SIZES = ("control.*size*", "control.numel*", "control.length", "control.range", "calls.size", "op.size")

COMPUTES = ("layer.*", "op.nn", "op.activation", "op.norm")
"""Tags of programs with operators that have decompositions."""

TIES = (
    "state.tied",
    "state.one_storage",
    "state.view_of_parameter",
    "hierarchy.shared",
    "hierarchy.two_parents",
)


@dataclass(frozen=True)
class Suited:
    """Programs with one of some tags run on some paths more often than other programs do."""

    paths: str
    """Glob of paths without their device."""
    tags: tuple[str, ...]
    """Globs of tags."""
    every: int
    """N: one suited program in N runs on the path."""
    others: int
    """N: one of the other programs in N."""


SETS_GRAD_MODE = ("region.enable_grad", "region.no_grad", "region.inference_mode")

SUITED: tuple[Suited, ...] = (
    Suited("nonstrict+under_no_grad+decompose:*", SETS_GRAD_MODE, every=97, others=397),
    Suited("strict:*", READS_METADATA, every=7, others=19),
    Suited("compile:compiled", READS_METADATA, every=17, others=79),
    Suited("compile:aot_eager", WRITES, every=29, others=149),
    Suited("nonstrict+preserve+decompose:*", WRITES + COMPUTES, every=13, others=59),
    Suited("nonstrict+*decompose:*", WRITES + COMPUTES, every=11, others=97),
    Suited("nonstrict+functionalize:*", WRITES, every=13, others=149),
    Suited("nonstrict+preserve+swapped:*", WRITES, every=7, others=29),
    Suited("nonstrict+dynamic:*", READS_SIZES, every=7, others=19),
    Suited("*+deferred:*", READS_SIZES, every=11, others=97),
    Suited("nonstrict+retie:*", TIES, every=17, others=97),
)
"""Replaces ``RATES`` for paths that a glob here matches (the first one counts), if the tags of the program
are known. About two programs in five are suited to a path, so a path costs as much as with its rate in
``RATES``."""


@dataclass(frozen=True)
class Unsuited:
    """Torch refuses most programs with one of some tags on some paths, so they seldom run there."""

    paths: str
    """Glob of paths without their device."""
    tags: tuple[str, ...]
    every: int
    """N: at most one of these programs in N runs on the path."""


UNSUITED: tuple[Unsuited, ...] = (
    # The signature of a submodule is preserved only if it takes tensors and numbers.
    Unsuited("nonstrict+*preserve*", ("calls.function", "calls.bound_method", "calls.enum"), every=47),
)


def paths_for(
    index: int,
    paths: Sequence[Path],
    tags: Sequence[str] | None = None,
    factors: Mapping[str, float] | None = None,
) -> tuple[Path, ...]:
    """Choose the paths of one example, at least one.

    The base paths run on every example, unless more than one other path is due for each on average.

    ``tags``: those of its program; None: not known. ``factors``: by arm, how much more often than usual its
    paths run (see ``learning.py``).
    """
    factors = factors or {}
    often = 1 if base_of(paths) else min((_rate(path)[0] for path in paths), default=1)
    busy = sum(1 / _rate(path)[0] for path in paths if not _is_base(path)) > 1
    chosen = set()
    for path in paths:
        every, turn = (1, 0) if _is_base(path) and not busy else _rate(path)
        if every > often and tags is not None:
            every = max(_suited_rate(path, tuple(tags)) or every, _unsuited_rate(path, tuple(tags)))
        every = max(int(every // often / factors.get(arm_of(path), 1)), 1)
        if index % every == turn % every:
            chosen.add(path)
    return tuple(path for path in paths if path in chosen) or base_of(paths) or _next_in_turn(index, paths)


def base_of(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the base paths among some paths."""
    return tuple(path for path in paths if _is_base(path))


def _is_base(path: Path) -> bool:
    return path.without_device in BASE


def _next_in_turn(index: int, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return one path for an example that no path is due for."""
    return (paths[index % len(paths)],) if paths else ()


def _suited_rate(path: Path, tags: tuple[str, ...]) -> int | None:
    """Return N if one program in N with these tags runs on the path; None: tags make no difference."""
    suited = next((each for each in SUITED if fnmatchcase(path.without_device, each.paths)), None)
    if suited is None:
        return None
    fits = any(fnmatchcase(tag, glob) for tag in tags for glob in suited.tags)
    return suited.every if fits else suited.others


def _unsuited_rate(path: Path, tags: tuple[str, ...]) -> int:
    """Return N if at most one program in N with these tags runs on the path."""
    return max(
        (
            each.every
            for each in UNSUITED
            if fnmatchcase(path.without_device, each.paths) and not set(tags).isdisjoint(each.tags)
        ),
        default=1,
    )


def share(path: Path) -> int:
    """Return N if one example in N is due to run on the path in a campaign with all paths.

    The base paths also run if no other path is due, and if another path has a finding.
    """
    return _rate(path)[0]


@cache
def _rate(path: Path) -> tuple[int, int]:
    """Return ``(every, turn)``: of ``every`` successive examples, number ``turn`` runs on the path.

    Every example runs on a path that is not listed, because ``--paths`` names it.
    """
    if not is_listed(path):
        return 1, 0
    every = RATES.get(path.without_device)
    if every is None:
        milliseconds = cost(path)
        every = next(every for most, every in STEPS if milliseconds <= most)
    return every, _TURN * list_index(_first_with_same_export(path)) % every


def _first_with_same_export(path: Path) -> Path:
    """Return the first path that shares an export with this one, unless that is a base path.

    So many paths start from the export of the base paths that they would crowd on the same programs.
    """
    first = _first_by_export(path.device).get(export_key(path), path)
    return path if _is_base(first) and not _is_base(path) else first


@cache
def _first_by_export(device: str) -> Mapping[tuple[str, ...], Path]:
    """Return the first listed path of each export."""
    return {export_key(path): path for path in reversed(all_paths([device]))}


_TURN = 5
"""Makes different examples run on paths that are neighbours in the list."""
