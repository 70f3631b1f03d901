"""What one run of a Program did: which code ran, what it needed, and what the feature tags ask about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strategies.values import Instance, Ref, Storage, Value


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a module: who (by object and class), from where, with which Python arguments."""

    callee: int
    cls: str
    caller: int
    depth: int
    flags: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """One in-place op, and the kind of memory that it wrote to."""

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
    """Filled by a Machine while it runs. Nodes of the Program are known by their ``id``."""

    executed: set[int] = field(default_factory=set)
    """Statements that ran."""
    sides: set[tuple[int, bool]] = field(default_factory=set)
    """If statements, with the truth that their test had."""
    used: set[int] = field(default_factory=set)
    """Statements of ``__init__`` whose results were read."""
    needs: dict[int, set[int]] = field(default_factory=dict)
    """Statements of ``__init__`` -> those whose results they read in turn."""
    methods: set[tuple[str, str]] = field(default_factory=set)
    """(class, method) that ran."""
    marks: set[str] = field(default_factory=set)
    """Tags of what happened."""
    events: list[Called | Written] = field(default_factory=list)
    """Calls of modules and in-place ops, in order."""
    results: list[tuple[list[Value], Value]] = field(default_factory=list)
    """The arguments and the result of each call of the model."""
    model: Instance | None = None
    _owners: dict[Storage, Instance] = field(default_factory=dict)
    _remade: set[Ref] = field(default_factory=set)
    _writers: dict[Storage, tuple[Ref, Instance | None]] = field(default_factory=dict)

    def closure(self) -> set[int]:
        """The statements of ``__init__`` that anything that ran depends on."""
        found: set[int] = set()
        todo = list(self.used)
        while todo:
            init = todo.pop()
            if init not in found:
                found.add(init)
                todo += self.needs.get(init, ())
        return found

    def note_made(self, ref: Ref, owner: Instance | None) -> None:
        """A fresh tensor was made by code of this module."""
        if owner is not None:
            self._owners[ref.storage] = owner

    def note_read(self, ref: Ref, owner: Instance | None) -> None:
        """A tensor is an operand of an op that code of this module runs."""
        known = self._writers.get(ref.storage)
        if known is None:
            return
        writer, where = known
        if writer is not ref:
            self.marks.add("inplace.read_through_alias")
        if where is not owner and ref.storage.kind in ("buffer", "scratch", "constant"):
            self.marks.add("state.updated_here_read_there")

    def note_told(self, ref: Ref) -> None:
        """A tensor is asked about its sizes or strides."""
        if ref in self._remade:
            self.marks.add("inplace.read_back")

    def note_written(self, written: Written, ref: Ref, owner: Instance | None) -> None:
        """Code of this module is about to write to a tensor."""
        self.events.append(written)
        if written.mutates == "metadata":
            self._remade.add(ref)
        known = self._writers.get(ref.storage)
        if known is not None and known[0] is not ref:
            self.marks.add("inplace.overlapping")
        made = self._owners.get(ref.storage)
        if made is not None and made is not owner:
            self.marks.add("inplace.across_modules")
        self._writers[ref.storage] = (ref, owner)
