"""Options that a project can set in ``[tool.exportdiff]`` of its ``pyproject.toml``."""

from __future__ import annotations

import argparse
import pathlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.project_file import SHAPES, ProjectFile, read_project_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exportdiff.core.target import Target

OPTIONS = {
    "paths": "--paths",
    "threads": "--threads",
    "baseline": "--accept",
    "limit": "--limit",
    "memory": "--memory",
    "network": "--network",
}
"""The keys of the table, and the option that each sets."""

UNITS = {"limit": "s", "memory": "M"}
"""The units of numbers, as the options take them."""


@dataclass(frozen=True)
class Setting:
    """The value of one setting, and where it comes from."""

    key: str
    value: Any
    source: str


def make_settable(parser: argparse.ArgumentParser) -> None:
    """Let the options of a command get their values from the project.

    The parser leaves out what the user does not give; ``settle`` fills it in.
    """
    actions = {}
    for key, option in OPTIONS.items():
        # argparse offers no public way to find an option.
        action = parser._option_string_actions.get(option)
        if action is not None:
            actions[key] = action
    parser.set_defaults(settable={key: (each, each.default) for key, each in actions.items()})
    for each in actions.values():
        each.default = argparse.SUPPRESS


def settle(arguments: argparse.Namespace, target: Target) -> tuple[tuple[Setting, ...], Any]:
    """Fill in the options that the user did not give; return all settings, and the written dynamic shapes.

    Raises UsageError for a wrong key or value in the project's file.
    """
    settable: Mapping[str, tuple[argparse.Action, Any]] = arguments.settable
    project = read_project_file(settable.keys(), pathlib.Path.cwd())
    settings = [_settled(arguments, key, *each, project) for key, each in settable.items()]
    for (action, _), setting in zip(settable.values(), settings, strict=True):
        setattr(arguments, action.dest, setting.value)
    shapes = project.shapes_of(target)
    source = f"{project.file}" if shapes is not None else f"{target.module}, if it defines dynamic_shapes"
    return (*settings, Setting(SHAPES, shapes, source)), shapes


def _settled(
    arguments: argparse.Namespace, key: str, action: argparse.Action, default: Any, project: ProjectFile
) -> Setting:
    if hasattr(arguments, action.dest):
        return Setting(key, getattr(arguments, action.dest), action.option_strings[0])
    if key == "paths" and arguments.all:
        return Setting(key, default, "--all")
    if key not in project.values:
        return Setting(key, default, "default")
    return Setting(key, _value(key, action, project), str(project.file))


def _value(key: str, action: argparse.Action, project: ProjectFile) -> Any:
    """Return a value of the project's file as the option would. Raises UsageError."""
    value = project.values[key]
    if key == "paths":
        return _paths(key, value, project)
    if key == "network":
        if not isinstance(value, bool):
            raise project.wrong(key, f"{value!r} is neither true nor false")
        return value
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise project.wrong(key, f"{value!r} is no value of {action.option_strings[0]}")
    if key == "baseline":
        assert project.file is not None
        return project.file.parent / str(value)
    try:
        return action.type(str(value)) if callable(action.type) else value
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise project.wrong(key, str(error)) from None


def _paths(key: str, value: Any, project: ProjectFile) -> list[str]:
    globs = [value] if isinstance(value, str) else value
    if not isinstance(globs, list) or not globs or not all(isinstance(each, str) for each in globs):
        raise project.wrong(key, f'{value!r} is no list of patterns; write ["nonstrict:*"]')
    from exportdiff.interfaces.checking.path_choice import chosen

    try:
        chosen(tuple(globs), None)
    except UsageError as error:
        raise project.wrong(key, str(error).removeprefix("paths ")) from None
    return globs


def written(settings: tuple[Setting, ...]) -> Iterator[str]:
    """Yield a line for each setting: its name, its value, where it comes from."""
    rows = [(each.key, f"{_text(each.value)}{UNITS.get(each.key, '')}", each.source) for each in settings]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for key, value, source in rows:
        yield f"{key:<{widths[0]}}  {value:<{widths[1]}}  {source}"


def _text(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
