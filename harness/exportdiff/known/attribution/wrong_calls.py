"""Whether a model calls an operator in the way that a known bug gets wrong.

A wrong value says little about its cause: on a backend, each operator may give one. So the file of a bug of
one operator may define ``wrong_call(operator, args, kwargs)``, which says whether one call would be wrong.
Then the entry explains a finding only if the model makes such a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from exportdiff.core.case import case_from_source, seed
from exportdiff.known.corpus.entry import WRONG_CALL
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.captured_output import capture_output
from exportdiff.runtime.observing.process_state import restore_modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.known.corpus.entry import Entry


def makes_wrong_call(entry: Entry, case: Case, finding: Finding) -> bool:
    """Whether eager makes such a call, up to the call of the model in which the finding shows.

    True as well if the entry does not say which calls are wrong, or if the model cannot be run here.
    """
    if not entry.says_which_calls:
        return True
    names = case_from_source(entry.file.read_text(encoding="utf-8")).make.__globals__
    model, examples = build(case, "cpu")
    asked = _Question(names[WRONG_CALL])
    with restore_modes(), capture_output():
        for number in range(min(finding.call or 0, examples.calls - 1) + 1):
            inputs = examples.fresh(number)
            seed(number)
            try:
                with _Functions(asked), _Operators(asked):
                    model(*inputs.args, **inputs.kwargs)
            except Exception:  # some models cannot be watched; eager ran before
                return True
    return asked.wrong


class _Question:
    """Whether a call was wrong."""

    def __init__(self, is_wrong: Callable[[str, tuple[Any, ...], dict[str, Any]], bool]) -> None:
        self._is_wrong = is_wrong
        self.wrong = False

    def ask(self, operator: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Ask about one call, unless one was wrong."""
        if not self.wrong:
            with torch.no_grad():
                self.wrong = self._is_wrong(operator, args, kwargs)


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it bare
    """Asks about each ATen operator that runs inside of the block."""

    supports_higher_order_operators = True

    def __init__(self, question: _Question) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it bare
        self._question = question

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Ask about one call, and make it."""
        self._question.ask(str(func), args, kwargs or {})
        return func(*args, **(kwargs or {}))


class _Functions(TorchFunctionMode):
    """Asks about each function of torch that is called inside of the block: some are no ATen operator."""

    def __init__(self, question: _Question) -> None:
        super().__init__()
        self._question = question

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Ask about one call, and make it."""
        self._question.ask(getattr(func, "__name__", ""), args, kwargs or {})
        return func(*args, **(kwargs or {}))
