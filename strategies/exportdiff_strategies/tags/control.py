"""Tags of branches, loops, exceptions and Python numbers."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import COMPUTED_MEASURES, CONDS, MEASURES, MODES, RELATIONS
from exportdiff_strategies.failures import FAILURES
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.tags.tag import Tag, has_condition, has_measure, has_node

_CONDITIONS = {
    "truthy": "a branch on the truth of a flag, a number or *args",
    "not": "a branch on a negated flag",
    "equals": "a branch on equality with a constant",
    "in": "a branch on membership in a tuple of constants",
    "is_member": "a branch on the member of an enumeration",
    "length": "a branch on the length of a torch.Size",
    "above": "a branch on a comparison of a Python int",
    "is_none": "a branch on `is None`",
    "is_given": "a branch on `is not None`",
    "is_tensor": "a branch on isinstance of torch.Tensor",
    "is_tuple": "a branch on isinstance of tuple",
    "has_key": "a branch on a key in **options",
    "training": "a branch on self.training",
    "size": "a branch on x.shape",
    "even_size": "a branch on whether a size is even",
    "size_is": "a branch on equality of a size with a constant",
    "within_size": "a branch on whether a size is within its declared range",
    "numel": "a branch on x.numel()",
    "rank": "a branch on x.dim()",
    "dtype": "a branch on x.dtype",
    "contiguous": "a branch on x.is_contiguous()",
    "stride": "a branch on x.stride()",
    "requires_grad": "a branch on x.requires_grad",
    "same": "a branch on `a is b` of two tensors",
    "other": "a branch on `a is not b` of two tensors",
    "grad_enabled": "a branch on torch.is_grad_enabled()",
}
"""Name of a condition -> the meaning of its tag."""
assert _CONDITIONS.keys() == CONDS.keys() | MODES.keys() | RELATIONS.keys()


TABLE: dict[str, Tag] = {
    **{f"control.{name}": Tag(meaning, has_condition(name)) for name, meaning in _CONDITIONS.items()},
    "control.training": Tag(
        _CONDITIONS["training"],
        lambda p: (
            has_condition("training")(p)
            or p.has(ir.UseIdiom, lambda n: KINDS[n.kind].idioms[n.number].reads_mode)
        ),
    ),
    "control.else": Tag("a branch with an else", has_node(ir.If, lambda s: s.orelse)),
    "control.elif": Tag(
        "a branch with an elif",
        lambda p: any(
            isinstance(s, ir.If) and len(s.orelse) == 1 and isinstance(s.orelse[0], ir.If) for s in p.nodes
        ),
    ),
    "control.match": Tag("a match statement", has_node(ir.If, match=True)),
    "control.ternary": Tag("a conditional expression", has_node(ir.Ternary)),
    "control.early_return": Tag(
        "a return inside a branch",
        lambda p: any(
            ir.of_type((stmt.then, stmt.orelse), ir.Return) for stmt in p.nodes if isinstance(stmt, ir.If)
        ),
    ),
    "control.range": Tag("a for over a range", has_node(ir.Repeat, style="for")),
    "control.while": Tag("a while on a Python counter", has_node(ir.Repeat, style="while")),
    "control.size_as_number": Tag(
        "a size or rank of a tensor as a Python int",
        has_node(ir.Measure, lambda n: n.name in ("rank", "first_size", "last_size", "length")),
    ),
    "control.size_arithmetic": Tag(
        "Python arithmetic on a size: math.floor, round, min, division",
        lambda p: p.has(ir.Measure, lambda n: n.name in COMPUTED_MEASURES) or "size" in p.op_groups,
    ),
    "control.stride_as_number": Tag("x.stride(0) as a Python int", has_measure("first_stride")),
    "control.number_of_data": Tag(
        "a Python int read from data", has_node(ir.Measure, lambda m: MEASURES[m.name].of_data)
    ),
    "control.numel_as_number": Tag("x.numel() as a Python int", has_measure("numel")),
    "control.try": Tag("an exception that is caught", has_node(ir.Try)),
    "control.try_operator": Tag(
        "an operator that raises, in a try",
        has_node(
            ir.Try,
            lambda stmt: any(
                "{x}" in FAILURES[fail.name].template for fail in ir.of_type(stmt.body, ir.Fail)
            ),
        ),
    ),
    "control.try_module": Tag(
        "a module that raises, called in a try",
        has_node(ir.Try, lambda stmt: not ir.of_type(stmt.body, ir.Fail)),
    ),
    "control.raise": Tag(
        "a module that raises for some arguments",
        has_node(ir.If, lambda s: ir.of_type(s.then, ir.Fail)),
    ),
    "control.attribute": Tag(
        "a Python attribute of the module read",
        lambda p: any(isinstance(n, ir.Attr) and n.path[-1] in ("step", "mode", "rate") for n in p.nodes),
    ),
    "control.rate": Tag(
        "a Python float of the module as an operand",
        lambda p: any(isinstance(n, ir.Attr) and n.path[-1] == "rate" for n in p.nodes),
    ),
    "control.counter": Tag("a Python attribute of the module updated", has_node(ir.Increment)),
}
