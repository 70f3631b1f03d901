"""Tags of ops, of in-place ops, and of how ops are combined."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.ops.views import TURNS
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Detector, Tag, has_node, marked, runs_group, runs_op
from exportdiff_strategies.trace import CallEvent, WriteEvent


def _uses_bag(node: ir.UseIdiom) -> bool:
    return "nn.EmbeddingBag(" in KINDS[node.kind].idioms[node.number].init


def _wrote_to(*kinds: str) -> Detector:
    """An in-place op wrote to memory of one of these kinds."""
    return lambda p: any(w.kind in kinds for w in p.writes)


def _writes_in_one_branch(p: Analysis) -> bool:

    def writes(body: object) -> bool:
        return any(OPS[op.name].mutates for op in ir.of_type(body, ir.Op))

    return any(writes(s.then) is not writes(s.orelse) for s in p.nodes if isinstance(s, ir.If))


def _writes_around_call(p: Analysis, before: bool) -> bool:
    """Whether a write directly precedes (``before``) or follows a call of a module."""
    wanted: tuple[type, type] = (WriteEvent, CallEvent) if before else (CallEvent, WriteEvent)
    for first, second in zip(p.events, p.events[1:], strict=False):
        if isinstance(first, wanted[0]) and isinstance(second, wanted[1]):
            return True
    return False


def _writes_to_result(op: ir.Expr) -> bool:
    return isinstance(op, ir.Op) and bool(OPS[op.name].mutates) and isinstance(op.operands[0], ir.Op)


def _writes_to_detached(op: ir.Op) -> bool:
    first = op.operands[0]
    return _writes_to_result(op) and isinstance(first, ir.Op) and first.name in ("detach", "data")


def _writes_to_literal(op: ir.Op) -> bool:
    first = op.operands[0]
    return _writes_to_result(op) and isinstance(first, ir.Op) and "torch.tensor(" in OPS[first.name].template


def _reads_transposed(op: ir.Op) -> bool:
    first = op.operands[0]
    return isinstance(first, ir.Op) and first.name in TURNS and not OPS[op.name].mutates


def _is_pair(op: ir.Op) -> bool:
    first, *rest = op.operands
    second = rest[0] if rest else None
    if not isinstance(first, ir.Op) or not isinstance(second, ir.Op) or first == second:
        return False
    return set(first.operands) == set(second.operands)


_METADATA_OPS = (
    *("t_", "transpose_", "swapaxes_", "squeeze_", "unsqueeze_"),
    *("resize_", "as_strided_", "set_", "set_data", "requires_grad_", "detach_"),
)
"""The in-place ops on metadata that have a tag."""
_VALUE_OPS = (
    *("add_", "copy_", "clamp_", "relu_", "f_relu_", "masked_fill_"),
    *("floor_", "index_put_", "round_", "scatter_", "zero_"),
)
"""The in-place ops on values that have a tag."""

_POOLINGS = ("max_pool1d", "avg_pool1d", "max_pool2d", "avg_pool2d")


TABLE: dict[str, Tag] = {
    "inplace.value": Tag("an in-place op on values", lambda p: any(w.mutates == "value" for w in p.writes)),
    "inplace.metadata": Tag(
        "an in-place op on metadata", lambda p: any(w.mutates == "metadata" for w in p.writes)
    ),
    "inplace.item": Tag("item assignment", runs_group("inplace.item")),
    "inplace.broadcast": Tag("copy_ of a tensor of a smaller shape", marked("inplace.broadcast")),
    "inplace.scatter": Tag("an in-place op with indices", runs_group("inplace.scatter")),
    "inplace.out": Tag("an out= form", runs_group("inplace.out")),
    "inplace.random": Tag("a tensor filled or dropped at random in place", runs_group("inplace.random")),
    "inplace.own_data": Tag("`.data =` a view of itself", runs_group("inplace.own_data")),
    "inplace.storage": Tag("an in-place op on the storage", runs_group("inplace.storage")),
    **{
        f"inplace.{name}": Tag(f"the op {name}", runs_op(name))
        for name in (*_VALUE_OPS, *_METADATA_OPS)
        if name in OPS
    },
    "inplace.input": Tag("an input of the model mutated", _wrote_to("input")),
    "inplace.buffer": Tag("a buffer mutated", _wrote_to("buffer", "scratch")),
    "inplace.constant": Tag("a constant mutated", _wrote_to("constant")),
    "inplace.parameter": Tag("a parameter mutated", _wrote_to("parameter")),
    "inplace.intermediate": Tag("an intermediate mutated", _wrote_to("")),
    "inplace.view": Tag("a view mutated", lambda p: any(w.view for w in p.writes)),
    "inplace.view_on_the_spot": Tag(
        "a view mutated in the expression that makes it", has_node(ir.Op, _writes_to_result)
    ),
    "inplace.detached": Tag(
        "a detached tensor mutated",
        has_node(ir.Op, _writes_to_detached),
    ),
    "inplace.read_back": Tag("sizes or strides changed in place and then read", marked("inplace.read_back")),
    "inplace.result": Tag(
        "the result of an in-place op bound to a name",
        lambda p: any(
            isinstance(n, ir.Assign) and isinstance(n.value, ir.Op) and bool(OPS[n.value.name].mutates)
            for n in p.nodes
        ),
    ),
    "inplace.overlapping": Tag("two tensors that share memory, both written", marked("inplace.overlapping")),
    "inplace.read_through_alias": Tag(
        "a write through one tensor, then a read through another that shares its memory",
        marked("inplace.read_through_alias"),
    ),
    "inplace.across_modules": Tag(
        "a module writes to a tensor that another module made", marked("inplace.across_modules")
    ),
    "inplace.before_call": Tag("a write, then a call of a submodule", lambda p: _writes_around_call(p, True)),
    "inplace.after_call": Tag("a call of a submodule, then a write", lambda p: _writes_around_call(p, False)),
    "inplace.one_branch": Tag("a write on one side of a branch only", _writes_in_one_branch),
    **{
        f"op.{group}": Tag(f"an op of the group {group}", runs_group(group))
        for group in dict.fromkeys(spec.group for spec in OPS.values())
        if not group.startswith("inplace")
    },
    "op.logsigmoid": Tag("F.logsigmoid", has_node(ir.Op, lambda op: op.name == "logsigmoid")),
    "op.binary_cross_entropy": Tag(
        "F.binary_cross_entropy", has_node(ir.Op, lambda op: op.name == "binary_cross_entropy")
    ),
    "op.index_add": Tag("index_add, not in place", runs_op("index_add")),
    "op.clamp_max": Tag("clamp with a number as max", runs_op("clamp_float", "clamp_int")),
    "op.embedding_bag": Tag("an nn.EmbeddingBag", has_node(ir.UseIdiom, _uses_bag)),
    "op.atan2": Tag("torch.atan2", runs_op("atan2")),
    "op.addmm": Tag("torch.addmm", runs_op("addmm", "addmm_right", "addmm_minus")),
    "op.nonzero": Tag("nonzero", runs_op("nonzero")),
    "op.log_softmax": Tag("F.log_softmax", runs_op("log_softmax")),
    "op.split": Tag("split, chunk or unbind", runs_op("split", "chunk", "last_chunk", "unbind")),
    "op.pool": Tag("pooling of one or two dimensions, not adaptive", runs_op(*_POOLINGS)),
    "op.results": Tag("an op that returns a named tuple", has_node(ir.Results)),
    "op.pair": Tag("an op on the results of two similar ops on the same tensor", has_node(ir.Op, _is_pair)),
    "op.turned": Tag("an op on the result of a transposing op", has_node(ir.Op, _reads_transposed)),
    "inplace.literal": Tag(
        "a tensor literal in forward that is mutated at once", has_node(ir.Op, _writes_to_literal)
    ),
}
