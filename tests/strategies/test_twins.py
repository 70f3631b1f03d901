"""Branches that differ from each other in one detail."""

from __future__ import annotations

import pytest

from exportdiff_strategies import draw_program
from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing import control
from exportdiff_strategies.drawing.twins import copied, draw_twin

ONE = ir.Op("add_one", (ir.Var("x"),))


def test_one_node_is_replaced_and_all_others_are_copied() -> None:
    twice = ir.Op("add_one", (ir.Var("x"),))
    assert twice == ONE
    body = (ir.Assign("x", ONE), ir.If(ir.Cond("training"), then=(ir.Assign("y", twice),)))
    copy = copied(body, twice, ir.Lit(1))
    assert copy == (body[0], ir.If(ir.Cond("training"), then=(ir.Assign("y", ir.Lit(1)),)))
    assert not {id(node) for node in ir.nodes(body)} & {id(node) for node in ir.nodes(copy)}


def test_twins_are_drawn_and_differ_in_one_detail(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[tuple[list[ir.Stmt], list[ir.Stmt]]] = []

    def noted(scope: object, body: list[ir.Stmt]) -> list[ir.Stmt] | None:
        twin = draw_twin(scope, body)  # type: ignore[arg-type]  # passed through as it comes
        if twin is not None:
            pairs.append((body, twin))
        return twin

    monkeypatch.setattr(control, "draw_twin", noted)
    for number in range(60):
        draw_program(1, number)
    assert len(pairs) >= 5
    for body, twin in pairs:
        kept = [stmt for stmt in body if type(stmt).__name__ != "Return"]
        assert len(twin) == len(kept) and twin != kept
        assert sum(stmt != other for stmt, other in zip(kept, twin, strict=True)) == 1
