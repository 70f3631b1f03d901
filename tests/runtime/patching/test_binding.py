"""Whether the names that patched code reads exist in this torch."""

from __future__ import annotations

import builtins
from typing import NoReturn

import pytest

from exportdiff.runtime.patching import binding
from exportdiff.runtime.patching.binding import check_bound, names_read
from exportdiff.runtime.patching.fix import FixError

HERE = vars(builtins)


def _old() -> object:
    return bound_later  # type: ignore[name-defined]  # noqa: F821


def test_a_name_that_neither_exists_nor_was_read_before_is_reported() -> None:
    check_bound("fix: file, f", {"len", "bound_later"}, [_old.__code__], HERE)
    with pytest.raises(FixError, match=r"^fix: file, f of this torch has no name 'nothing'$"):
        check_bound("fix: file, f", {"len", "bound_later", "nothing"}, [_old.__code__], HERE)


def test_old_code_is_read_only_where_a_name_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(code: object) -> NoReturn:
        raise AssertionError

    assert names_read(_old.__code__) == {"bound_later"}
    monkeypatch.setattr(binding, "names_read", fails)
    check_bound("fix: file, f", {"len", "sys:", "sys:modules"}, [_old.__code__], HERE)
    with pytest.raises(AssertionError):  # to look for the module would import the package around it
        check_bound("fix: file, f", {"exportdiff.missing.module:name"}, [_old.__code__], HERE)
