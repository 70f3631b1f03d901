"""The shapes and dtypes that all tensors of one Program follow, so that they fit together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, broadcastable_shapes

from exportdiff_strategies import program as ir
from exportdiff_strategies.machine import LAYOUTS
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.types import Shape, inexact

FILLS: tuple[tuple[float, float | None], ...] = (
    (1.0, None),
    (-1.0, 2.0),
    (0.5, 1.5),
    (0.0, None),
    (2.0, -1.5),
)
"""Values of tensors: (low, high) as in Fill."""

_MATRICES: tuple[Shape, ...] = ((2, 2), (2, 3), (3, 3), (1, 3), (2, 1), (3, 2))
_IMAGES: tuple[Shape, ...] = ((1, 2, 3), (2, 2, 2), (1, 2, 2, 2))
_SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)

DTYPES = ("float64", "complex64", "bfloat16", "float16", "int64", "complex64", "int64")
"""The dtypes of ``x`` other than float32."""

SECOND_DTYPES = ("int64", "bool", "float64", "float16", "bfloat16", "int32")
"""The dtypes of second tensors and of buffers."""


@lru_cache(maxsize=256)
def _companions(shape: Shape) -> st.SearchStrategy[Shape]:
    return broadcastable_shapes(shape, min_dims=0, max_dims=max(len(shape), 1), max_side=3)


@dataclass(frozen=True, slots=True)
class Style:
    """The shape and dtype of ``x``, further sizes of its first dimension, and the train mode."""

    shape: Shape
    dtype: str
    training: bool
    sizes: tuple[int, ...] = ()

    def shapes(self) -> list[Shape]:
        """The shapes of ``x``: one for every size of its first dimension."""
        return [self.shape, *((size, *self.shape[1:]) for size in self.sizes if size != self.shape[0])]

    def fill(self, choose: Chooser, kind: str = "buffer", shape: Shape | None = None) -> ir.Fill:
        """A tensor that broadcasts with ``x``."""
        if shape is None:
            shape = self._shape(choose)
        dtype = self.dtype
        if kind != "parameter" and choose.maybe("state.dtype", 40):
            dtype = choose.pick(SECOND_DTYPES)
        if kind == "parameter" and not inexact(dtype):
            dtype = "float32"
        low, high = choose.pick(FILLS)
        return ir.Fill(shape, low, high, dtype)

    def layouts(self, shape: Shape, dtype: str) -> list[str]:
        """The memory layouts that a tensor of this shape and dtype may have, simplest first."""
        if not shape or 0 in shape:
            return [""]
        # Expanded along a dynamic dimension, a tensor would be expanded for one size and not for another.
        apart = {"expanded"} if self.sizes else set()
        if len(shape) != 2:
            apart |= {"transposed", "windows"}
        if 0 in self.sizes:
            apart.add("windows")
        if dtype != "float32":
            apart |= {"real", "negative"}
        if dtype != "complex64":
            apart.add("conjugate")
        # Few tensors can be conjugated, so that those mostly are.
        often = ["conjugate"] * 16 if dtype == "complex64" else []
        return ["", *(name for name in LAYOUTS if name not in apart), *often]

    def _shape(self, choose: Chooser) -> Shape:
        if self.sizes:
            # Only of sizes that are not dynamic, so that it broadcasts with every size of x.
            return choose.pick((self.shape[1:], (), (1,) * len(self.shape)))
        if choose.chance(40):
            return self.shape
        if choose.chance(50):
            return choose.draw(_companions(self.shape))
        return choose.pick((self.shape[-1:], self.shape[::-1], (), ()))


def draw_style(choose: Chooser, training: bool) -> Style:
    """The shape and dtype of ``x``: mostly a float32 matrix, because most ops accept one."""
    if choose.maybe("input.scalar", 60):
        shape: Shape = ()
    elif choose.maybe("input.empty", 60):
        shape = choose.pick(((0,), (0, 2), (2, 0)))
    elif choose.chance(15):
        shape = choose.pick(_IMAGES)
    elif choose.chance(25):
        shape = choose.draw(_SHAPES)
    else:
        shape = choose.pick(_MATRICES)
    dtype = choose.pick(DTYPES) if choose.maybe("input.dtype", 60) else "float32"
    sizes: tuple[int, ...] = ()
    if choose.on("dynamic.shapes") and shape and min(shape) > 0:
        # Export treats the sizes 0 and 1 specially, so the example is larger.
        shape = (choose.pick((3, 4, 2)), *shape[1:])
        # The neighbours of the example's size, where a range may end. torch promises less for 0 and 1.
        neighbours = (shape[0] + 1, shape[0] - 1)
        sizes = choose.pick(((2, 5), (4, 1), (6, 3), (3, 0), (5, 7), neighbours, neighbours))
    return Style(shape, dtype, training, sizes)
