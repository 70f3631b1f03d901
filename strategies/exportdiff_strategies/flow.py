"""How values move between tensors during one call: what was computed from what, and kept where.

The machine reports each read and write; DataFlow answers with tags. For example, ``self.b = tanh(self.b +
x)`` has the tag ``flow.recurrent``: the new value of a buffer was computed from its old value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from exportdiff_strategies.values import STATE, Instance, Storage, TensorValue


@dataclass
class DataFlow:
    """A record of one call. Methods that yield, yield the tags of what they have recognized."""

    _time: int = 0
    _read: dict[Storage, int] = field(default_factory=dict)
    """Memory -> when an op read it last."""
    _computed: dict[Storage, tuple[int, frozenset[Storage]]] = field(default_factory=dict)
    """Memory of a result -> when it was computed, and the state that it was computed from."""
    _kept: dict[Storage, set[Hashable]] = field(default_factory=dict)
    """Memory of a value -> the places in which it was kept."""
    _copied: set[Storage] = field(default_factory=set)
    """State that was kept in another place as well."""
    _returned: dict[Storage, Instance] = field(default_factory=dict)
    """State that a module wrote to and returned -> the module."""
    _written: dict[Storage, list[TensorValue]] = field(default_factory=dict)
    """Memory -> the tensors through which it was written to."""

    def note_read(self, ref: TensorValue) -> None:
        """An op reads a tensor."""
        self._time += 1
        self._read[ref.storage] = self._time

    def note_computed(self, result: TensorValue, operands: Sequence[TensorValue]) -> None:
        """An op has made a new tensor."""
        self._time += 1
        sources = {operand.storage for operand in operands if operand.storage.kind in STATE}
        for operand in operands:
            sources |= self._computed.get(operand.storage, (0, frozenset()))[1]
        self._computed[result.storage] = self._time, frozenset(sources)

    def note_kept(self, value: TensorValue, old: TensorValue | None, place: Hashable) -> Iterator[str]:
        """A value is copied into state, or bound to an attribute in place of ``old``."""
        places = self._kept.setdefault(value.storage, set())
        places.add(place)
        if len(places) > 1:
            yield "flow.one_value_twice"
        if old is None:
            return
        when, sources = self._computed.get(value.storage, (0, frozenset()))
        if old.storage in sources:
            yield "flow.recurrent"
            if self._read.get(old.storage, 0) > when:
                yield "flow.read_between"
        if old.storage in self._copied:
            yield "flow.copied_then_overwritten"
        if value.storage.kind in STATE and value.storage is not old.storage:
            self._copied.add(value.storage)

    def note_written(self, ref: TensorValue, owner: Instance | None) -> Iterator[str]:
        """Code of the module ``owner`` changes a tensor in place."""
        self._written.setdefault(ref.storage, []).append(ref)
        if ref.storage in self._copied:
            yield "flow.copied_then_overwritten"
        if self._returned.get(ref.storage, owner) is not owner:
            yield "flow.returned_then_written"

    def note_returned(self, result: TensorValue, callee: Instance) -> None:
        """A module returns a tensor."""
        if result.storage.kind in STATE and result.storage in self._written:
            self._returned[result.storage] = callee

    def note_output(self, output: TensorValue, inputs: Sequence[TensorValue]) -> Iterator[str]:
        """The model returns a tensor; ``inputs`` are those of the call."""
        writers = self._written.get(output.storage, [])
        aliases = [ref for ref in inputs if ref.storage is output.storage]
        several = len({id(ref) for ref in aliases}) > 1
        if several and output not in aliases and any(writer in aliases for writer in writers):
            yield "flow.alias_written"
