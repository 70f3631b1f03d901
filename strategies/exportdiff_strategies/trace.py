"""A record of one run of a Program: which code ran, what it needed, and what the tags need to know.

A Machine with a Trace fills it in. ``tidy`` reads which statements ran, and tags read the events and marks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from exportdiff_strategies.flow import DataFlow
from exportdiff_strategies.values import Instance, Storage, TensorValue, Value


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One call of a module: the callee and the caller (by id), the callee's class, the Python arguments.

    ``depth`` counts the running calls of modules that are instances of the Program's classes.
    """

    callee: int
    cls: str
    caller: int
    depth: int
    flags: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class WriteEvent:
    """One in-place op, and the Storage.kind of the memory that it wrote to."""

    op: str
    mutates: str
    kind: str
    view: bool
    grad_mode: bool
    depth: int
    at: int
    """The number of events before it."""


@dataclass
class Trace:
    """What a Machine records while it runs. Nodes of the Program are identified by their ``id``."""

    executed: set[int] = field(default_factory=set)
    """Statements that ran."""
    sides: set[tuple[int, bool]] = field(default_factory=set)
    """Pairs of an If statement and the truth of its test."""
    used: set[int] = field(default_factory=set)
    """Statements of ``__init__`` that made an attribute that was read."""
    needs: dict[int, set[int]] = field(default_factory=dict)
    """Statement of ``__init__`` -> the statements of ``__init__`` that it depends on."""
    methods: set[tuple[str, str]] = field(default_factory=set)
    """(class, method) that ran."""
    marks: set[str] = field(default_factory=set)
    """Tags that only a run can detect."""
    events: list[CallEvent | WriteEvent] = field(default_factory=list)
    """Calls of modules and in-place ops, in order."""
    results: list[tuple[list[Value], Value]] = field(default_factory=list)
    """The arguments and the result of each call of the model."""
    model: Instance | None = None
    """The model, after the run."""
    flow: DataFlow = field(default_factory=DataFlow)
    """How values move between state during the current call."""
    _owners: dict[Storage, Instance] = field(default_factory=dict)
    _reshaped: set[TensorValue] = field(default_factory=set)
    _writers: dict[Storage, tuple[TensorValue, Instance | None]] = field(default_factory=dict)

    def closure(self) -> set[int]:
        """The statements of ``__init__`` that the run depends on, directly or not."""
        found: set[int] = set()
        todo = list(self.used)
        while todo:
            init = todo.pop()
            if init not in found:
                found.add(init)
                todo += self.needs.get(init, ())
        return found

    def note_made(self, ref: TensorValue, owner: Instance | None) -> None:
        """Record that code of the module ``owner`` made a new tensor."""
        if owner is not None:
            self._owners[ref.storage] = owner

    def note_read(self, ref: TensorValue, owner: Instance | None) -> None:
        """Record that code of the module ``owner`` runs an op on a tensor."""
        self.flow.note_read(ref)
        known = self._writers.get(ref.storage)
        if known is None:
            return
        writer, where = known
        if writer is not ref:
            self.marks.add("inplace.read_through_alias")
        if where is not owner and ref.storage.kind in ("buffer", "scratch", "constant"):
            self.marks.add("state.updated_here_read_there")

    def note_metadata_read(self, ref: TensorValue) -> None:
        """Record that Python reads the sizes, strides or flags of a tensor."""
        if ref in self._reshaped:
            self.marks.add("inplace.read_back")

    def note_written(self, written: WriteEvent, ref: TensorValue, owner: Instance | None) -> None:
        """Record that code of the module ``owner`` is about to write to a tensor."""
        self.events.append(written)
        self.marks.update(self.flow.note_written(ref, owner))
        if written.mutates == "metadata":
            self._reshaped.add(ref)
        known = self._writers.get(ref.storage)
        if known is not None and known[0] is not ref:
            self.marks.add("inplace.overlapping")
        made = self._owners.get(ref.storage)
        if made is not None and made is not owner:
            self.marks.add("inplace.across_modules")
        self._writers[ref.storage] = (ref, owner)
