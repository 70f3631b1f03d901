"""Replaces text in one function of torch while a ``with`` block runs; planted faults use this."""

from __future__ import annotations

import contextlib
import inspect
import textwrap
import types
from typing import TYPE_CHECKING, Any

from harness.patching.code import exchanged

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def edited(function: Any, old: str, new: str, *more: tuple[str, str]) -> Iterator[None]:
    """Replace ``old`` by ``new`` in the source of ``function``, and likewise the pairs in ``more``.

    The function object stays and gets new code, so every module that has imported it runs the new code.
    Raises LookupError if the source does not contain a text exactly once: this torch has another source.
    """
    plain: types.FunctionType = inspect.unwrap(getattr(function, "__func__", function))
    original = plain.__code__
    source = textwrap.dedent(inspect.getsource(original))
    for text, instead in ((old, new), *more):
        if source.count(text) != 1:
            raise LookupError(f"{plain.__qualname__} contains {text!r} {source.count(text)} times, not once")
        source = source.replace(text, instead)
    with exchanged([(plain, _compiled(source, original))]):
        yield


def _compiled(source: str, original: types.CodeType) -> types.CodeType:
    """Return the code of the function that ``source`` defines, with the free variables of the original."""
    # As parameters of an outer function, the free variables stay free. The function's own name must stay
    # global unless it was a free variable.
    global_name = "" if original.co_name in original.co_freevars else f" global {original.co_name}\n"
    outer = f"def outer({', '.join(original.co_freevars)}):\n{global_name}{textwrap.indent(source, ' ')}"
    # The same file and nearly the same line numbers, so that tracebacks stay useful.
    shifted = "\n" * max(0, original.co_firstlineno - 3) + outer
    code = compile(shifted, original.co_filename, "exec", dont_inherit=True, flags=_future(original))
    code = _inner(_inner(code, "outer"), original.co_name)
    if code.co_freevars != original.co_freevars:
        raise LookupError(f"{original.co_qualname} captures {original.co_freevars}, not {code.co_freevars}")
    return code


def _future(code: types.CodeType) -> int:
    """Return the flags of the ``from __future__`` imports that ``code`` was compiled under."""
    import __future__

    features = (getattr(__future__, name) for name in __future__.all_feature_names)
    return sum(feature.compiler_flag for feature in features if code.co_flags & feature.compiler_flag)


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if inspect.iscode(each) and each.co_name == name)
