"""Observation: all that was seen when one path ran one case. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.observe.aliasing import NO_MEMORY, Memory
from harness.observe.tensors import State, TensorSnapshot, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.findings import Stage
    from harness.observe.aliasing import MutationProbe
    from harness.observe.failure import Failure
    from harness.observe.gradients import Gradients
    from harness.observe.graphs import Exported, Hierarchy, Rebuilt


@dataclass(frozen=True)
class Compilation:
    """One frame of Python that Dynamo compiled, or tried to."""

    code: str
    """Name of the code object."""
    file: str
    """Its file: a path inside torch, or ``program``."""
    because: str = ""
    """The guard that turned the call away from what had been compiled of this code; empty the first time."""
    broke: tuple[str, ...] = ()
    """What Dynamo did not take: the first line of each reason for a graph break or for giving up."""


@dataclass(frozen=True)
class Aftermath:
    """What else a call may leave behind than inputs and state; text that compares from run to run."""

    ambient: Mapping[str, object]
    """As in World."""
    attributes: Mapping[str, str]
    """Attributes, training flags and the number of hooks of all modules."""


@dataclass(frozen=True)
class Call:
    """One call: either outputs or a failure, and the world after it."""

    inputs: Tree
    """The pytree ``(args, kwargs)`` after the call."""
    state: State
    """State after the call; who is who is not looked at again."""
    outputs: Tree | None = None
    failure: Failure | None = None
    probe: bool = False
    """Whether the inputs were a probe rather than like the example."""
    memory: Memory = NO_MEMORY
    """Which outputs are, or live in the memory of, other tensors."""
    compiled: tuple[Compilation, ...] = ()
    """Of a path that compiles as it runs: what it compiled in this call."""
    aftermath: Aftermath | None = None
    """Of a path that promises to do all that Python code does, and of its reference."""


@dataclass(frozen=True)
class DeviatingCall:
    """One call with inputs that leave the spec in one respect."""

    deviation: str
    """A name of harness/inputs/deviations.py."""
    words: str
    """What is altered, for people."""
    call: Call
    inputs_before: Tree
    state_before: State
    where: str = ""
    """What is altered, as one would write it: ``args[1]``, ``model.scale``; empty for surroundings."""
    value: str = ""
    """Of an attribute: what it is instead, as Python text."""


@dataclass(frozen=True)
class Placeholder:
    """One graph input: the metadata that export recorded, next to that of the real thing."""

    kind: str
    """``input``, ``parameter`` or ``buffer``."""
    where: str
    recorded: TensorSnapshot | str
    actual: TensorSnapshot | str


@dataclass(frozen=True)
class Prediction:
    """One tensor that a graph computes: as the fake tensor predicted it, and as it is."""

    node: str
    operator: str
    predicted: TensorSnapshot
    actual: TensorSnapshot


@dataclass(frozen=True)
class World:
    """What export and lowering have no business changing."""

    state: State
    training: Mapping[str, bool]
    hooks: Mapping[str, int]
    attributes: Mapping[str, str]
    inputs: Tree
    ambient: Mapping[str, object]
    """Grad mode, default dtype, autocast, the state of the global random number generator."""


@dataclass(frozen=True)
class Touch:
    """The world before and after one stage that must leave it alone."""

    stage: Stage
    before: World
    after: World
    printed: Mapping[str, str] = field(default_factory=dict)
    """What the stage wrote, by the name of the stream."""
    failed: bool = False


@dataclass(frozen=True)
class Observation:
    """Everything seen on one path. What was not reached is empty."""

    path: str
    failure: Failure | None = None
    """Why export or lowering ended the path."""
    before: State | None = None
    """State before the first call."""
    calls: tuple[Call, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    gradients: Gradients | None = None
    """Of the first call."""
    edited: Call | None = None
    """A call after the others, made with the example once the state was edited (harness/inputs/edits.py)."""
    mutation_probes: tuple[MutationProbe, ...] = ()
    """Writes to the outputs of the last call that was made."""
    deviations: tuple[DeviatingCall, ...] = ()
    """Calls that may be refused; each starts from the state that the ordinary calls left."""
    predictions: tuple[Prediction, ...] = ()
    """Of a path that runs the exported program's own graph: what its nodes were expected to be."""
    touches: tuple[Touch, ...] = ()
    still_shared: tuple[str, ...] = ()
    """Names of state of a copy that lives in the memory of what was copied."""
    dropped: frozenset[str] = frozenset()
    """Names of the model's state that are not among the graph's inputs."""
    written: frozenset[str] = frozenset()
    """Names of the inputs and of the state that the graph returns anew, to be written back."""
    same_operators: bool = True
    """Whether the path runs the operators that eager runs, so that results agree to the bit."""
    may_narrow: bool = False
    """Whether the program may refuse probes: the spec of dynamic shapes leaves their sizes to export."""
    assigned: frozenset[str] = frozenset()
    """Of eager only: the attributes that the model assigns and that are neither parameter nor buffer."""
    rebound: frozenset[str] = frozenset()
    """Of eager only: the parameters and buffers that the model assigns, so that they are other objects."""
    hierarchy: Hierarchy | None = None
    """Of eager only: its modules, and the calls of them in call 0."""
    exported: Exported | None = None
    rebuilt: Rebuilt | None = None
    """Of ``unflatten`` only."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Of eager only: why a model cannot be judged, or not beyond its first call."""
    restarted: bool = False
    """Of a path that compiles as it runs: whether call 1 is call 0 once more, from the same start."""
    reference: Observation | None = None
    """Of a path that runs the model itself, and promises all that Python does: what eager did that way."""
