"""Running parts of a script in a setting of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def within(setting: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs in the setting."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with setting():
            return function(*args, **kwargs)

    return run


def called_within(setting: Callable[[], Any], model: Any) -> Any:
    """Make all calls of a model run in the setting."""
    model.forward = within(setting, model.forward)
    return model
