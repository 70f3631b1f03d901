"""Parsing in several threads: Python 3.11 fails where two do it at the same time."""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from exportdiff.core.program_text.parsing import parse

TEXT = "def f(x):\n    return [(x + 1) * (2, {3: x}), lambda y: y[0]]\n" * 30


class Yields:
    """Lets another thread run when the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0)


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-5)
    gc.set_threshold(20)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


def parsed() -> list[str]:
    found = []
    for _ in range(40):
        Yields()
        found.append(ast.dump(parse(TEXT)))
    return found


def test_several_threads_can_parse() -> None:
    expected = ast.dump(ast.parse(TEXT))
    with ThreadPoolExecutor(2) as threads:
        running = [threads.submit(parsed) for _ in range(2)]
        for each in running:
            assert set(each.result()) == {expected}
