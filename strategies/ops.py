"""The op table. One entry is one op: how it is written, when it fits, what comes out, what it changes.

To add an op, add one line to OPS. A rule is a pure function from operands and constants to an Outcome;
it raises Rejected where eager would raise, or where values could leave the tame range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from strategies.program import Literal
from strategies.types import (
    Shape,
    TensorType,
    broadcast,
    contiguous_stride,
    dense,
    drop,
    expanded,
    insert,
    numel,
    resized,
    swap,
)

LIMIT = 1e4
"""No absolute value may exceed this: far from overflow, and close enough to zero for tanh to notice."""


class Rejected(Exception):  # noqa: N818 — not an error: the answer "this does not fit here"
    """The op or call does not fit these operands."""


class Operand(Protocol):
    """What a rule sees of a tensor: its type, and a bound on its absolute values."""

    @property
    def type(self) -> TensorType:
        """Sizes and strides."""
        ...

    @property
    def bound(self) -> float:
        """No absolute value exceeds this."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an op gives. ``alias``: it shares the first operand's storage; ``same``: it is that object."""

    type: TensorType
    bound: float
    alias: bool = False
    same: bool = False


Params = tuple[Literal, ...]
Rule = Callable[[Sequence[Operand], Params], Outcome]
Choices = Callable[[Sequence[Operand]], list[Params]]


def _only(operands: Sequence[Operand]) -> list[Params]:
    """No constants to choose."""
    return [()]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One entry of the table; ``mutates`` is "", "value" or "metadata", always of the first operand.

    ``template`` is a format string over the operands' texts and, as ``p``, the params. ``integer`` says that
    the last operand is a Python int, ``statement`` that the op is a statement and has no result.
    """

    template: str
    group: str
    arity: int
    rule: Rule
    choices: Choices = _only
    mutates: str = ""
    integer: bool = False
    statement: bool = False

    @property
    def infix(self) -> bool:
        """Whether the text needs parentheses as an operand."""
        return self.template[3:6] in (" + ", " - ", " * ", " / ", " @ ") or self.template[0] == "-"


# --- rules ------------------------------------------------------------------------------


def _shape(operands: Sequence[Operand]) -> Shape:
    shape = operands[0].type.shape
    for other in operands[1:]:
        joint = broadcast(shape, other.type.shape)
        if joint is None:
            raise Rejected("shapes do not broadcast")
        shape = joint
    return shape


def _pointwise(bound: Callable[..., float]) -> Rule:
    """Elementwise with broadcasting; the strides are known where all operands are laid out alike."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        shape = _shape(operands)
        first = operands[0].type
        alike = all(o.type == first for o in operands) and not first.overlaps
        packed = all(o.type.contiguous and o.type.shape == shape for o in operands)
        stride = contiguous_stride(shape) if packed else None
        if alike and stride is None and first.stride is not None and _packed(first):
            stride = first.stride
        return Outcome(TensorType(shape, stride), bound(*(o.bound for o in operands)))

    return rule


def _packed(kind: TensorType) -> bool:
    """Whether the elements fill their memory without holes, in whatever order of dimensions."""
    if kind.stride is None:
        return False
    step = 1
    for stride, size in sorted(zip(kind.stride, kind.shape, strict=True)):
        if size != 1 and stride != step:
            return False
        step *= size
    return 1 not in kind.shape


def _inplace(bound: Callable[..., float]) -> Rule:
    """Writes values into the first operand, which the others must broadcast to."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        target = operands[0].type
        if target.overlaps or _shape(operands) != target.shape:
            raise Rejected("not writable in place")
        return Outcome(target, bound(*(o.bound for o in operands)), alias=True, same=True)

    return rule


def _view(change: Callable[[TensorType, Params], TensorType]) -> Rule:
    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        return Outcome(change(operands[0].type, params), operands[0].bound, alias=True)

    return rule


def _inplace_view(change: Callable[[TensorType, Params], TensorType]) -> Rule:
    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        return Outcome(change(operands[0].type, params), operands[0].bound, alias=True, same=True)

    return rule


def _fresh(
    change: Callable[[TensorType, Params], TensorType],
    bound: Callable[[Operand], float] = lambda x: x.bound,
) -> Rule:
    """A new tensor whose strides are only known when the operand is row-major."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        out = change(operands[0].type, params)
        stride = contiguous_stride(out.shape) if operands[0].type.contiguous else None
        return Outcome(TensorType(out.shape, stride), bound(operands[0]))

    return rule


def _int(value: Literal) -> int:
    assert isinstance(value, int)
    return value


def _ints(value: Literal) -> Shape:
    assert isinstance(value, tuple)
    return value


def _dim(kind: TensorType, value: Literal) -> int:
    """A dimension that the tensor has."""
    dim = _int(value)
    if dim >= len(kind.shape):
        raise Rejected("dimension out of range")
    return dim


def _same(kind: TensorType, params: Params) -> TensorType:
    return kind


def _drop(kind: TensorType, params: Params) -> TensorType:
    return drop(kind, _dim(kind, params[0]))


def _along(kind: TensorType, params: Params) -> TensorType:
    _dim(kind, params[0])
    return kind


def _keep(kind: TensorType, params: Params) -> TensorType:
    return resized(kind, _dim(kind, params[0]), 1)


def _swap(kind: TensorType, params: Params) -> TensorType:
    return swap(kind, _dim(kind, params[0]), _dim(kind, params[1]))


def _turn(kind: TensorType, params: Params) -> TensorType:
    if len(kind.shape) != 2:
        raise Rejected("t() is for matrices")
    return swap(kind, 0, 1)


def _squeeze(kind: TensorType, params: Params) -> TensorType:
    dim = _dim(kind, params[0])
    if kind.shape[dim] != 1:
        raise Rejected("nothing to squeeze")
    return drop(kind, dim)


def _unsqueeze(kind: TensorType, params: Params) -> TensorType:
    if len(kind.shape) > 3 or _int(params[0]) > len(kind.shape):
        raise Rejected("rank")
    return insert(kind, _int(params[0]))


def _row(kind: TensorType, params: Params) -> TensorType:
    if not kind.shape or _int(params[0]) >= kind.shape[0]:
        raise Rejected("index out of range")
    return drop(kind, 0)


def _rows(kind: TensorType, params: Params) -> TensorType:
    start, stop = _int(params[0]), _int(params[1])
    if not kind.shape or stop > kind.shape[0]:
        raise Rejected("slice out of range")
    return resized(kind, 0, stop - start)


def _reshape(kind: TensorType, params: Params) -> TensorType:
    if not kind.contiguous or kind.numel != numel(_ints(params[0])):
        raise Rejected("not viewable")
    return dense(_ints(params[0]))


def _expand(kind: TensorType, params: Params) -> TensorType:
    dim, shape = _dim(kind, params[0]), _ints(params[1])
    if resized(kind, dim, 1).shape != kind.shape or resized(kind, dim, shape[dim]).shape != shape:
        raise Rejected("only a dimension of size 1 expands")
    return expanded(kind, dim, shape[dim])


def _contiguous(operands: Sequence[Operand], params: Params) -> Outcome:
    kind = operands[0].type
    if kind.contiguous is None:
        raise Rejected("strides unknown")
    if kind.contiguous:
        return Outcome(kind, operands[0].bound, alias=True, same=True)
    return Outcome(dense(kind.shape), operands[0].bound)


def _matmul(operands: Sequence[Operand], params: Params) -> Outcome:
    left, right = operands[0].type.shape, operands[1].type.shape
    if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
        raise Rejected("matmul of these shapes")
    return Outcome(TensorType((left[0], right[1])), operands[0].bound * operands[1].bound * left[1])


def _join(operands: Sequence[Operand], params: Params) -> Outcome:
    first, second = operands[0].type, operands[1].type
    dim = _int(params[0])
    rest = [s for i, s in enumerate(first.shape) if i != dim]
    if len(first.shape) != len(second.shape) or dim >= len(first.shape):
        raise Rejected("ranks differ")
    if rest != [s for i, s in enumerate(second.shape) if i != dim]:
        raise Rejected("sizes differ")
    if first.shape[dim] + second.shape[dim] > 8:
        raise Rejected("large")
    # cat drops an operand of shape (0,); sizes here start at 1.
    shape = resized(first, dim, first.shape[dim] + second.shape[dim]).shape
    packed = first.contiguous and second.contiguous
    bound = max(operands[0].bound, operands[1].bound)
    return Outcome(dense(shape) if packed else TensorType(shape), bound)


def _set_rows(operands: Sequence[Operand], params: Params) -> Outcome:
    """``x[a:b] = y``, ``x[i] = y`` and ``x[a:b] = 1.0``: the slice must take the value's shape."""
    target = operands[0].type
    part = _rows(target, params) if len(params) == 2 else _row(target, params)
    if target.overlaps:
        raise Rejected("not writable in place")
    bound = operands[0].bound
    for value in operands[1:]:
        if broadcast(part.shape, value.type.shape) != part.shape:
            raise Rejected("value does not fit the slice")
        bound += value.bound
    return Outcome(target, bound, alias=True, same=True)


# --- choices of constants, simplest first -----------------------------------------------


def _dims(operands: Sequence[Operand]) -> list[Params]:
    return [(d,) for d in range(len(operands[0].type.shape))]


def _ones(operands: Sequence[Operand]) -> list[Params]:
    return [(d,) for d, size in enumerate(operands[0].type.shape) if size == 1]


def _gaps(operands: Sequence[Operand]) -> list[Params]:
    return [(d,) for d in range(len(operands[0].type.shape) + 1)]


def _pairs(operands: Sequence[Operand]) -> list[Params]:
    rank = len(operands[0].type.shape)
    return [(a, b) for a in range(rank) for b in range(a + 1, rank)]


def _indices(operands: Sequence[Operand]) -> list[Params]:
    shape = operands[0].type.shape
    return [(i,) for i in range(shape[0])] if shape else []


def _slices(operands: Sequence[Operand]) -> list[Params]:
    shape = operands[0].type.shape
    if not shape:
        return []
    return [(a, b) for a in range(shape[0]) for b in range(a + 1, shape[0] + 1)]


def _shapes(operands: Sequence[Operand]) -> list[Params]:
    kind = operands[0].type
    shapes: list[Params] = [((kind.numel,),)]
    if kind.shape != (1, kind.numel):
        shapes.append(((1, kind.numel),))
    if kind.shape[::-1] != kind.shape:
        shapes.append((kind.shape[::-1],))
    return shapes


def _expansions(operands: Sequence[Operand]) -> list[Params]:
    kind = operands[0].type
    return [(d, resized(kind, d, n).shape) for d, size in enumerate(kind.shape) if size == 1 for n in (2, 3)]


# --- the table --------------------------------------------------------------------------


def _map(template: str, bound: Callable[..., float] = lambda x: x, group: str = "map") -> OpSpec:
    return OpSpec(template, group, 1, _pointwise(bound))


def _zip(template: str, bound: Callable[..., float]) -> OpSpec:
    return OpSpec(template, "zip", 2, _pointwise(bound))


def _write(template: str, arity: int, bound: Callable[..., float]) -> OpSpec:
    return OpSpec(template, "inplace.value", arity, _inplace(bound), mutates="value")


def _reduce(template: str, change: Callable[[TensorType, Params], TensorType]) -> OpSpec:
    def bound(x: Operand) -> float:
        return x.bound * x.type.numel

    return OpSpec(template, "reduce", 1, _fresh(change, bound), _dims)


def _meta(template: str, change: Callable[[TensorType, Params], TensorType], choices: Choices) -> OpSpec:
    return OpSpec(template, "inplace.metadata", 1, _inplace_view(change), choices, mutates="metadata")


def _store(template: str, arity: int, choices: Choices) -> OpSpec:
    return OpSpec(template, "inplace.item", arity, _set_rows, choices, mutates="value", statement=True)


OPS: dict[str, OpSpec] = {
    # elementwise, one tensor
    "add_one": _map("{0} + 1", lambda x: x + 1),
    "double": _map("{0} * 2", lambda x: x * 2),
    "halve": _map("{0} / 2", lambda x: x / 2),
    "neg": _map("-{0}"),
    "relu": _map("torch.relu({0})", group="activation"),
    "tanh": _map("torch.tanh({0})", lambda x: 1.0, group="activation"),
    "sigmoid": _map("torch.sigmoid({0})", lambda x: 1.0, group="activation"),
    "gelu": _map("F.gelu({0})", group="activation"),
    "abs": _map("{0}.abs()"),
    "cos": _map("{0}.cos()", lambda x: 1.0),
    "clamp": _map("{0}.clamp(-1, 1)", lambda x: 1.0),
    "clone": _map("{0}.clone()"),
    # elementwise, two tensors
    "add": _zip("{0} + {1}", lambda x, y: x + y),
    "sub": _zip("{0} - {1}", lambda x, y: x + y),
    "mul": _zip("{0} * {1}", lambda x, y: x * y),
    "maximum": _zip("torch.maximum({0}, {1})", max),
    "where": _zip("torch.where({0} > 0, {0}, {1})", max),
    # a tensor and a Python int
    "add_int": OpSpec("{0} + {1}", "int", 1, _pointwise(lambda x: x + 4), integer=True),
    "mul_int": OpSpec("{0} * {1}", "int", 1, _pointwise(lambda x: x * 4), integer=True),
    # reductions
    "sum_dim": _reduce("{0}.sum({p[0]})", _drop),
    "mean_dim": _reduce("{0}.mean({p[0]})", _drop),
    "amax": _reduce("{0}.amax({p[0]})", _drop),
    "sum_keep": _reduce("{0}.sum({p[0]}, keepdim=True)", _keep),
    "softmax": OpSpec("{0}.softmax({p[0]})", "activation", 1, _fresh(_along, lambda x: 1.0), _dims),
    # new tensors of other shapes
    "cat": OpSpec("torch.cat([{0}, {1}], {p[0]})", "shape", 2, _join, _dims),
    "flip": OpSpec("{0}.flip({p[0]})", "shape", 1, _fresh(_along), _dims),
    "contiguous": OpSpec("{0}.contiguous()", "shape", 1, _contiguous, _only),
    "matmul": OpSpec("{0} @ {1}", "matmul", 2, _matmul, _only),
    # views
    "t": OpSpec("{0}.t()", "view", 1, _view(_turn), _only),
    "row": OpSpec("{0}[{p[0]}]", "view", 1, _view(_row), _indices),
    "rows": OpSpec("{0}[{p[0]}:{p[1]}]", "view", 1, _view(_rows), _slices),
    "transpose": OpSpec("{0}.transpose({p[0]}, {p[1]})", "view", 1, _view(_swap), _pairs),
    "unsqueeze": OpSpec("{0}.unsqueeze({p[0]})", "view", 1, _view(_unsqueeze), _gaps),
    "squeeze": OpSpec("{0}.squeeze({p[0]})", "view", 1, _view(_squeeze), _ones),
    "view": OpSpec("{0}.view({p[0]})", "view", 1, _view(_reshape), _shapes),
    "reshape": OpSpec("{0}.reshape({p[0]})", "view", 1, _view(_reshape), _shapes),
    "detach": OpSpec("{0}.detach()", "view", 1, _view(_same), _only),
    "expand": OpSpec("{0}.expand({p[1]})", "view", 1, _view(_expand), _expansions),
    # in-place on values
    "add_": _write("{0}.add_(1)", 1, lambda x: x + 1),
    "mul_": _write("{0}.mul_(2)", 1, lambda x: x * 2),
    "neg_": _write("{0}.neg_()", 1, lambda x: x),
    "relu_": _write("{0}.relu_()", 1, lambda x: x),
    "f_relu_": _write("F.relu({0}, inplace=True)", 1, lambda x: x),
    "tanh_": _write("{0}.tanh_()", 1, lambda x: x),
    "clamp_": _write("{0}.clamp_(-1, 1)", 1, lambda x: x),
    "zero_": _write("{0}.zero_()", 1, lambda x: x),
    "masked_fill_": _write("{0}.masked_fill_({0} > 0, 0.5)", 1, lambda x: x + 1),
    "add_tensor_": _write("{0}.add_({1})", 2, lambda x, y: x + y),
    "sub_tensor_": _write("{0}.sub_({1})", 2, lambda x, y: x + y),
    "mul_tensor_": _write("{0}.mul_({1})", 2, lambda x, y: x * y),
    "copy_": _write("{0}.copy_({1})", 2, max),
    "lerp_": _write("{0}.lerp_({1}, 0.5)", 2, max),
    # item assignment
    "set_row_one": _store("{0}[{p[0]}] = 1.0", 1, _indices),
    "set_rows_one": _store("{0}[{p[0]}:{p[1]}] = 1.0", 1, _slices),
    "set_row": _store("{0}[{p[0]}] = {1}", 2, _indices),
    "set_rows": _store("{0}[{p[0]}:{p[1]}] = {1}", 2, _slices),
    "iadd_rows": _store("{0}[{p[0]}:{p[1]}] += {1}", 2, _slices),
    # in-place on metadata
    "t_": _meta("{0}.t_()", _turn, _only),
    "transpose_": _meta("{0}.transpose_({p[0]}, {p[1]})", _swap, _pairs),
    "swapaxes_": _meta("{0}.swapaxes_({p[0]}, {p[1]})", _swap, _pairs),
    "squeeze_": _meta("{0}.squeeze_({p[0]})", _squeeze, _ones),
    "unsqueeze_": _meta("{0}.unsqueeze_({p[0]})", _unsqueeze, _gaps),
}
