"""Records every ATen operator of a model that runs: where it was called, what it gave, and what it read.

A model that runs eagerly and a graph that export made of it are sequences of the same operators, so two logs
can be compared. A log also has the values at the borders of each call: the inputs, the state and the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch._C._autograd import _get_sequence_nr as sequence_number
from torch._ops import HigherOrderOperator, OpOverload
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from exportdiff.runtime.observing.code_places import CodePlace, current_place
from exportdiff.runtime.observing.logged_values import LoggedValue, read_value
from exportdiff.runtime.observing.tensors import storage_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exportdiff.runtime.observing.code_places import ModuleCalls


BEFORE = "before "
"""How the names of values begin that are there before a call."""


@dataclass(frozen=True, eq=False)
class LogEntry:
    """One operator, or one named value at the border of a call."""

    index: int
    call: int
    operator: str
    """As ``aten.add.Tensor``; empty for a named value."""
    name: str = ""
    """Of a named value: ``output[0]``, ``input args[0]``, the name of a tensor of the state."""
    place: CodePlace = field(default_factory=CodePlace)
    values: tuple[LoggedValue, ...] = ()
    """What the operator returned, or wrote; empty if nothing can be said about it."""
    reads: tuple[int, ...] = ()
    """The events that made what it read."""
    backward: bool = False
    """Whether it belongs to a backward pass."""
    running: str | None = None
    """The name of the module that runs it; the node of a graph may name another one."""

    @property
    def short_operator(self) -> str:
        """The operator without its overload: ``aten.add``."""
        return ".".join(self.operator.split(".")[:2])


_UNINITIALISED = frozenset(
    f"aten.{name}"
    for name in (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
        *("resize_", "resize", "_resize_output_"),
    )
)
"""Operators that return memory as it is."""


class OperatorLog(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it bare
    """The log of one model; operators are recorded inside of its ``with`` blocks."""

    supports_higher_order_operators = True

    def __init__(self, calls: ModuleCalls, caller: str) -> None:
        """Begin with an empty log.

        ``calls`` knows which module is being called; ``caller`` is the file that calls the model.
        """
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it bare
        self.events: list[LogEntry] = []
        self.requires_grad: dict[int, bool] = {}
        """By event: whether a result required grad when something read it.

        An operator runs below autograd, so only later readers know."""
        self._calls = calls
        self._caller = caller
        self._call = 0
        self._writers: dict[int, tuple[int, ...]] = {}
        """By storage: the events that last wrote all of it, or a part."""
        self._births: dict[int, int] = {}
        """By storage: the event that made it. Addresses of storages are used more than once."""
        self._views: dict[tuple[object, ...], int] = {}
        """By storage and geometry: the event that last made such a tensor."""
        self._forward: dict[int, int] = {}
        """By autograd's sequence number: the event of the forward pass that has it."""
        self._alive: list[torch.Tensor] | None = None
        """What operators returned in a function that an operator runs: their addresses are not used again."""
        self._large: dict[tuple[object, ...], LoggedValue | None] = {}

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let Dynamo compile while the mode is active. An older torch runs such code eagerly."""
        return True

    def begin(self, call: int, named: Mapping[str, torch.Tensor]) -> None:
        """Begin a call: all that it reads comes from these tensors, or from operators."""
        self._call = call
        self._calls.restart()
        found = [(tensor, self._border(f"{BEFORE}{name}", tensor)) for name, tensor in named.items()]
        written: dict[int, tuple[int, ...]] = {}
        for tensor, event in found:
            key = storage_id(tensor)
            written[key] = (*written.get(key, ()), event)
            self._births.setdefault(key, event)
            self._views[self._geometry(tensor)] = event
        self._writers.update(written)

    def end(self, named: Mapping[str, torch.Tensor]) -> None:
        """End a call, which has left these tensors."""
        for name, tensor in named.items():
            self._border(name, tensor)

    def _border(self, name: str, tensor: torch.Tensor) -> int:
        event = LogEntry(
            len(self.events), self._call, "", name, values=self._values([tensor]), reads=self._reads([tensor])
        )
        self.events.append(event)
        return event.index

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator, and record it."""
        kwargs = kwargs or {}
        given = _tensors((args, kwargs))
        if torch.compiler.is_compiling() or not all(type(tensor) in _PLAIN for tensor in given):
            return func(*args, **kwargs)  # torch traces something
        if isinstance(func, HigherOrderOperator) and any(map(_is_function, args)):
            return self._run_functions(func, args, kwargs, given)
        sequence = sequence_number() - 1
        reads = self._reads(given)
        result = func(*args, **kwargs)
        returned = _tensors(result)
        written = _written(func, args, kwargs)
        if returned or written:
            self._add(func, reads, {storage_id(t) for t in given}, returned, written, sequence)
        return result

    def _add(
        self,
        func: Any,
        reads: tuple[int, ...],
        known: set[int],
        returned: list[torch.Tensor],
        written: list[torch.Tensor],
        sequence: int,
    ) -> None:
        index = len(self.events)
        node: Any = torch._C._current_autograd_node()
        place = current_place(self._calls, self._caller)
        if node is not None and not place.file and place.module is None:
            forward = self._forward.get(node._sequence_nr())
            place = self.events[forward].place if forward is not None else place
        operator = str(func)
        unknown = ".".join(operator.split(".")[:2]) in _UNINITIALISED
        values = (
            () if unknown else self._values([*returned, *(t for t in written if not _among(t, returned))])
        )
        running = (self._calls.current or (None, 0))[0]
        event = LogEntry(index, self._call, operator, "", place, values, reads, node is not None, running)
        self.events.append(event)
        if node is None:
            self._forward.setdefault(sequence, index)
        if self._alive is not None:
            self._alive += returned
        for tensor in returned:
            key = storage_id(tensor)
            if key not in known:
                self._births[key] = index
                self._writers[key] = (index,)
        for tensor in written:
            self._writers[storage_id(tensor)] = (index,)
        for tensor in returned:
            self._views[self._geometry(tensor)] = index

    def _run_functions(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]
    ) -> Any:
        """Run an operator such as ``cond``, and record the operators in the functions that it gets."""
        start, reads = len(self.events), self._reads(given)
        outer, self._alive = self._alive, []
        result = func(*map(self._recorded, args), **kwargs)
        inside = range(start, len(self.events))
        # What the functions did not return themselves, it has put together.
        made = [t for t in _tensors(result) if self._writers.get(storage_id(t), (-1,))[0] not in inside]
        self._alive = outer
        known = {storage_id(t) for t in given}
        if made := [t for t in made if storage_id(t) not in known]:
            self._add(func, (*reads, *inside), known, made, [], sequence_number() - 1)
        return result

    def _recorded(self, given: Any) -> Any:
        """Record the operators in a function that a higher order operator gets."""
        if not _is_function(given):
            return given

        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return given(*args, **kwargs)

        return run

    def _reads(self, tensors: Iterable[torch.Tensor]) -> tuple[int, ...]:
        found: dict[int, None] = {}
        for tensor in tensors:
            writers = self._writers.get(storage_id(tensor), ())
            view = self._views.get(self._geometry(tensor))
            found |= dict.fromkeys(writers if view is None else (*writers, view))
            for made in writers[-1:] if view is None else (view,):
                self.requires_grad[made] = self.requires_grad.get(made, False) or tensor.requires_grad
        return tuple(found)

    def _geometry(self, tensor: torch.Tensor) -> tuple[object, ...]:
        key = storage_id(tensor)
        if tensor.layout is not torch.strided:
            return (key,)
        birth = self._births.get(key)
        return key, birth, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype

    def _values(self, tensors: Iterable[torch.Tensor]) -> tuple[LoggedValue, ...]:
        return tuple(value for t in tensors if (value := self._value(t)) is not None)

    def _value(self, tensor: torch.Tensor) -> LoggedValue | None:
        if tensor.layout is not torch.strided or tensor.numel() < _LARGE or tensor.is_inference():
            return read_value(tensor)
        key = (*self._geometry(tensor), tensor._version)
        if key not in self._large:
            self._large[key] = read_value(tensor)
        return self._large[key]


_LARGE = 100_000
"""The number of elements from which on a tensor that has not changed is not read again."""

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _is_function(given: object) -> bool:
    return callable(given) and not isinstance(given, (torch.Tensor, OpOverload, type))


def _tensors(tree: object) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _among(tensor: torch.Tensor, others: list[torch.Tensor]) -> bool:
    return any(tensor is other for other in others)


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the arguments that an operator writes to, as its schema says."""
    schema = getattr(func, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    found: list[torch.Tensor] = []
    for number, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = args[number] if number < len(args) else kwargs.get(argument.name)
            found += _tensors(given)
    return found
