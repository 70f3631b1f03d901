"""Changing one line of a function: all that hold the function run the change, and then no longer."""

from __future__ import annotations

from functools import wraps
from typing import Any

import pytest

from exportdiff.runtime.patching.editing import edited


def _decorated(function: Any) -> Any:
    @wraps(function)
    def wrapper(*args: Any) -> Any:
        return ("wrapped", function(*args))

    return wrapper


class Base:
    def name(self) -> str:
        return "base"


class Derived(Base):
    def name(self) -> str:
        return f"{super().name()} and more"


def length(items: list[int]) -> int:
    return 0 if not items else 1 + length(items[1:])


@_decorated
def double(number: int) -> int:
    return number * 2


def _counter(step: int) -> Any:
    def count(number: int) -> int:
        return number + step

    return count


def test_who_holds_the_function_runs_the_change() -> None:
    held = length
    with edited(length, "1 + length", "2 + length"):
        assert held([1, 2, 3]) == 6
    assert held([1, 2, 3]) == 3


def test_methods_closures_and_decorated_functions() -> None:
    count = _counter(5)
    with (
        edited(Derived.name, "and more", "and less"),
        edited(count, "number + step", "number - step"),
        edited(double, "* 2", "* 3"),
    ):
        assert Derived().name() == "base and less"
        assert count(1) == -4
        assert double(2) == ("wrapped", 6)
    assert (Derived().name(), count(1), double(2)) == ("base and more", 6, ("wrapped", 4))


def test_several_changes_of_one_function() -> None:
    with edited(length, "0 if", "10 if", ("1 + length", "2 + length")):
        assert length([1, 2]) == 14


def test_an_error_says_where_it_comes_from() -> None:
    with edited(length, "return 0", "return [][0]"), pytest.raises(IndexError) as caught:
        length([])
    frame = caught.traceback[-1]
    assert str(frame.path).endswith("test_editing.py") and frame.name == "length"


@pytest.mark.parametrize("text", ["no such text", "items"])
def test_a_text_that_is_not_there_once_is_refused(text: str) -> None:
    before = length.__code__
    with pytest.raises(LookupError, match=text), edited(length, text, "x"):
        pass
    assert length.__code__ is before


def test_the_change_ends_with_an_error() -> None:
    before = length.__code__
    with pytest.raises(KeyError), edited(length, "1 + length", "2 + length"):
        raise KeyError
    assert length.__code__ is before
