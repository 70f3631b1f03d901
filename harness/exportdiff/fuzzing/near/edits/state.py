"""Edits that change the kind of the state of a module."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.fuzzing.near.edits.table import edits_block

if TYPE_CHECKING:
    from exportdiff.fuzzing.near.edits.table import Blocks

KINDS = (
    "OWNER.register_buffer(NAME, VALUE)",
    "OWNER.register_buffer(NAME, VALUE, persistent=False)",
    "OWNER.register_parameter(NAME, torch.nn.Parameter(VALUE))",
    "OWNER.register_parameter(NAME, torch.nn.Parameter(VALUE, requires_grad=False))",
    "object.__setattr__(OWNER, NAME, VALUE)",
    "OWNER.register_buffer(NAME, torch.stack([VALUE, VALUE])[1])",
    "OWNER.register_buffer(NAME, (VALUE).double())",
    "OWNER.register_buffer(NAME, (VALUE).expand(2, *(VALUE).shape)[0])",
)
"""Statements that set the attribute NAME of OWNER to VALUE."""
UPDATES = ("STATE.add_(1)", "STATE.data.mul_(2)", "STATE = STATE * 2", "STATE.copy_(STATE + 1)")


@edits_block
def another_kind_of_state(block: list[ast.stmt]) -> Blocks:
    """Make a tensor a parameter, a buffer that is saved or not, a plain attribute, or a view."""
    for number, line in enumerate(block):
        state = _state(line)
        if state is not None:
            for text in KINDS:
                owner, name, value = state
                filled = text.replace("OWNER", owner).replace("NAME", repr(name)).replace("VALUE", value)
                yield [*block[:number], *ast.parse(filled).body, *block[number + 1 :]]


@edits_block
def state_updated(block: list[ast.stmt]) -> Blocks:
    """Update a tensor of ``self`` before a statement that reads it."""
    for number, line in enumerate(block):
        for node in ast.walk(line):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                for text in UPDATES:
                    update = ast.parse(text.replace("STATE", ast.unparse(node))).body
                    yield [*block[:number], *update, *block[number:]]


def _state(line: ast.stmt) -> tuple[str, str, str] | None:
    """Return the owner, the name and the value of a tensor that a statement makes a part of a module."""
    if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call):
        call = line.value
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "register_buffer"
            and len(call.args) > 1
            and isinstance(call.args[0], ast.Constant)
        ):
            return ast.unparse(call.func.value), str(call.args[0].value), ast.unparse(call.args[1])
    if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Attribute):
        value = line.value
        if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("Parameter") and value.args:
            value = value.args[0]
        elif not (isinstance(value, ast.Call) and ast.unparse(value.func).startswith("torch.")):
            return None
        target = line.targets[0]
        return ast.unparse(target.value), target.attr, ast.unparse(value)
    return None
