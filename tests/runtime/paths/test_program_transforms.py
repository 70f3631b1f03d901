"""What programs become along the paths that transform them: what is compared, and with what."""

from __future__ import annotations

import copy
import pathlib
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import nn

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.finding import Evidence
from exportdiff.core.path import Path
from exportdiff.judging.checks.aliasing import OutputMemory, WriteShows
from exportdiff.judging.checks.compare.leaves import LeafDifference
from exportdiff.judging.checks.inputs import InputLeaf
from exportdiff.judging.checks.outputs import OutputIdentity, OutputLeaf
from exportdiff.judging.checks.sharing import sharing
from exportdiff.judging.checks.state import StateAdded, StateLeaf, StateMissing
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.repro import repro_source
from exportdiff.runtime.observing.aliasing import Memory
from exportdiff.runtime.observing.observation import Call, EagerObservation, ExportedObservation, Observation
from exportdiff.runtime.observing.tensors import (
    Composed,
    State,
    TensorSnapshot,
    state_snapshot,
    tree_snapshot,
)
from exportdiff.runtime.paths import export_key, parse
from exportdiff.runtime.paths.catalog import for_inference
from exportdiff.runtime.paths.read.graph_inputs import written_back
from exportdiff.runtime.paths.transforms.programs import reexport, reexport_unflattened
from exportdiff.runtime.processes.script import run_file
from support.evidence_of import limit_name

SPEC = """
def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "y": {0: n}}
"""
TWO = """
class Model(nn.Module):
    def forward(self, x, y):
        return x + y
"""


def along(case: Case, *paths: str) -> Verdict:
    return judge(case, [parse(path) for path in paths])


# --- exporting again ---


@pytest.mark.parametrize("path", ["nonstrict+reexport:module", "nonstrict+reexport_unflattened:module"])
def test_what_was_exported_is_exported_again_with_its_dynamic_sizes(
    case: Callable[[str, str], Case], path: str
) -> None:
    dynamic = case_from_source(case(TWO, "(torch.ones(3), torch.ones(3))").source + SPEC)
    (result,) = along(dynamic, path).paths
    assert (result.status, result.reason) == ("ok", "")


class Rest(nn.Module):
    """Takes arguments whose number nobody knows."""

    def forward(self, x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        return x + rest[0] * rest[1]


@pytest.mark.parametrize("transform", [reexport, reexport_unflattened])
def test_each_argument_keeps_its_spec(transform: Callable[..., torch.export.ExportedProgram]) -> None:
    def spec() -> dict[str, object]:
        n = torch.export.Dim("n")
        return {"x": {0: n}, "rest": ({0: n}, None)}

    args = (torch.ones(3, 2), torch.ones(3, 2), torch.ones(1))
    ep = torch.export.export(Rest(), args, dynamic_shapes=spec(), strict=False)
    again = transform(ep, dynamic_shapes=spec(), strict=False)
    taken = [node.meta["val"] for node in again.graph.find_nodes(op="placeholder")]
    sizes = [tensor.shape[0] for tensor in taken]
    assert [isinstance(size, torch.SymInt) for size in sizes] == [True, True, False]


LATER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("part", torch.ones(3)[1:])

    def forward(self, x):
        return x * self.part
"""


def test_a_copy_is_recorded_as_what_it_is(case: Callable[[str, str], Case]) -> None:
    verdict = along(case(LATER, "(torch.ones(2),)"), "nonstrict+reexport_unflattened:module")
    assert verdict.findings == ()


# --- one export, many paths ---


def test_what_changes_a_program_in_place_has_an_export_of_its_own() -> None:
    assert export_key(parse("nonstrict+todevice:module")) != export_key(parse("nonstrict:module"))
    assert export_key(parse("nonstrict+reload:module")) == export_key(parse("nonstrict:module"))


# --- one cause, one signature ---


@pytest.mark.parametrize("view", ["x[1:]", "x.narrow(0, 1, 1)", "x.split(1)[1]"])
def test_offsets_that_a_file_does_not_tell_are_one_finding(
    case: Callable[[str, str], Case], view: str
) -> None:
    body = f"class Model(nn.Module):\n    def forward(self, x):\n        return {view}"
    (finding,) = along(case(body, "(torch.ones(2),)"), "nonstrict+reload:module").findings
    assert finding.signature == ("fake", "mismatch", "offset", "reload")


# --- what is written back ---


class Writes(nn.Module):
    """Writes to a buffer and to an input."""

    buf: torch.Tensor
    other: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("buf", torch.zeros(2))
        self.register_buffer("other", torch.zeros(2))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.buf += x
        y.add_(1)
        return x + self.other


def test_names_of_what_is_written_back() -> None:
    args = (torch.ones(2), torch.ones(2))
    ep = torch.export.export(Writes(), args, strict=False)
    handed_in = tree_snapshot((args, {}))
    assert written_back(ep, handed_in).written == set()
    assert written_back(ep.run_decompositions(), handed_in).written == {"buf", "input args[1]"}


EAGER = Path("eager", "model")


def decomposed(*shared: set[str], path: str = "nonstrict+decompose:module@cpu") -> ExportedObservation:
    groups = tuple(map(frozenset, shared))
    call = Call(tree_snapshot(((), {})), State({}, {}), memory=Memory(same=groups, shared=groups))
    parsed = parse(path)
    return ExportedObservation(
        parsed, calls=(call,), written=frozenset({"buf"}), for_inference=for_inference(parsed)
    )


VALUE = LeafDifference("value", "1.0", "2.0")
HISTORY = LeafDifference("requires-grad", "True", "False")


def excuse(found: Evidence, path: Observation) -> str:
    return limit_name(found, EagerObservation(EAGER, calls=path.calls), path)


def identity(*names: str) -> Evidence:
    return OutputIdentity(0, frozenset(names), ("buffer", "output"), new=False)


def memory(*names: str) -> Evidence:
    return OutputMemory(0, frozenset(names), ("buffer", "output"), new=False)


def write(output: str, name: str) -> Evidence:
    return WriteShows(1, output, name, ("buffer",), in_eager=True)


@pytest.mark.parametrize("parted", [identity, memory])
def test_what_is_written_back_is_no_alias(parted: Callable[..., Evidence]) -> None:
    name = "written-back-is-no-alias"
    assert excuse(parted("buf", "output"), decomposed()) == name
    assert excuse(parted("kept", "output"), decomposed()) == ""
    assert excuse(parted("buf", "output"), decomposed(path="nonstrict:module@cpu")) == ""
    # Outputs part from the buffer, but not from each other.
    both = parted("buf", "output[0]", "output[1]")
    assert excuse(both, decomposed()) == ""
    assert excuse(both, decomposed({"output[0]", "output[1]"})) == name
    assert excuse(both, decomposed({"buf", "output[1]"})) == name


def test_a_new_value_that_is_returned_is_what_was_written_to() -> None:
    path = replace(decomposed(), returned=frozenset({"buf"}))
    assert excuse(identity("buf", "output"), path) == ""
    assert excuse(memory("buf", "output"), path) == "written-back-is-no-alias"
    alone = replace(path, path=parse("nonstrict+decompose+lifted:module@cpu"))
    assert excuse(identity("buf", "output"), alone) == "written-back-is-no-alias"


def test_a_view_of_the_same_memory_need_not_be_the_same_tensor() -> None:
    path = decomposed()
    memory = Memory(shared=(frozenset({"kept", "output"}),))
    path = replace(path, calls=(replace(path.calls[0], memory=memory),))
    assert excuse(identity("kept", "output"), path) == "written-back-is-no-alias"
    assert excuse(OutputLeaf(0, "", "fresh", VALUE), path) == ""


def test_a_write_shows_everywhere_but_in_what_is_written_back() -> None:
    name = "written-back-is-no-alias"
    assert excuse(write("output", "buf"), decomposed()) == name
    assert excuse(write("output", "kept"), decomposed()) == ""
    # Eager writes to a buffer, and returns it and a view of it: here the view is one of the new value.
    calls = decomposed({"buf", "output[0]", "output[1]"}).calls
    eager = EagerObservation(EAGER, calls=calls)
    apart = write("output[0]", "output[1]")
    for path, expected in ((decomposed({"buf", "output[0]"}), name), (decomposed(), "")):
        assert limit_name(apart, eager, path) == expected
    assert excuse(apart, decomposed({"buf", "output[0]"})) == ""


def test_history_is_promised_of_what_trains_only() -> None:
    found = OutputLeaf(0, "", "fresh", HISTORY)
    assert excuse(found, decomposed()) == "results-have-no-history"
    functional = "nonstrict+functionalize:module@cpu"
    assert excuse(found, decomposed(path=functional)) == "results-have-no-history"
    after = InputLeaf(0, "args[0]", HISTORY)
    assert excuse(after, decomposed()) == "results-have-no-history"
    for difference in (found, after):
        assert excuse(difference, decomposed(path="nonstrict+reload:module@cpu")) == ""
    assert excuse(StateLeaf(None, "b", "buffer", HISTORY), decomposed()) == ""
    # What the path alone makes a history of: results may, state and inputs may not.
    more = LeafDifference("requires-grad", "False", "True")
    assert excuse(OutputLeaf(0, "", "fresh", more), decomposed()) == "results-have-no-history"
    assert excuse(InputLeaf(0, "args[0]", more), decomposed()) == ""
    assert excuse(StateLeaf(0, "b", "buffer", more), decomposed()) == ""


READS_PARTS = """
from torch.testing._internal.two_tensor import TwoTensor

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", TwoTensor(torch.ones(2), torch.ones(2)))

    def forward(self, x):
        scaled = x * self.scale
        return scaled.a + scaled.b
"""


def test_a_decomposed_program_has_the_parts_of_a_subclass(case: Callable[[str, str], Case]) -> None:
    given = case(READS_PARTS, "(torch.ones(2, requires_grad=True),)")
    paths = [parse("nonstrict+decompose:module"), parse("nonstrict+decompose:unflatten")]
    verdict = judge(given, paths, ["state", "structure", "gradients"])
    assert verdict.findings == ()
    for result in verdict.paths:
        assert "subclasses-in-state-are-unwrapped" in result.excused
    whole = TensorSnapshot("float32", (2,), (1,), 0, False, "cpu", None, composed=Composed("Two", {}, ""))
    eager = EagerObservation(EAGER, before=State({"a.scale": whole}, {}))
    for name, expected in (("a.parametrizations.scale.original1", True), ("a.scale.original1", False)):
        limit = limit_name(StateAdded((name,)), eager, decomposed())
        assert (limit == "subclasses-in-state-are-unwrapped") == expected
    assert limit_name(StateMissing("a.scale", "buffer", ""), eager, decomposed()) != ""
    assert limit_name(StateMissing("a.other", "buffer", ""), eager, decomposed()) == ""


# --- refusals ---

COUNTS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(2)

    def forward(self, x):
        return x + self.count.add_(1)
"""
SETS = """
class Model(nn.Module):
    def forward(self, x, y):
        x.set_(y)
        return x + 1
"""
PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor

class Model(nn.Module):
    def forward(self, x):
        return Pair(x + 1, x)
"""
PARTS = """
from dataclasses import dataclass

@dataclass
class Parts:
    left: torch.Tensor

torch.export.register_dataclass(Parts)

class Model(nn.Module):
    def forward(self, x):
        return Parts(x + 1)
"""
KIND = """
from enum import Enum

class Kind(Enum):
    A = 1

class Model(nn.Module):
    def forward(self, x, kind):
        return x + 1
"""


PARTED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("whole", torch.zeros(2))
        self.register_buffer("part", self.whole.data[:1])

    def forward(self, x):
        self.whole.add_(1)
        return x + self.part
"""
GAPS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(6)[::2])

    def forward(self, x):
        return x + self.w, self.w.select(0, 1)
"""


def test_a_copied_parameter_is_packed(case: Callable[[str, str], Case]) -> None:
    paths = [parse("nonstrict+deepcopy:module"), parse("nonstrict+duplicate:module")]
    assert judge(case(GAPS, "(torch.ones(3),)"), paths, ["state", "outputs", "fake"]).findings == ()


VIEWED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.{attr} = {made}
        self.register_buffer("view", self.{attr}.data)

    def forward(self, x):
        with torch.no_grad():
            self.{attr}.add_(1)
        return x + self.view
"""


def test_a_copied_parameter_has_memory_of_its_own(case: Callable[[str, str], Case]) -> None:
    paths = [parse("nonstrict+deepcopy:module"), parse("nonstrict+duplicate:module")]
    parameter = case(VIEWED.format(attr="w", made="nn.Parameter(torch.ones(3))"), "(torch.ones(3),)")
    assert judge(parameter, paths, ["state", "outputs", "sharing", "aliasing"]).findings == ()
    assert copy.deepcopy(parameter.build().model)(torch.ones(3)).tolist() == [2, 2, 2]


def test_copied_buffers_keep_the_memory_that_they_share() -> None:
    def state(model: nn.Module, *shared: str) -> State:
        return replace(state_snapshot(model), shared=(frozenset(shared),) if shared else ())

    model = nn.Module()
    model.w = nn.Parameter(torch.ones(2))
    model.register_buffer("b", torch.ones(2))
    model.register_buffer("c", torch.ones(2))
    copied = ExportedObservation(parse("nonstrict+deepcopy:module@cpu"), before=state(model))
    for pair, name in (("w", "b"), "copied-parameters-have-memory-of-their-own"), (("b", "c"), ""):
        eager = EagerObservation(EAGER, before=state(model, *pair))
        (apart,) = sharing(eager, copied)
        assert limit_name(apart, eager, copied) == name


@pytest.mark.parametrize(
    ("body", "args", "path", "reason"),
    [
        (COUNTS, "(torch.ones(2),)", "nonstrict+decompose:module", "constant-mutated"),
        (SETS, "(torch.ones(2), torch.ones(2))", "nonstrict+decompose:module", "input-metadata-mutation"),
        (PARTED, "(torch.ones(2),)", "nonstrict+decompose:module", "mutated-aliases"),
        (PAIR, "(torch.ones(2),)", "nonstrict+reload:module", "not-serializable"),
        (PARTS, "(torch.ones(2),)", "nonstrict+reload:module", "not-serializable"),
        (KIND, "(torch.ones(2), Kind.A)", "nonstrict+reload:module", "not-serializable"),
    ],
)
def test_refusals(case: Callable[[str, str], Case], body: str, args: str, path: str, reason: str) -> None:
    # That export itself updates constants is another matter.
    (result,) = judge(case(body, args), [parse(path)], ["outputs"]).paths
    assert (result.status, result.reason) == ("unsupported", reason)


@pytest.mark.parametrize("call", ["topk(1)", "sort()", "max(0)"])
def test_nothing_documents_that_results_of_torch_cannot_be_saved(
    case: Callable[[str, str], Case], call: str
) -> None:
    body = f"class Model(nn.Module):\n    def forward(self, x):\n        return x.{call}\n"
    (finding,) = judge(case(body, "(torch.ones(2),)"), [parse("nonstrict+reload:module")]).findings
    assert finding.signature[:4] == ("outputs", "crash", "lower", "NotImplementedError")


UNREAD = """
class Model(nn.Module):
    def forward(self, x):
        nn.functional.dropout(x)
        return nn.functional.dropout(x)
"""


def test_decomposing_draws_random_numbers_that_nothing_reads(case: Callable[[str, str], Case]) -> None:
    verdict = along(case(UNREAD, "(torch.ones(16),)"), "nonstrict+decompose:module")
    assert [result.status for result in verdict.paths] == ["ok"]


# --- repro files ---

RETURNS = """
class Model(nn.Module):
    def forward(self, x):
        return x.add_(1)
"""


def test_a_file_compares_with_what_became_of_the_program(
    case: Callable[[str, str], Case], tmp_path: pathlib.Path
) -> None:
    returns = case(RETURNS, "(torch.ones(2),)")
    (finding,) = along(returns, "nonstrict+decompose:unflatten").findings
    source = repro_source(finding, returns.source)
    assert "ep = decompose(torch.export.export(model" in source and "unflatten(ep)" in source
    assert "decomposed = ep.run_decompositions()" in source
    file = tmp_path / "file.py"
    file.write_text(source)
    assert run_file(file).code == 1
