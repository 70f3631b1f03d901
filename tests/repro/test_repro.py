"""Repro files: what is written for each kind of finding. test_faults.py has one for every fault."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from inspect import isabstract
from unittest import mock

import pytest
import torch
from _pytest.mark import ParameterSet

from exportdiff.core.case import case_from_source
from exportdiff.core.finding import Evidence, Finding, Stage
from exportdiff.core.path import Path
from exportdiff.core.plain_data import dumps, loads
from exportdiff.judging.checks import CHECKS
from exportdiff.judging.checks.aliasing import (
    BackwardBarred,
    OutputMemory,
    WriteBarred,
    WriteDiffers,
    WriteRefused,
    WriteShows,
)
from exportdiff.judging.checks.alive import ALIVE, ProcessDied
from exportdiff.judging.checks.compare.deviating import Altered
from exportdiff.judging.checks.compare.leaves import LeafDifference
from exportdiff.judging.checks.fake import WrongFake
from exportdiff.judging.checks.gradients import BackwardRaised, GradientFlow, GradientLeaf
from exportdiff.judging.checks.guards.check import CallRefused, WrongRecord
from exportdiff.judging.checks.guards.deviations import (
    BrokenByRefusal,
    KeywordsRefused,
    RefusedButChanged,
    WrongAnswer,
)
from exportdiff.judging.checks.guards.recompiles import DeviatingCallRaised, Recompiled
from exportdiff.judging.checks.guards.sizes import SizeRefused
from exportdiff.judging.checks.inputs import InputLeaf, InputStructure
from exportdiff.judging.checks.memory import WeightsKept
from exportdiff.judging.checks.outputs import (
    OnlyEagerRaised,
    OutputAttribute,
    OutputIdentity,
    OutputLeaf,
    OutputStructure,
    PathRaised,
)
from exportdiff.judging.checks.purity import (
    ExampleInputChanged,
    HeldTensorChanged,
    ModuleChanged,
    Printed,
    ProcessChanged,
    ProcessLeftDifferent,
    StateChanged,
    StateCreated,
    StateSharingChanged,
)
from exportdiff.judging.checks.sharing import (
    CallVariantState,
    CopyShares,
    EditDiffers,
    EditRaised,
    MemoryMerged,
    MemorySplit,
    TensorsMerged,
    TensorSplit,
)
from exportdiff.judging.checks.state import AttributeDiffers, StateAdded, StateLeaf, StateMissing, UpdateLost
from exportdiff.judging.checks.structure.call_order import CallMissing, CallOrder, CallsUnknown
from exportdiff.judging.checks.structure.check import (
    GraphBroken,
    ModuleCycle,
    ModulesMissing,
    ModulesUnknown,
    NeedlessVariant,
)
from exportdiff.judging.checks.structure.enumeration import OrderDiffers
from exportdiff.judging.checks.structure.signature import SignatureMismatch, SpecKind, SpecTarget, TableNames
from exportdiff.judging.checks.structure.translation import Occurrence, StepDiffers, StepMoved
from exportdiff.judging.verdict import judge
from exportdiff.known.corpus.entry import read_entry
from exportdiff.lab.faults import FAULTS
from exportdiff.repro import NoReproError, repro_source
from exportdiff.repro.writers.table import WRITERS
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.inputs.deviations import DEVIATIONS, PROMISED_DEVIATIONS
from exportdiff.runtime.observing.failure import Failure
from exportdiff.runtime.observing.process_state import SETTINGS
from exportdiff.runtime.observing.sizes import Resized
from exportdiff.runtime.paths import parse, select_paths
from support.in_process import run_script as run

SOURCE = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(2),)
"""


def finding(evidence: Evidence, check: str = "outputs", path: str = "nonstrict:unflatten@cpu") -> Finding:
    return Finding(parse(path), check, evidence)


def leaf(word: str = "value") -> LeafDifference:
    return LeafDifference(word, "1.0", "2.0")


def failure(stage: Stage = "run", name: str = "KeyError") -> Failure:
    return Failure(stage, (f"builtins.{name}",), "what torch says", ())


VALUE = OutputLeaf(0, "[0]", "fresh", leaf())
B = frozenset({"b", "output[0]"})
LINEAR = (Occurrence("aten.linear.default", 0),) * 2
MUL = (Occurrence("aten.mul.Tensor", 0),) * 2
RETURN = (Occurrence("return", 0),) * 2
SIZE_REFUSED = SizeRefused(
    "args[0].shape[0]",
    2,
    "Dim('n', min=2)",
    "2 and more",
    "promised",
    (Resized("[0][0]", 0, 3),),
    failure(name="AssertionError"),
)
STATE_LATER = StateLeaf(2, "b", "buffer", leaf())
STAGES: tuple[Stage, Stage] = ("export", "lower")

EVIDENCE: list[tuple[str, Evidence]] = [
    *(
        each
        for call in (0, 2)
        for each in (
            *(
                ("outputs", OutputLeaf(call, "[0]", "fresh", leaf(word)))
                for word in ("value", "dtype", "shape", "stride", "kind", "python-value")
            ),
            ("outputs", OutputStructure(call, "a", "b")),
            ("outputs", OutputAttribute(call, "['a'].tag", "str: 'a'", "")),
            ("outputs", OutputIdentity(call, B, ("buffer",), new=False)),
            ("outputs", OutputIdentity(call, B, ("buffer",), new=True)),
            ("aliasing", OutputMemory(call, B, ("buffer",), new=False)),
            ("aliasing", OutputMemory(call, B, ("buffer",), new=True)),
            *(
                ("inputs", InputLeaf(call, "args[0]", leaf(word)))
                for word in ("value", "requires-grad", "offset", "python-value")
            ),
            ("inputs", InputStructure(call, "a", "b")),
            ("state", StateLeaf(call, "b", "buffer", leaf())),
            ("state", StateLeaf(call, "k", "constant", leaf())),
            ("state", UpdateLost(call, "b", "buffer", leaf())),
            ("guards", CallRefused(call, "value", probe=False, failure=failure(name="AssertionError"))),
        )
    ),
    ("outputs", OnlyEagerRaised(2, failure())),
    ("aliasing", WriteRefused(2, "output['a']", in_eager=True)),
    ("aliasing", WriteBarred(2, "output['a']", failure())),
    ("aliasing", BackwardBarred(2, failure())),
    ("aliasing", WriteShows(2, "output['a']", "b", ("buffer",), in_eager=True)),
    ("aliasing", WriteDiffers(2, "output['a']", "b", ("buffer",), leaf())),
    ("gradients", GradientLeaf("l.weight", "state", leaf())),
    ("gradients", GradientFlow("l.weight", "state", lost=True)),
    ("memory", WeightsKept(("l.weight",))),
    ("gradients", BackwardRaised(failure())),
    ("state", StateLeaf(None, "l.weight", "parameter", leaf("stride"))),
    ("state", StateMissing("b", "buffer", "float32[2]")),
    ("state", StateAdded(("true_graph_0.k",))),
    ("sharing", TensorSplit(B, "buffer")),
    ("sharing", TensorsMerged(B)),
    ("sharing", MemorySplit(B)),
    ("sharing", MemoryMerged(B)),
    ("sharing", CallVariantState(frozenset({"l@1.weight"}))),
    ("sharing", EditDiffers(3, "[0]", leaf())),
    ("sharing", EditRaised(3, failure())),
    *(("guards", WrongRecord("input", "args[0]", leaf(word))) for word in ("stride", "value")),
    ("guards", WrongRecord("buffer", "b", leaf("shape"))),
    ("guards", SIZE_REFUSED),
    ("guards", WrongRecord("parameter", "l.weight", leaf("dtype"))),
    *(
        ("purity", each)
        for stage in STAGES
        for each in (
            StateChanged(stage, "b", "buffer", leaf(), missing=False),
            StateChanged(stage, "l.weight", "parameter", leaf(), missing=True),
            StateChanged(stage, "k", "constant", leaf(), missing=False),
            HeldTensorChanged(stage, "held['u']", "constant", leaf(), missing=False),
            StateCreated(stage, "late", "buffer", "Tensor float32[1]"),
            StateSharingChanged(stage),
            ExampleInputChanged(stage, "args[0]", leaf()),
            *(ModuleChanged(stage, sort, ("l",)) for sort in ("training flag", "hooks", "attribute")),
            ModuleChanged(stage, "attribute of an unregistered module", ("held['v'].k",)),
            ModuleChanged(stage, "fake tensor in an object", ("model.cache.items[0]",)),
            *(ProcessChanged(stage, (name,)) for name in SETTINGS),
            ProcessChanged(stage, ("sizes marked on the example inputs",)),
            *(Printed(stage, f"standard {stream}", "text", failed=False) for stream in ("output", "error")),
        )
    ),
    ("purity", ProcessChanged("lower", ("graph of the exported program",))),
    *(("purity", ProcessLeftDifferent(call, "grad mode", None, "IndexError", None)) for call in (0, 2)),
    ("structure", CallsUnknown(("m",))),
    *(("structure", CallOrder(stage, ("l",), ())) for stage in STAGES),
    ("structure", CallMissing("l", ("l",), ())),
    *(("structure", SignatureMismatch(side, ("a",), ("b",))) for side in ("inputs", "outputs")),
    *(("structure", TableNames(table, ("a",), ())) for table in ("module_call_graph", "state_dict")),
    ("structure", SpecKind("b", "buffer", "buffer", "parameter")),
    *(("structure", OrderDiffers(what, ("a", "b"), ("b", "a"))) for what in ("parameters", "buffers")),
    ("structure", SpecTarget("b", "buffer", "buffer")),
    *(("structure", GraphBroken(stage, "a loop")) for stage in STAGES),
    ("structure", ModuleCycle("l")),
    ("structure", ModulesMissing(("l",), called=True)),
    ("structure", ModulesUnknown(("x",))),
    ("structure", NeedlessVariant(("l", "l@1"), "graph")),
    *(
        ("structure", StepDiffers((what,), None, 0, "a", "b", LINEAR))
        for what in ("missing", "extra", "order")
    ),
    *(
        ("structure", StepDiffers((what,), None, 0, "a", "b", LINEAR))
        for what in ("missing", "extra", "order", "arguments", "operands")
    ),
    ("structure", StepDiffers(("missing", "operator"), None, 0, "a", "b", LINEAR, dead=True)),
    ("structure", StepDiffers(("operands",), None, 0, "a", "b", RETURN)),
    *(("structure", StepMoved(word, 0, "a", "b", LINEAR, LINEAR)) for word in ("owner", "call")),
    ("fake", WrongFake("add", "aten.add.Tensor", leaf("dtype"), reloaded=False)),
    ("fake", WrongFake("add", "aten.add.Tensor", leaf("shape"), reloaded=False)),
    ("alive", ProcessDied("abort", "signal 11")),
    ("alive", ProcessDied("abort", "more than 4096 MiB of memory", 4096)),
]
"""Of each class of evidence at least one."""


def ids(check: str, evidence: Evidence) -> str:
    return "-".join((check, evidence.stage, *evidence.words(), str(evidence.call)))


def on_each_runner() -> Iterator[ParameterSet]:
    """Yield each evidence with each runner that can show it; in turn, one of the two each time."""
    for number, (check, evidence) in enumerate(EVIDENCE):
        without_hierarchy = evidence.stage == "lower" and check == "structure"
        runners = ("unflatten",) if without_hierarchy else ("module", "unflatten")
        for place, runner in enumerate(runners):
            marks = [] if (number + place) % len(runners) == 0 else [pytest.mark.nightly]
            name = f"{ids(check, evidence)}-{runner}"
            yield pytest.param(check, evidence, runner, marks=marks, id=name)


@pytest.mark.parametrize(("check", "evidence", "runner"), list(on_each_runner()))
def test_every_evidence_has_a_file_that_runs(
    check: str, evidence: Evidence, runner: str, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding(evidence, check, f"nonstrict:{runner}@cpu"), STATEFUL))
    code, printed = run(file)
    assert (code, printed[:3]) == (0, "ok:"), printed


def test_the_graph_of_a_program_for_inference_runs_without_gradients(tmp_path: pathlib.Path) -> None:
    evidence = WrongFake("while_loop", "while_loop", leaf("offset"), reloaded=False)
    for path, inference in (("nonstrict+decompose:module@cpu", True), ("nonstrict:module@cpu", False)):
        file = tmp_path / "repro.py"
        file.write_text(repro_source(finding(evidence, "fake", path), STATEFUL))
        assert ("with torch.no_grad():\n        compare.run" in file.read_text()) == inference
        assert run(file)[0] == 0


def test_evidence_comes_back_from_the_journal() -> None:
    assert [evidence for _, evidence in EVIDENCE if loads(dumps(evidence)) != evidence] == []


def test_every_class_of_evidence_is_written() -> None:
    """Compiled paths and copies have tests of their own below."""
    elsewhere = {
        PathRaised,
        WrongAnswer,
        RefusedButChanged,
        BrokenByRefusal,
        KeywordsRefused,
        DeviatingCallRaised,
        Recompiled,
        CopyShares,
        AttributeDiffers,
    }
    written = {type(evidence) for _, evidence in EVIDENCE} | elsewhere
    assert written == {
        each
        for each in below(Evidence)
        if each.__module__.startswith("exportdiff.judging.checks") and not each.__name__.startswith("_")
    }
    assert set(WRITERS) == {*CHECKS, ALIVE}


def below(base: type[object]) -> Iterator[type[object]]:
    for each in base.__subclasses__():
        if not isabstract(each):
            yield each
        yield from below(each)


COMPILED: list[tuple[str, Evidence] | ParameterSet] = [
    ("guards", Recompiled("forward", "program", "")),
    ("outputs", VALUE),
    ("outputs", OutputLeaf(2, "[0]", "fresh", leaf())),
    ("outputs", OutputIdentity(0, B, ("buffer",), new=True)),
    ("inputs", InputLeaf(2, "args[0]", leaf())),
    ("inputs", InputStructure(2, "a", "b")),
    ("state", StateLeaf(2, "b", "buffer", leaf())),
    ("state", AttributeDiffers(1, "k", "a tensor", "nothing")),
    ("sharing", EditDiffers(3, "[0]", leaf())),
    *(
        ("purity", ProcessLeftDifferent(1, name, None, "", None))
        for name in ("grad mode", "text on standard output", "text on standard error")
    ),
    pytest.param("alive", ProcessDied("abort", "signal 11"), marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("check", "evidence"), COMPILED)
def test_evidence_of_compiled_paths_has_a_file_that_runs(
    check: str, evidence: Evidence, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding(evidence, check, "compile:compiled@cpu"), STATEFUL))
    assert "torch.export" not in file.read_text()
    code, printed = run(file)
    assert (code, printed[:3]) == (0, "ok:"), printed


DIES_IN_A_PROBE = """\
import os

import torch
from torch import nn


@torch.library.custom_op("test_repro::dies_if_empty", mutates_args=())
def dies_if_empty(x: torch.Tensor) -> torch.Tensor:
    if not x.numel():
        os.abort()
    return x.clone()


dies_if_empty.register_fake(torch.empty_like)


class Model(nn.Module):
    def forward(self, x):
        return dies_if_empty(x)


def make():
    return Model(), (torch.ones(3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def probes():
    return [((torch.ones(4, 4),), {}), ((torch.ones(0),), {})]
"""


def test_a_file_for_a_dead_process_makes_all_calls(tmp_path: pathlib.Path) -> None:
    """A call that raises, such as the first probe, does not end the file."""
    file = tmp_path / "repro.py"
    died = finding(ProcessDied("abort", "SIGABRT"), "alive", "nonstrict:module@cpu")
    file.write_text(repro_source(died, DIES_IN_A_PROBE))
    assert run(file) == (1, "BUG: -6\n")


@pytest.mark.parametrize("path", ["nonstrict+deepcopy:module", "nonstrict+duplicate:module"])
def test_copies_are_compared_with_their_originals(path: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding(CopyShares(("b",)), "sharing", path), STATEFUL))
    assert run(file) == (0, "ok: they share nothing\n")


OF_PARTS = """\
import torch
from torch import nn
from torch.testing._internal.two_tensor import TwoTensor


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(()))

    def forward(self, x):
        self.b.add_(1)
        return x * 2


def make():
    return Model(), ({made},)
"""


@pytest.mark.parametrize(
    "made",
    [
        "TwoTensor(torch.ones(2, 3), torch.zeros(2, 3))",
        "torch.eye(3).to_sparse()",
    ],
)
def test_a_file_compares_the_parts_of_tensors(made: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "repro.py"
    for check, evidence in (("outputs", OutputLeaf(2, "[0]", "fresh", leaf())), ("state", STATE_LATER)):
        file.write_text(repro_source(finding(evidence, check), OF_PARTS.replace("{made}", made)))
        code, printed = run(file)
        assert (code, printed[:3]) == (0, "ok:"), printed


def test_only_tensors_of_parts_are_taken_apart() -> None:
    assert "parts(" not in repro_source(finding(VALUE), STATEFUL)


STATEFUL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.m = self.l
        self.drop = nn.Dropout()
        self.register_buffer("b", torch.zeros(2))
        self.k = torch.ones(2)
        self.held = {"u": torch.ones(2), "v": nn.ReLU()}

    def forward(self, x, n, scale=None):
        self.b.add_(1)
        x.mul_(2)
        return {"a": self.drop(self.l(x)) * scale + self.b + self.k, "n": n}


def make():
    return Model(), (torch.ones(3, 2), 3), {"scale": torch.ones(2)}
"""


PRESERVED = """\
import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x, pair, flag, *, scale):
        return x * scale + self.w if flag else x - pair["a"]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x, y):
        x = self.child(x, {"a": y}, True, scale=y)
        return self.child(self.child(x, {"a": y}, False, scale=y), {"a": x}, False, scale=x)


def make():
    return Model(), (torch.ones(2), torch.ones(2))
"""


@pytest.mark.parametrize("path", ["nonstrict:unflatten", "nonstrict+preserve_leaves:unflatten"])
@pytest.mark.parametrize(
    "evidence",
    [
        StepDiffers(("arguments",), None, 0, "a", "b", MUL),
        StepDiffers(("operands",), None, 0, "a", "b", MUL, 1),
        StepMoved("owner", 0, "a", "b", MUL),
        StepMoved("call", 0, "a", "b", (Occurrence("aten.sub.Tensor", 1),) * 2, MUL),
    ],
    ids=["arguments", "operands", "owner", "call"],
)
def test_calls_with_graphs_of_their_own_are_followed(
    path: str, evidence: Evidence, tmp_path: pathlib.Path
) -> None:
    transforms = tuple(path.partition(":")[0].split("+")[1:])
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding(evidence, "structure", path), PRESERVED))
    code, printed = run(file)
    assert (code, printed) == (
        0,
        "ok: $runner runs what was exported\n".replace("$runner", "+".join([*transforms, "unflatten"])),
    )


EVERY_WAY = """\
from enum import Enum

import torch
from torch import nn


class Kind(Enum):
    A = 1
    B = 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drops = nn.ModuleList([nn.Dropout(0.0)])
        self.kind = "b"

    def forward(
        self, x, y, z, n, scale=1.0, flag=True, mode="a", mask=None, sort=Kind.A, times=1, w=None, part=None,
        wave=None,
    ):
        x = self.drops[0](x) if self.kind == "b" else x + 1
        x = x * 2 if sort is Kind.B else x * times
        y = y if mask is None else y * mask.sum()
        z = z + w.sum() + part.sum() + wave.abs().sum()
        return {mode: x * n + y.sum() * (scale if flag else 2.0) + z.sum()}


def make():
    x = torch.ones(3, 2)
    given = {"scale": 2.0, "flag": True, "mode": "a", "mask": None, "sort": Kind.A}
    given |= {"times": 1, "w": torch.ones(2, requires_grad=True), "part": torch.ones(3)[1:]}
    given |= {"wave": torch.ones(2, dtype=torch.complex64)}
    return Model(), (torch.zeros(3, 2), x, x, 3), given
"""


def ways_to_leave_the_spec() -> Iterator[ParameterSet]:
    """Yield each deviation with each result; each time, one result of each deviation, and all results."""
    results = ("accepted", "served", "refused-but-changed", "after-refusal", "left")
    for (row, deviation), (column, what) in itertools.product(enumerate(DEVIATIONS), enumerate(results)):
        marks = [] if (row + column) % len(results) == 0 else [pytest.mark.nightly]
        yield pytest.param(deviation, what, marks=marks, id=f"{deviation}-{what}")


def test_refused_keywords_have_a_file_that_runs(tmp_path: pathlib.Path) -> None:
    altered = Altered("order", "the keys of kwargs come in another order", "kwargs", "")
    file = tmp_path / "repro.py"
    evidence = KeywordsRefused(3, altered, failure())
    source = FAULTS["module_mixes_up_keywords"].source
    file.write_text(repro_source(finding(evidence, "guards", "nonstrict:unflatten@cpu"), source))
    assert run(file) == (0, "ok: unflatten accepts keyword arguments in another order\n")


@pytest.mark.parametrize(("deviation", "what"), list(ways_to_leave_the_spec()))
def test_every_way_to_leave_the_spec_has_a_file_that_runs(
    deviation: str, what: str, tmp_path: pathlib.Path
) -> None:
    model, examples = build(case_from_source(EVERY_WAY), "cpu")
    calls = examples.deviations({deviation}, "", model)
    assert calls
    # The others are not promised to be noticed, or are not (corpora/open/export_accepts_*).
    noticed = what not in ("served", "left") and deviation in ("flag", "number", "text", "size")
    # What ep.module() refuses before the call leaves nothing.
    noticed |= (
        what == "left" and deviation in PROMISED_DEVIATIONS["nonstrict"] and not DEVIATIONS[deviation].first
    )
    path = "nonstrict:module@cpu" if noticed else "compile:compiled@cpu"
    for one in calls:
        value = repr(one.leaf) if isinstance(one.target, str) else ""
        altered = Altered(deviation, one.description, one.where, value)
        evidence: dict[str, tuple[str, Evidence]] = {
            "accepted": ("guards", WrongAnswer(3, altered, "output['a']", leaf())),
            "served": ("guards", DeviatingCallRaised(3, altered, failure())),
            "refused-but-changed": ("guards", RefusedButChanged(3, altered, "b")),
            "after-refusal": ("guards", BrokenByRefusal(3, altered, "", leaf())),
            "left": ("purity", ProcessLeftDifferent(1, "grad mode", altered, "", None)),
        }
        check, shown = evidence[what]
        file = tmp_path / "repro.py"
        file.write_text(repro_source(finding(shown, check, path), EVERY_WAY))
        around = DEVIATIONS[deviation].around
        if isinstance(one.target, str):
            assert f".{one.target.rpartition('.')[2]} = {one.leaf!r}\n" in file.read_text()
        elif first := DEVIATIONS[deviation].first:
            assert f".{first.removeprefix('model.')}\n" in file.read_text()
        else:
            assert f"with {around}:" in file.read_text() if around else "def other(" in file.read_text()
        code, printed = run(file)
        taken = what in ("refused-but-changed", "after-refusal") and str(code).endswith("accepts the call")
        assert taken or (code, printed[:3]) == (0, "ok:"), printed
    assert calls


@pytest.mark.parametrize(
    ("fault", "forward", "words", "line"),
    [
        (
            "grad_mode_is_not_guarded",
            "return x * 2 if torch.is_grad_enabled() else x + 2",
            "torch.no_grad() is in force",
            "with torch.no_grad():",
        ),
        (
            "grad_mode_is_not_guarded",
            "with torch.no_grad():\n            y = x * 2\n        return y + 1",
            "torch.no_grad() is in force",
            "with torch.no_grad():",
        ),
        (
            "attributes_are_not_guarded",
            "return x * self.scale\n\n"
            "    def __init__(self):\n        super().__init__()\n        self.scale = 3.0",
            "model.scale is 4.0, not 3.0",
            "candidate.scale = 4.0",
        ),
    ],
)
def test_what_is_not_guarded_besides_arguments_has_a_file_that_shows_it(
    fault: str, forward: str, words: str, line: str, tmp_path: pathlib.Path
) -> None:
    source = SOURCE.replace("return x + 1", forward).replace("torch.ones(2)", "torch.full((2,), 0.5)")
    case = replace(case_from_source(source), thorough=True)
    with FAULTS[fault].plant():
        (found,) = judge(case, select_paths(["compile:compiled"])).findings
    assert f"in which {words}" in found.message
    file = tmp_path / "repro.py"
    file.write_text(repro_source(found, source))
    assert line in file.read_text()
    with FAULTS[fault].plant():
        code, printed = run(file)
    assert (code, printed[:4]) == (1, "BUG:"), printed
    assert run(file)[0] == 0


@pytest.mark.parametrize("stage", ["export", "lower", "run"])
@pytest.mark.parametrize("call", [None, 0, 1])
def test_every_stage_of_crash_has_a_file_that_runs(
    stage: Stage, call: int | None, tmp_path: pathlib.Path
) -> None:
    shown = finding(PathRaised(failure(stage), call))
    file = tmp_path / "repro.py"
    file.write_text(repro_source(shown, STATEFUL))
    code, printed = run(file)
    assert (code, printed[:3]) == (0, "ok:"), printed


class AnotherError(Exception):
    """What no file takes for its bug."""


def fails(*args: object, **kwargs: object) -> None:
    raise AnotherError("the torch of this test fails")


# A file about a process that dies runs the path in another process, where nothing is patched.
IN_PROCESS = [(check, evidence) for check, evidence in EVIDENCE if check != "alive"]


@pytest.mark.parametrize(("check", "evidence"), IN_PROCESS, ids=[ids(*each) for each in IN_PROCESS])
def test_another_failure_of_a_file_is_not_its_bug(
    check: str, evidence: Evidence, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding(evidence, check), STATEFUL))
    monkeypatch.setattr(torch.export, "export", fails)
    if check == "purity" and evidence.stage == "export":
        assert run(file)[0] == 0  # whatever export raises, it left all as it was
        return
    with pytest.raises(AnotherError):
        run(file)


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (RuntimeError("sizes of tensor 12 must match at [0]"), 1),
        (RuntimeError("sizes of tensor 34 must match at [1]"), 1),
        (RuntimeError("another text"), None),
        (KeyError("sizes of tensor 12 must match at [0]"), None),
        (None, 0),
    ],
)
def test_only_the_exception_of_the_finding_is_the_bug(
    raised: Exception | None, code: int | None, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding(PathRaised(SIZES, None)), SOURCE))
    if raised is not None:
        monkeypatch.setattr(torch.export, "export", mock.Mock(side_effect=raised))
    if code is not None:
        assert run(file)[0] == code
    else:
        with pytest.raises(type(raised) if raised else AssertionError):
            run(file)


SIZES = Failure("export", ("builtins.RuntimeError",), "sizes of tensor 56 must match at [2]", ())


def test_a_file_exits_with_3_after_another_exception(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "repro.py"
    text = repro_source(finding(PathRaised(SIZES, None)), SOURCE)
    file.write_text(text.replace("\nif __name__", "\ndel torch.export.export\n\nif __name__"))
    assert subprocess.run([sys.executable, file], capture_output=True, check=False).returncode == 3


def test_file_is_short_has_metadata_and_stands_alone(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "repro.py"
    text = repro_source(replace(finding(VALUE), draws=frozenset()), SOURCE)
    file.write_text(text)
    assert SOURCE.strip() in text.replace("import sys\nimport warnings\n\n", "")
    assert "harness" not in text
    shown = text.partition("return Model()")[2]
    assert len([line for line in shown.splitlines() if line]) <= 25
    entry = read_entry(file)
    assert (entry.status, entry.fingerprint, entry.problem) == ("open", finding(VALUE).fingerprint, "")
    assert max(map(len, text.splitlines())) <= 100


def test_repro_of_a_repro_replaces_header_and_script() -> None:
    once = repro_source(finding(VALUE), SOURCE)
    assert repro_source(finding(VALUE), once) == once


def test_other_devices_build_there() -> None:
    text = repro_source(finding(VALUE, path="nonstrict:unflatten@cuda"), SOURCE)
    assert 'with torch.device("cuda"):' in text


@pytest.mark.parametrize(
    ("unknown", "check"), [(Path("later", "module"), "outputs"), (Path("nonstrict", "module"), "later")]
)
def test_unknown_modes_and_checks_are_said_to_be_unknown(unknown: Path, check: str) -> None:
    with pytest.raises(NoReproError, match="later"):
        repro_source(Finding(unknown, check, VALUE), SOURCE)


def test_a_purity_file_bears_with_an_export_that_refuses(tmp_path: pathlib.Path) -> None:
    refused = SOURCE.replace("return x + 1", "return x + 1 if x.sum() > 0 else x")
    shown = finding(ModuleChanged("export", "hooks", ("l",)), "purity")
    file = tmp_path / "repro.py"
    file.write_text(repro_source(shown, refused))
    assert run(file)[0] == 0


def test_what_machine_code_is_compared_as_is_a_module() -> None:
    """What loads a package returns is none, and what looks at state, or at names of memory, needs one."""
    program = (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        return x + 1\n\n\ndef make():\n    return Model(), (torch.ones(2),)\n"
    )
    text = repro_source(finding(VALUE, path="aoti:package@cpu"), program)
    assert "class Packaged(torch.nn.Module):" in text and "candidate = packaged(ep)" in text
