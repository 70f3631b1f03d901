"""Edits that move, repeat or leave out statements, or put them into a region."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.fuzzing.near.edits.table import edits_block

if TYPE_CHECKING:
    from exportdiff.fuzzing.near.edits.table import Blocks

REGIONS = (
    "with torch.no_grad(): pass",
    "with torch.enable_grad(): pass",
    "with torch.autocast('cpu', dtype=torch.bfloat16): pass",
    "with torch.inference_mode(): pass",
    "with torch.set_grad_enabled(self.training): pass",
    "if self.training: pass",
    "for _ in range(2): pass",
)


@edits_block
def moved(block: list[ast.stmt]) -> Blocks:
    """Move a statement before the one above it."""
    for number in range(1, len(block)):
        yield [*block[: number - 1], block[number], block[number - 1], *block[number + 1 :]]


@edits_block
def repeated(block: list[ast.stmt]) -> Blocks:
    """Repeat a statement."""
    for number, line in enumerate(block):
        if not isinstance(line, ast.Return | ast.FunctionDef | ast.ClassDef):
            yield [*block[: number + 1], *block[number:]]


@edits_block
def left_out(block: list[ast.stmt]) -> Blocks:
    """Leave a statement out."""
    for number, line in enumerate(block):
        if len(block) > 1 and not isinstance(line, ast.Return) and "super()" not in ast.unparse(line):
            yield [*block[:number], *block[number + 1 :]]


@edits_block
def in_region(block: list[ast.stmt]) -> Blocks:
    """Put a statement into a region: without gradients, with autocast, in a loop or a branch."""
    for number, line in enumerate(block):
        if isinstance(line, ast.Return | ast.FunctionDef | ast.ClassDef):
            continue
        for text in REGIONS:
            region = ast.parse(text).body[0]
            assert isinstance(region, ast.With | ast.If | ast.For)
            region.body = [line]
            yield [*block[:number], region, *block[number + 1 :]]


@edits_block
def out_of_region(block: list[ast.stmt]) -> Blocks:
    """Take the statements of a region or of a branch out of it."""
    for number, line in enumerate(block):
        if isinstance(line, ast.With | ast.If | ast.For):
            yield [*block[:number], *line.body, *block[number + 1 :]]
