"""How to write down the transforms of a path: with the functions that the harness ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.repro.paste import Template, with_helpers
from exportdiff.repro.templates import inputs
from exportdiff.repro.templates import settings as templates
from exportdiff.runtime.paths.transforms import TRANSFORMS

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.runtime.paths.transforms.table import At, Transform


def helpers(finding: Finding) -> list[str]:
    """Return the functions of the transforms; each comes after those that it calls."""
    functions = [each.function for each in _transforms(finding)]
    if settings := _at(finding, "setting"):
        functions += [templates.within]
        functions += [templates.called_within] if any(each.in_eager for each in settings) else []
    return list(dict.fromkeys(text for function in functions for text in with_helpers(function)))


def wrapped(model: str, finding: Finding) -> str:
    """Return the expression for the model that the path and eager run, given that for the program's model."""
    for each in _at(finding, "case"):
        model = model if each.sizes else f"{each.name}({model})"
    return model


def sizes(finding: Finding) -> list[str]:
    """Return the functions ``dynamic_shapes`` and ``probes`` of a path that adds them to the program."""
    for each in _at(finding, "case"):
        if each.sizes:
            functions = (inputs.dynamic_shapes, inputs.probes)
            return [Template(function, {"SIZES": each.name}).text for function in functions]
    return []


def export_arguments(finding: Finding) -> str:
    """Return the further arguments of the export."""
    return "".join(f", **{each.name}(model)" for each in _at(finding, "export"))


def in_settings(expression: str, finding: Finding) -> str:
    """Return the expression that exports or lowers in the settings of the path, from one that does it."""
    for each in _at(finding, "setting"):
        expression = f"within({each.name}, lambda: {expression})()"
    return expression


def program(exported: str, finding: Finding, *, dynamic: bool) -> str:
    """Return the expression for the program that is lowered, from that for the exported one."""
    for each in _at(finding, "program"):
        options = f", strict={finding.mode == 'strict'}" if each.exports else ""
        options = f", dynamic_shapes=dynamic_shapes(){options}" if each.exports and dynamic else options
        exported = f"{each.name}({exported}{options})"
    return exported


def lowered(made: str, finding: Finding, program: str, fresh: str) -> str:
    """Return the expression for what is called, from those for the runner's result and for the program."""
    for each in _at(finding, "module"):
        made = _changed(each, program if each.alone else made, program, fresh)
    return made


def _changed(each: Transform, module: str, program: str, fresh: str) -> str:
    further = [*([program] if each.wants_program else []), *([f"{fresh}[0]"] if each.wants_model else [])]
    return f"{each.name}({', '.join((module, *further))})"


def copying(finding: Finding, made: str) -> tuple[str, str]:
    """Return the expressions for what is copied, and for its copy, of a path that copies."""
    copies = [each for each in _transforms(finding) if each.copies]
    what = made if any(each.at == "module" for each in copies) else "ep"
    return what, f"{copies[0].name}(original)" if copies else made


def in_eager(finding: Finding, fresh: str) -> tuple[str, ...]:
    """Return the expressions for what the model ``eager`` becomes, before it is called."""
    called = [f"called_within({each.name}, eager)" for each in _at(finding, "setting") if each.in_eager]
    changed = (_changed(each, "eager", "", fresh) for each in _at(finding, "module") if each.in_eager)
    return (*called, *changed)


def _at(finding: Finding, at: At) -> list[Transform]:
    return [each for each in _transforms(finding) if each.at == at]


def _transforms(finding: Finding) -> list[Transform]:
    return [TRANSFORMS[name] for name in finding.transforms]
