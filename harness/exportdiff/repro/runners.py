"""How to write down the runner of a path: what is compared with eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.repro.parts import NoReproError
from exportdiff.repro.paste import Template, names_in, replace_name, with_helpers
from exportdiff.repro.templates import runners
from exportdiff.runtime.paths.backends import runner_of, runners_of

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.repro.paste import Values


def runner_name(finding: Finding) -> str:
    """Return what the file calls the thing that it compares with eager."""
    return "torch.compile" if finding.mode == "compile" else "+".join((*finding.transforms, finding.runner))


def run_from(program: str, finding: Finding, *, has_kwargs: bool, dynamic: bool) -> str:
    """Return the expression for what is compared with eager, from that for the program.

    ``dynamic``: whether the file has a function ``dynamic_shapes``.

    Raises NoReproError for a mode or runner that repro files do not know.
    """
    if finding.runner not in runners_of(finding.mode):
        raise NoReproError(f"no way to write down the path {finding.path}")
    expression = replace_name(runner_of(finding.path).expression, "ep", program)
    expression = replace_name(expression, "shapes", "dynamic_shapes()" if dynamic else "None")
    return expression if has_kwargs else replace_name(expression, "kwargs", "{}")


_FUNCTIONS = {
    function.__name__: function for function in (runners.compiled, runners.compiled_whole, runners.packaged)
}
"""By name: what the expressions of runners may call."""


def runner_helpers(finding: Finding, *, random: bool) -> list[str]:
    """Return the functions that the expression calls; ``random``: whether a call draws random numbers."""
    runner = runner_of(finding.path)
    if runner.shown:
        shown = [runner.function] if runner.in_eager is None else [runner.in_eager, runner.function]
        return list(dict.fromkeys(text for function in shown for text in with_helpers(function)))
    values: Values = {"RANDOM": random, "BACKEND": runner.backend}
    called = sorted(names_in(runner.expression) & _FUNCTIONS.keys())
    return [Template(_FUNCTIONS[name], values).text for name in called]


def run_by_eager(finding: Finding) -> tuple[str, ...]:
    """Return the expression for what the model ``eager`` becomes, if the runner does more than call it."""
    made = runner_of(finding.path).in_eager
    return () if made is None else (f"{made.__name__}(eager)",)
