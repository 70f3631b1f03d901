"""Program -> Python source: readable, deterministic, and the model itself."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.render.classes import class_lines
from exportdiff_strategies.render.inputs import dynamic_shapes_lines, make_lines, probes_lines
from exportdiff_strategies.render.preambles import import_lines, preambles


def render(program: ir.Program) -> str:
    """The source of a module that defines ``Model``, the classes it uses, and ``make()``.

    A dynamic Program's source defines ``dynamic_shapes()`` and ``probes()`` as well.
    """
    scaled = {new.name for cls in program.classes for new in ir.new_modules(cls) if new.scale != 1.0}
    blocks = [class_lines(cls, cls.name in scaled) for cls in program.classes]
    blocks.append(make_lines(program))
    if program.dynamic is not None:
        blocks += [dynamic_shapes_lines(program), probes_lines(program)]
    needed = list(preambles(program))
    definitions = [block for block in needed if not block[0].startswith(("from ", "import "))]
    body = "\n\n\n".join("\n".join(block) for block in (*definitions, *blocks))
    imported = [block[0] for block in needed if block[0].startswith(("from ", "import "))]
    return "\n".join(import_lines(body, imported)) + "\n\n\n" + body + "\n"
