"""Names in templates that are replaced once the finding and its program are known.

``Template.values`` replaces names in upper case. repro/script.py replaces calls of the other functions in
the statements of scripts.
"""

from __future__ import annotations

import contextlib
from typing import Any

RANDOM = SEED = ON_DEVICE = PROBES = HAS_KWARGS = HANGS = VARIANTS = OF_SIZES = OF_LEAF = OF_VALUES = True
WORDED = FOR_INFERENCE = MISSING = PRESERVES = HOLDS_GRAPHS = HAS_ALIASES = True
LOWERS = RUNS = SEVERAL = OF_PARTS = True
"""Conditions."""

FIRST_PROBE = 3
"""The number of the first call with a probe."""
CALLS = 1
"""How many calls there are to make."""
IN_PROGRAM = IN_REBUILT = OTHER_IN_PROGRAM = OTHER_IN_REBUILT = 0
"""Which call of an operator is meant, counted from 0."""
OPERAND = 0
"""Which operand of an operator is meant."""
ALIASES: dict[str, str] = {}
"""For a name of a tensor that has another name as well: that name."""
WORDS = ""
"""Part of the message of the exception that is the bug."""
ATTRIBUTE: Any = None
"""An expression for an attribute of something in the output ``out``."""
PLACE = ""
"""Where in the outputs, or in ``(args, kwargs)``, a leaf is, as ``pytree.keystr`` writes it."""
RESIZED: tuple[tuple[str, int, int], ...] = ()
"""The inputs that get other sizes: place, dimension, size."""
SECONDS = 30
"""Seconds that a program may run before the file reports a hang."""
MEMORY = 2048
"""MiB of memory, more than a program needs."""
OWNER: Any = None
"""An expression for a part of ``module``."""
CHANGED: Any = None
"""``model``, changed by the transforms that eager runs as well."""
ORIGINAL: Any = None
"""What is copied."""
COPIED: Any = None
"""The copy of ``original``."""
ep: Any = None
"""The exported program."""
IS_LEAF: Any = None
"""Extra types that are treated as leaves."""
ALTERED: Any = None
"""An expression for the argument that a deviating call has in place of ``leaf``."""


def when(condition: bool, manager: contextlib.AbstractContextManager[Any]) -> Any:
    """Stand for the manager if the condition holds, and for nothing otherwise."""
    return manager if condition else contextlib.nullcontext()


def FACT(t: Any) -> Any:
    """Stand for the property of a leaf that differs (repro/templates/properties.py)."""


def AMBIENT() -> Any:
    """Stand for a setting of the whole process (runtime/observing/process_state.py)."""


def NAMED(module: Any, *, remove_duplicate: bool) -> Any:
    """Stand for the method of a module that enumerates something."""
    return ()


def SIZES(model: Any, args: Any, kwargs: Any = None) -> Any:
    """Stand for the transform that makes sizes dynamic; it returns the spec and the probes."""


# In scripts.


def make() -> tuple[Any, ...]:
    """Make the model and its example inputs, always the same."""
    return ()


def probes() -> list[Any]:
    """Return further inputs, with other sizes."""
    return []


def export(model: Any) -> Any:
    """Export the model."""


def lower(ep: Any) -> Any:
    """Turn the program into what is compared with eager."""


def inputs(call: int = 0) -> tuple[Any, ...]:
    """Return fresh inputs: those of the example if no call is named."""
    return ()


def altered(model: Any) -> Any:
    """Stand for what makes the calls in a ``with`` block deviate: an argument, a mode or an attribute."""


def observe(*things: Any) -> dict[str, Any]:
    """Return what is compared, by name. Of ``out``, ``given`` and ``module`` it gets what the check needs."""
    return {}
