"""How to write down the transforms of a path: by the very functions that the harness ran."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from typing import TYPE_CHECKING

from harness.paths.runners import RUNNERS
from harness.paths.transforms import TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.findings import Finding
    from harness.paths.transforms.table import At, Function, Transform


def helpers(finding: Finding) -> list[str]:
    """Return the functions that the rest of the file calls, in the order in which they need each other."""
    functions = [each.function for each in _transforms(finding)]
    runner = RUNNERS[finding.runner]
    if runner.shown:
        functions.append(runner.function)
    return list(dict.fromkeys(text for function in functions for text in _texts(function)))


def _texts(function: Function) -> Iterator[str]:
    """Return the text of a function, without types, after that of the private ones that it calls."""
    module = sys.modules[function.__module__]
    for name in function.__code__.co_names:
        used = getattr(module, name, None)
        if inspect.isfunction(used) and used.__module__ == module.__name__ and name.startswith("_"):
            yield from _texts(used)
    # Without decorators: what they note is of no use to a reader.
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    yield ast.unparse(_Untyped().visit(tree)).replace("'''", '"""')


class _Untyped(ast.NodeTransformer):
    """Drops decorators and annotations, whose names a file of torch alone does not import."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def built(finding: Finding, made: str) -> str:
    """Return what ``fresh`` returns of what ``make`` made, or nothing where that is the same."""
    call = made
    for each in _at(finding, "case"):
        call = call if each.sizes else f"{each.name}({call})"
    return "" if call == made else call


def sizes(finding: Finding) -> str:
    """Return the functions ``dynamic_shapes`` and ``probes`` of a path that adds them to the program."""
    for each in _at(finding, "case"):
        if each.sizes:
            call = f"{each.name}(*make())"
            return f"def dynamic_shapes():\n    return {call}[0]\n\n\ndef probes():\n    return {call}[1]\n"
    return ""


def export_arguments(finding: Finding) -> str:
    """Return the further arguments of the export."""
    return "".join(f", **{each.name}(model)" for each in _at(finding, "export"))


def program(finding: Finding, *, dynamic: bool) -> str:
    """Return the expression for the program that is lowered, of the one that is called ``ep``."""
    text = "ep"
    for each in _at(finding, "program"):
        options = f", strict={finding.mode == 'strict'}" if each.exports else ""
        options = f", dynamic_shapes=dynamic_shapes(){options}" if each.exports and dynamic else options
        text = f"{each.name}({text}{options})"
    return text


def lowered(finding: Finding, made: str, fresh: str) -> str:
    """Return the expression for what is called, of the one for what the runner made."""
    for each in _at(finding, "module"):
        made = f"{each.name}({made}, {fresh}[0])" if each.wants_model else f"{each.name}({made})"
    return made


def copying(finding: Finding, made: str) -> tuple[str, str]:
    """Return the expressions for what is copied, and for its copy, of a path that copies."""
    copies = [each for each in _transforms(finding) if each.apart]
    what = made if any(each.at == "module" for each in copies) else "ep"
    return what, f"{copies[0].name}(original)" if copies else what


def in_eager(finding: Finding) -> tuple[str, ...]:
    """Return the names of the functions that change the eager model as well, before it is called."""
    return tuple(each.name for each in _at(finding, "module") if each.in_eager)


def _at(finding: Finding, at: At) -> list[Transform]:
    return [each for each in _transforms(finding) if each.at == at]


def _transforms(finding: Finding) -> list[Transform]:
    return [TRANSFORMS[name] for name in finding.transforms]
