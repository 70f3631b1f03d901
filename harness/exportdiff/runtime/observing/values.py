"""The values of tensors. Those of large tensors lie in a file, once for each content.

So no copy of a large tensor is in memory, although judging looks at each tensor of the state dozens of times.
A content is recognized by its hash. It is written once, and read again only to describe a difference.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Values: TypeAlias = "Array | LargeValues"

LARGE = 64 * 1024
"""Values of this size in bytes and above lie in the file. Smaller ones are cheaper to copy than to find."""


class Content:
    """Some bytes, kept outside of memory for as long as an object refers to them."""

    def __init__(self, data: Array) -> None:
        """Write the bytes, a flat array of uint8, to the file; if the disk is full, copy them."""
        self.nbytes = data.nbytes
        self._copy: Array | None = None
        try:
            self._file = _current_file()
            self._offset = self._file.write(data)
        except OSError:
            self._copy = data.copy()
        else:
            weakref.finalize(self, self._file.release, self._offset, self.nbytes)

    def read(self, target: Array, start: int = 0) -> None:
        """Fill a flat array of uint8 with the bytes from ``start`` on."""
        if self._copy is not None:
            target[:] = self._copy[start : start + target.nbytes]
        else:
            self._file.read(target, self._offset + start)


def content(data: Array) -> Content:
    """Return what keeps the bytes of a C-contiguous array: one object for equal bytes."""
    plain = data.reshape(-1).view(np.uint8)
    seen = (plain.ctypes.data, plain.nbytes, _sums(plain)) if plain.nbytes >= SUMMED else None
    if seen is not None and (known := _at.get(seen)) is not None:
        return known
    key = _hash(plain)
    if (known := _contents.get(key)) is None:
        known = _contents[key] = Content(plain)
    if seen is not None:
        _at[seen] = known
    return known


def holds(kept: Content, data: Array) -> bool:
    """Whether these are the bytes of a C-contiguous array."""
    plain = data.reshape(-1).view(np.uint8)
    if plain.nbytes >= SUMMED and _at.get((plain.ctypes.data, plain.nbytes, _sums(plain))) is kept:
        return True
    return _contents.get(_hash(plain)) is kept


def _hash(plain: Array) -> bytes:
    # Most processors have instructions for SHA-256: with them, no other algorithm of hashlib is much faster.
    return hashlib.sha256(plain.data, usedforsecurity=False).digest()


SUMMED = 1 << 20
"""From this size in bytes on, the sums of a tensor say whether its memory has changed."""
_COLUMNS = 4096


def _sums(plain: Array) -> bytes:
    """Return a hash that takes a third of the time of SHA-256: of the sums of all rows and of all columns.

    It only says whether one piece of memory still has the bytes that it had. Two tensors may have equal sums.
    """
    words = plain[: plain.size // 8 * 8].view(np.int64)
    rows = words[: words.size // _COLUMNS * _COLUMNS].reshape(-1, _COLUMNS)
    digest = hashlib.sha256(plain[rows.nbytes :].data, usedforsecurity=False)
    for axis in (0, 1):
        digest.update(np.sum(rows, axis=axis).data)
    return digest.digest()


_contents: weakref.WeakValueDictionary[bytes, Content] = weakref.WeakValueDictionary()
"""By hash."""
_at: weakref.WeakValueDictionary[tuple[int, int, bytes], Content] = weakref.WeakValueDictionary()
"""By address, size and sums."""


class LargeValues:
    """The values of one large tensor in logical order."""

    def __init__(self, array: Array) -> None:
        """Keep the values of an array; it is copied in memory only if it is not contiguous."""
        self.content = content(np.ascontiguousarray(array))
        self.dtype = array.dtype
        self.shape = array.shape
        self.size = array.size

    def part(self, start: int, stop: int) -> Array:
        """Read some elements of the flat array."""
        read = np.empty(min(stop, self.size) - start, self.dtype)
        self.content.read(read.view(np.uint8), start * self.dtype.itemsize)
        return read

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Read all values."""
        whole = self.part(0, self.size).reshape(self.shape)
        return whole if dtype is None else whole.astype(dtype)


def keep(array: Array) -> Values:
    """Return the values of an array that may change later."""
    return LargeValues(array) if array.nbytes >= LARGE else np.array(array, order="C")


def identical(one: Values, other: Values) -> bool:
    """Whether two tensors of one dtype and shape have the same values, to the bit."""
    if isinstance(one, LargeValues) and isinstance(other, LargeValues):
        return one.content is other.content
    if isinstance(one, LargeValues) or isinstance(other, LargeValues):
        return False  # they differ in size
    return one.tobytes() == other.tobytes()


PART = 1 << 20
"""The number of elements that are compared at once."""


def parts(*several: Values) -> Iterator[tuple[int, list[Array]]]:
    """Yield tensors of one size as flat arrays, part by part, each with the number of its first element."""
    for start in range(0, several[0].size, PART):
        yield start, [_part(values, start, start + PART) for values in several]


def _part(values: Values, start: int, stop: int) -> Array:
    return values.part(start, stop) if isinstance(values, LargeValues) else values.reshape(-1)[start:stop]


class _File:
    """A file without a name: it goes with the process, however that ends."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        # Without a buffer, so that nothing of a write that failed is left for later.
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open as long as it lives
        self._end = 0
        self._free: dict[int, list[int]] = {}
        """By size: where there is room. Tensors of one size come again and again."""

    def write(self, data: Array) -> int:
        """Write a flat array, and return where it is. Raises OSError if the disk is full."""
        free = self._free.get(data.nbytes)
        offset = free[-1] if free else self._end
        self._file.seek(offset)
        done = 0
        while done < data.nbytes:
            done += self._file.write(data[done:].data)
        if free:
            free.pop()
        else:
            self._end += data.nbytes
        return offset

    def read(self, target: Array, offset: int) -> None:
        """Fill a flat array of uint8 with the bytes from ``offset`` on."""
        self._file.seek(offset)
        done = 0
        while done < target.nbytes:
            got = self._file.readinto(target[done:].data)
            if not got:
                raise EOFError("the file of large tensors has become shorter")
            done += got

    def release(self, offset: int, size: int) -> None:
        """Note that a content is no longer needed."""
        self._free.setdefault(size, []).append(offset)


_open: weakref.ref[_File] | None = None


def _current_file() -> _File:
    """Return the file that contents lie in; it is closed when none is left."""
    global _open
    file = _open() if _open is not None else None
    if file is None or file.owner != os.getpid():  # a fork has its own
        file = _File()
        _open = weakref.ref(file)
    return file
