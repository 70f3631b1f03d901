"""Observation: all that was seen when one path ran one case. Plain data, in one class per kind of path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.aliasing import NO_MEMORY, Memory
from exportdiff.runtime.observing.tensors import State, TensorSnapshot, Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.core.finding import Draws, Stage
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.aliasing import MutationProbe
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.gradients import Gradients
    from exportdiff.runtime.observing.graphs import Exported, Hierarchy, Rebuilt
    from exportdiff.runtime.observing.sizes import DynamicDimension


@dataclass(frozen=True)
class Compilation:
    """One frame of Python that Dynamo compiled, or tried to."""

    code: str
    """Name of the code object."""
    file: str
    """Its file: a path inside torch, or ``program``."""
    because: str = ""
    """The guard that failed, so that Dynamo compiled the code again; empty the first time."""


@dataclass(frozen=True)
class Aftermath:
    """What a call may change besides inputs and state; as text that is the same in every run."""

    process_state: Mapping[str, object]
    """As in Environment."""
    attributes: Mapping[str, str]
    """Attributes, training flags and the number of hooks of all modules."""
    changed: frozenset[str] = frozenset()
    """The names in ``process_state`` that were other values before the call."""


@dataclass(frozen=True)
class Call:
    """One call: either outputs or a failure, and inputs and state after it."""

    inputs: Tree
    """The leaves of ``(args, kwargs)`` that were handed in, after the call."""
    state: State
    """State after the call, without the groups of names that are one tensor."""
    outputs: Tree | None = None
    failure: Failure | None = None
    probe: bool = False
    """Whether the inputs were a probe rather than like the example."""
    refilled: Tree | None = None
    """The pytree ``(args, kwargs)`` after the call; None: its lists and dicts hold what was handed in."""
    memory: Memory = NO_MEMORY
    """Which outputs are other tensors, or share memory with them."""
    unregistered: frozenset[str] = frozenset()
    """In eager, the outputs, inputs and state that require grad for unregistered parameters alone."""
    compiled: tuple[Compilation, ...] = ()
    """On a path that compiles as it runs: what it compiled in this call."""
    aftermath: Aftermath | None = None
    """What the call left behind besides inputs and state; attributes only on a path that compiles as it runs,
    and in its reference."""


@dataclass(frozen=True)
class DeviatingCall:
    """One call that differs from the example in one respect, which export holds fixed."""

    deviation: str
    """A name of runtime/inputs/deviations.py."""
    description: str
    """What differs, for people."""
    call: Call
    inputs_before: Tree
    state_before: State
    where: str = ""
    """What is altered, as one would write it: ``args[1]``, ``model.scale``; empty for surroundings."""
    value: str = ""
    """Of an attribute: what it is instead, as Python text."""
    then: Call | None = None
    """If it raised and changed nothing: an ordinary call right after it, with nothing restored in between.
    In eager: an ordinary call in its place."""

    @property
    def key(self) -> tuple[str, str]:
        """What distinguishes it from other deviating calls: two kinds may have the same description."""
        return self.deviation, self.description


@dataclass(frozen=True)
class SmallCall:
    """One call with a probe that has a size of 0 or 1 where the example has a larger one.

    Only whether it is accepted may be compared.
    """

    number: int
    """As if it were made with the other probes."""
    inputs_before: Tree
    call: Call


@dataclass(frozen=True)
class Placeholder:
    """One graph input: the metadata that export recorded, and the metadata of the real input."""

    kind: str
    """``input``, ``parameter`` or ``buffer``."""
    where: str
    recorded: TensorSnapshot | str
    actual: TensorSnapshot | str


@dataclass(frozen=True)
class Prediction:
    """One tensor that a graph computes: as its fake tensor predicted it, and as it is."""

    node: str
    operator: str
    predicted: TensorSnapshot
    actual: TensorSnapshot


@dataclass(frozen=True)
class Environment:
    """What export and lowering must not change."""

    state: State
    training: Mapping[str, bool]
    hooks: Mapping[str, int]
    attributes: Mapping[str, str]
    inputs: Tree
    process_state: Mapping[str, object]
    """Grad mode, default dtype, autocast, the state of the global random number generator."""
    unregistered: Mapping[str, str] = field(default_factory=dict)
    """Attributes, parameters and buffers of the modules that only a list, tuple or dict holds."""
    held: Mapping[str, TensorSnapshot] = field(default_factory=dict)
    """Tensors that only a list, tuple or dict holds; a stage that replaces one changes the attribute."""
    fakes: Mapping[str, str] = field(default_factory=dict)
    """The fake tensors that only objects and functions of the program hold, by place."""


@dataclass(frozen=True)
class StageEffect:
    """The environment before and after one stage."""

    stage: Stage
    before: Environment
    after: Environment
    printed: Mapping[str, str] = field(default_factory=dict)
    """What the stage printed, by the name of the stream."""
    failed: bool = False


@dataclass(frozen=True)
class Observation:
    """What every path shows. What was not reached is empty."""

    path: Path
    failure: Failure | None = None
    """Why export or lowering ended the path."""
    before: State | None = None
    """State before the first call."""
    calls: tuple[Call, ...] = ()
    gradients: Gradients | None = None
    """Of the first call."""
    edited: Call | None = None
    """A call after the others, made with the example once the state was edited (runtime/inputs/edits.py)."""
    mutation_probes: tuple[MutationProbe, ...] = ()
    """Writes to the outputs of the last call that was made."""
    backward_after_writes: Failure | None = None
    """Why no backward pass is possible after the writes that autograd saw."""
    deviations: tuple[DeviatingCall, ...] = ()
    """Calls that may be refused; each starts from the state that the ordinary calls left."""
    small_calls: tuple[SmallCall, ...] = ()
    """Each starts from the state that the ordinary calls left. On a path, only those that the program
    declares to accept."""
    same_operators: bool = True
    """Whether the path runs the operators that eager runs, so that results agree to the bit."""


@dataclass(frozen=True)
class NotObserved(Observation):
    """A path that cannot be compared with eager, which says nothing about torch."""

    reason: str = field(kw_only=True)
    """Why, for people."""


@dataclass(frozen=True)
class EagerObservation(Observation):
    """What the model itself shows: the reference."""

    assigned: frozenset[str] = frozenset()
    """The attributes that the model assigns and that are neither parameter nor buffer."""
    rebound: frozenset[str] = frozenset()
    """The parameters and buffers that the model assigns, so that they are other objects."""
    held_twice: frozenset[str] = frozenset()
    """The parameters and buffers that are also attributes, or in lists, dicts and objects, at first."""
    hooked: frozenset[str] = frozenset()
    """The modules that have more or fewer hooks after its calls than before."""
    hierarchy: Hierarchy | None = None
    """Its modules, and the calls of them in call 0."""
    invalid: str = ""
    """Why the model cannot be judged; empty: it can."""
    first_call_only: bool = False
    """Whether the model changes itself, so that its first call alone can be compared."""
    python_values: frozenset[str] = frozenset()
    """The Python values that its calls change outside of the model, such as a global counter. Whether results
    depend on them is another question: a cache changes no result."""
    lasting: frozenset[str] = frozenset()
    """Those of them that cannot be set back, such as the position of a generator."""
    asks: bool = False
    """Whether the code of the model may ask if it is being exported, and then run other operators."""
    order_matters: bool = False
    """Whether results depend on the calls before, though no call changes a tensor of the state."""
    finite_only: bool = False
    """Whether an infinity or NaN makes the case invalid, as the case says."""
    prints: bool = False
    """Whether the model itself prints."""
    computed_attributes: bool = False
    """Whether the model holds a tensor that was computed from parameters, and requires a gradient."""
    unregistered: bool = False
    """Whether the model holds a parameter with gradient that no module registers."""
    draws: frozenset[Draws] = frozenset()
    """Where the program draws random numbers."""
    rounded: tuple[EagerObservation, ...] = ()
    """On demand: what it shows if its operators round differently, each time in another way."""


@dataclass(frozen=True)
class ExportedObservation(Observation):
    """What a path shows that exports the model: also what can be read from the exported program."""

    placeholders: tuple[Placeholder, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    """For the runner ``module`` only: what the fake tensors predicted of each node, and what it gave."""
    stage_effects: tuple[StageEffect, ...] = ()
    still_shared: tuple[str, ...] = ()
    """Names of a copy's state that shares memory with the original."""
    kept: tuple[str, ...] = ()
    """Names of the parameters and buffers that stay in memory when model, program and what runs are gone."""
    dropped: frozenset[str] = frozenset()
    """Names of the model's state that are not among the graph's inputs."""
    saved: frozenset[str] = frozenset()
    """Names in the state dict of what runs, without numbers of call variants (``foo@1.weight`` is a further
    name of ``foo.weight``)."""
    written: frozenset[str] = frozenset()
    """Names of the inputs and of the state whose new values the graph returns, to be written back."""
    returned: frozenset[str] = frozenset()
    """Those of ``written`` whose new value is also a result of the model."""
    for_inference: bool = False
    """Whether the program was made for inference alone."""
    may_narrow: bool = False
    """Whether the program may refuse probes: the spec of dynamic shapes leaves their sizes to export."""
    excluded: frozenset[int] = frozenset()
    """The probes with sizes that a guard of the exported program excludes."""
    declared: frozenset[int] = frozenset()
    """The numbers of the probes whose sizes are in the ranges that the program declares."""
    sizes: tuple[DynamicDimension, ...] = ()
    """For users' models on the path without transforms: what the program and eager accept."""
    exported: Exported | None = None
    rebuilt: Rebuilt | None = None
    """For the runner ``unflatten`` only."""


@dataclass(frozen=True)
class CompiledObservation(Observation):
    """What a path shows that compiles the model as it runs, and promises all that Python does."""

    reference: EagerObservation = field(kw_only=True)
    """What eager shows when it makes the same calls, with the same restart."""
    restarted: bool = False
    """Whether call 1 is call 0 once more, from the same start."""


@dataclass(frozen=True)
class PipelinedObservation(Observation):
    """What the stages of a pipeline show."""

    reference: EagerObservation = field(kw_only=True)
    """What eager shows for the same calls, with its outputs flattened as those of a pipeline are."""
