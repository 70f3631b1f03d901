"""Dynamic shapes and probes: from the source of a program to findings and repro files."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from exportdiff.core.case import CallArguments, Case, InvalidFactory, case_from_source
from exportdiff.core.finding import Finding
from exportdiff.judging.checks.guards.sizes import SizeRefused
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.lab.faults import FAULTS
from exportdiff.repro import repro_source
from exportdiff.runtime.inputs.copies import CALLS, Examples
from exportdiff.runtime.inputs.resizing import with_size
from exportdiff.runtime.observing.observation import ExportedObservation, Observation
from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.paths.dynamic_sizes import may_narrow
from exportdiff.runtime.paths.run.by_export import observe_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch
from exportdiff.runtime.paths.transforms.apply import varied_case

SOURCE = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return {forward}


def make():
    return Model(), (torch.linspace(0, 1, 12).view(4, 3),)


def dynamic_shapes():
    return {{"x": {{0: {dim}}}}}


def probes():
    return [((torch.ones(6, 3),), {{}}), ((torch.linspace(0, 1, 27).view(9, 3),), {{}})]
"""
EXPORTED = select_paths(["*strict:*"])
NAMED, AUTO, DYNAMIC = "torch.export.Dim('n')", "torch.export.Dim.AUTO", "torch.export.Dim.DYNAMIC"


def program(forward: str, dim: str = NAMED) -> Case:
    return case_from_source(SOURCE.format(forward=forward, dim=dim))


def observed(case: Case) -> list[Observation]:
    return [observe_eager(case, "cpu", Stopwatch()), *observe_paths(case, EXPORTED, Stopwatch())]


def statuses(verdict: Verdict) -> set[str]:
    return {result.reason or result.status for result in verdict.paths}


# --- cases ---


def test_a_program_may_define_shapes_and_probes() -> None:
    case = program("x * 2")
    assert case.build().probes[1].args[0].shape == (9, 3)
    assert str(case.shapes()) == str({"x": {0: torch.export.Dim("n")}})
    plain = case_from_source("import torch\ndef make():\n    return torch.nn.Identity(), ()\nprobes = 3\n")
    assert plain.build().probes == () and plain.shapes() is None


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("3", "probes returned int"),
        ("[torch.ones(2)]", "probe 0 is not a pair"),
        ("[((torch.ones(6, 3),), {}), ((),)]", "probe 1 is not a pair"),
        ("[([], {})]", "probe 0 is not a pair"),
        ("[((), {'x': torch.ones(2)})]", "probe 0 has another structure"),
        ("[((torch.ones(6, 3), 1), {})]", "probe 0 has another structure"),
    ],
)
def test_probes_of_another_form_are_refused(returned: str, said: str) -> None:
    text = SOURCE.format(forward="x", dim=NAMED)
    case = case_from_source(text.partition("def probes")[0] + f"def probes():\n    return {returned}\n")
    with pytest.raises(InvalidFactory, match=said):
        case.build()


def test_probes_are_random_in_the_same_way_each_time() -> None:
    text = SOURCE.format(forward="x", dim=NAMED).replace("torch.ones(6, 3)", "torch.rand(6, 3)")
    one, other = (case_from_source(text).build().probes[0].args[0] for _ in range(2))
    assert torch.equal(one, other)


# --- inputs ---


def test_a_probe_is_copied_as_it_is_and_keeps_its_aliasing() -> None:
    base = torch.zeros(8)
    examples = Examples((torch.ones(4), torch.ones(4)), {}, probes=[_given(base[:5], base[3:])])
    assert examples.calls == CALLS + 1
    left, right = examples.fresh(CALLS).args
    left.add_(1)
    assert right.tolist() == [1, 1, 0, 0, 0] and not base.any()
    assert examples.fresh(CALLS).args[0].tolist() == [0] * 5


@pytest.mark.parametrize(("sizes", "kept"), [((6, 9), 2), ((6, 1, 9), 1), ((0,), 0), ((4,), 1)])
def test_probes_end_where_sizes_are_0_or_1(sizes: tuple[int, ...], kept: int) -> None:
    # Export says that it takes dynamic sizes for larger than that.
    probes = [_given(torch.ones(size, 1)) for size in sizes]
    assert Examples((torch.ones(4, 1),), {}, probes=probes).calls == CALLS + kept


def test_probes_of_sizes_0_and_1_are_calls_of_their_own() -> None:
    probes = [_given(torch.full((size, 1), float(size))) for size in (6, 1, 9, 0)]
    examples = Examples((torch.ones(4, 1),), {}, probes=probes)
    assert examples.small_calls == (CALLS + 1, CALLS + 3)
    assert [examples.fresh(number).args[0].shape[0] for number in examples.small_calls] == [1, 0]


ONE_IS_REFUSED = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return x.view(5, -1)[1] - y


def make():
    return Model(), (torch.ones(20), torch.ones(4))


def dynamic_shapes():
    n = torch.export.Dim("n", min=LEAST, max=8)
    return {"x": {0: 5 * n}, "y": {0: n}}


def probes():
    return [((torch.ones(5 * n), torch.ones(n)), {}) for n in (3, 1)]
"""


def test_a_declared_range_holds_for_size_1_too() -> None:
    # Thread 181097 of torch: "Guard failed: x.size()[0] // 5 != 1".
    (path,) = select_paths(["nonstrict:module"])
    source = ONE_IS_REFUSED.replace("LEAST", "1")
    (finding,) = judge(case_from_source(source), [path]).findings
    assert finding.check == "guards" and finding.evidence.call == CALLS + 1 and finding.probe
    with pytest.raises(SystemExit) as ended, contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(repro_source(finding, source), "repro", "exec"), {"__name__": "__main__"})
    assert ended.value.code == 1 and "BUG" in printed.getvalue()
    assert not judge(case_from_source(ONE_IS_REFUSED.replace("LEAST", "2")), [path]).findings


def test_the_answer_to_a_size_of_1_proves_nothing() -> None:
    # StrictMinMaxConstraint: export "will often unsoundly assume that a graph works for 0/1".
    case = program("x * 10 if x.shape[0] == 1 else x * 2", "torch.export.Dim('n', min=1)")
    case = replace(case, probes=lambda: [((torch.ones(1, 3),), {})])
    _, *paths = observed(case)
    assert [len(seen.small_calls) for seen in paths] == [1] * len(EXPORTED)
    assert not judge(case, EXPORTED).findings


def _given(*args: torch.Tensor) -> CallArguments:
    return CallArguments(args, {})


# --- paths ---


def test_every_path_makes_the_calls_and_then_the_probes() -> None:
    for seen in observed(program("x * x.shape[0]")):
        assert [call.probe for call in seen.calls] == [False] * CALLS + [True, True]
        assert [call.failure for call in seen.calls] == [None] * (CALLS + 2)
        outputs = seen.calls[-1].outputs
        assert outputs is not None
        value = outputs.leaves[0].value
        assert isinstance(value, TensorSnapshot) and value.shape == (9, 3)


def test_a_symbolic_size_is_written_down_and_not_fixed() -> None:
    for seen in observed(program("x.t() * 2"))[1:]:
        assert isinstance(seen, ExportedObservation)
        (recorded,) = [spot.recorded for spot in seen.placeholders]
        assert isinstance(recorded, TensorSnapshot)
        symbol, size = recorded.shape
        assert isinstance(symbol, str) and symbol.isidentifier() and size == 3
        assert recorded.stride == (3, 1) and recorded.offset == 0


@pytest.mark.parametrize(
    "forward",
    ["x * x.shape[0]", "x.mul_(2) + 1", "x.reshape(-1)", "(x.shape[0], x.sum(0))", "torch.cat([x, x])[1:]"],
)
def test_a_sound_dynamic_program_is_ok_on_every_path(forward: str) -> None:
    verdict = judge(program(forward), select_paths(["nonstrict:*"]))
    assert verdict.valid and verdict.findings == () and statuses(verdict) == {"ok"}


def test_a_dynamic_number_is_any_number() -> None:
    text = SOURCE.format(forward="x * n", dim=NAMED).replace("self, x", "self, x, n")
    text = text.replace(
        "0: torch.export.Dim('n')}", "0: torch.export.Dim('n')}, \"n\": torch.export.Dim.DYNAMIC"
    )
    text = text.replace("view(4, 3),)", "view(4, 3), 3)").replace("3),), {}", "3), 5), {}")
    verdict = judge(case_from_source(text), EXPORTED)
    assert verdict.valid and verdict.findings == () and statuses(verdict) == {"ok"}


def test_a_fake_tensor_left_on_the_model_is_told_and_fixes_nothing() -> None:
    text = SOURCE.format(forward="x + self.kept", dim=NAMED)
    text = text.replace("return x + self.kept", "self.kept = x * 2\n        return x + self.kept")
    findings = judge(case_from_source(text), select_paths(["nonstrict:*"])).findings
    assert [finding.signature[:4] for finding in findings] == [("purity", "mismatch", "export", "attribute")]


# --- what a spec promises ---


@pytest.mark.parametrize(
    ("spec", "narrow"),
    [
        (None, False),
        ({"x": {0: torch.export.Dim("n", min=2, max=8)}}, False),
        ({"x": (torch.export.Dim("n"), None)}, False),
        ({"x": [{0: torch.export.Dim.AUTO}], "y": None}, True),
        (({0: torch.export.Dim("n")}, {1: torch.export.Dim.DYNAMIC}), True),
        ({"x": {0: torch.export.Dim.AUTO(min=2)}}, True),
    ],
)
def test_hints_leave_sizes_to_export(spec: object, narrow: bool) -> None:
    assert may_narrow(spec) is narrow


BRANCHES = "x + 1 if x.shape[0] == 4 else x"


def test_a_named_dim_that_gets_fixed_is_refused_by_export() -> None:
    verdict = judge(program(BRANCHES), EXPORTED)
    assert verdict.findings == () and statuses(verdict) == {"constraint-violation"}


def test_a_hint_may_end_in_a_program_that_refuses_probes() -> None:
    case = program(BRANCHES, AUTO)
    verdict = judge(case, EXPORTED)
    assert verdict.findings == () and statuses(verdict) == {"ok"}
    # It is compared up to there, and not beyond: what it was not called with has not moved its state.
    assert all(len(seen.calls) == CALLS + 1 and seen.calls[-1].failure for seen in observed(case)[1:])


def test_a_hint_that_must_stay_dynamic_is_refused_by_export() -> None:
    # That such a refusal leaves marks on the inputs is another matter.
    verdict = judge(program(BRANCHES, DYNAMIC), EXPORTED, ["outputs", "guards"])
    assert statuses(verdict) == {"constraint-violation"}


def test_a_range_inferred_for_a_hint_may_refuse_probes() -> None:
    verdict = judge(program("x + 1 if x.shape[0] < 8 else x", DYNAMIC), EXPORTED)
    assert verdict.findings == () and statuses(verdict) == {"ok"}


def test_a_guard_that_no_range_shows_is_a_finding() -> None:
    case = replace(program("x + 1 if x.shape[0] % 4 == 0 else x - 1", DYNAMIC), thorough=True)
    verdict = judge(case, select_paths(["nonstrict:module"]))
    (finding,) = (each for each in verdict.findings if each.check == "guards")
    assert finding.signature[:3] == ("guards", "crash", "refused") and finding.probe
    (sizes,) = verdict.paths[0].sizes
    assert (sizes.where, sizes.declared) == ("args[0].shape[0]", "Dim.DYNAMIC")
    assert sizes.accepts == "4 and more" or sizes.accepts == "2 and more"
    tried = {each.size: (each.eager, each.program) for each in sizes.tried}
    assert tried[4] == (True, True) and tried[5] == (True, False)


@pytest.mark.parametrize(
    "forward", ["x + 1 if x.shape[0] % 4 == 0 else x - 1", "x[x.shape[0] * 3 // 4 :] + 1"]
)
def test_a_path_that_leaves_all_sizes_to_export_may_refuse_them(forward: str) -> None:
    text = SOURCE.format(forward=forward, dim=AUTO).partition("def dynamic_shapes")[0]
    verdict = judge(case_from_source(text), select_paths(["nonstrict+dynamic:module"]))
    assert verdict.findings == ()
    assert verdict.paths[0].excused == ("sizes-are-inferred",)


PAIRS = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        return {forward}


def make():
    return Model(), (torch.ones(8, 3), torch.ones(8, 3))


def dynamic_shapes():
    return {{"x": {{0: {dim}}}, "y": {{0: {dim}}}}}
"""


def refused(forward: str, dim: str) -> tuple[set[tuple[str, int]], set[str]]:
    """Return the sizes that are findings, and the limits that excuse others."""
    case = replace(case_from_source(PAIRS.format(forward=forward, dim=dim)), thorough=True)
    verdict = judge(case, select_paths(["nonstrict:module"]), ["outputs", "guards"])
    assert verdict.paths[0].outcome != "refused", verdict.paths
    seen = [
        each
        for found in verdict.findings
        for each in (found.evidence, *(more.evidence for more in found.consequences))
    ]
    sizes = {(each.where, each.size) for each in seen if isinstance(each, SizeRefused)}
    assert len(sizes) == len(seen)
    return sizes, set(verdict.paths[0].excused)


X = "args[0].shape[0]"
EVEN = "(x + 1 if x.shape[0] % 2 == 0 else x - 1), y"
HALVES = "x.reshape(2, -1, 3).sum(1), y"


@pytest.mark.parametrize(
    ("forward", "dim", "sizes", "limits"),
    [
        # An end of the range, or a size between it and the example, that the program does not exclude.
        (EVEN, "torch.export.Dim.DYNAMIC(min=3, max=33)", {(X, 3), (X, 9), (X, 33)}, set()),
        (EVEN, "torch.export.Dim.AUTO(min=3, max=33)", {(X, 3), (X, 9), (X, 33)}, set()),
        ("x[1:] - x[:-1], y", "torch.export.Dim.DYNAMIC(min=2, max=9)", {(X, 2)}, set()),
        # With a hint, export infers what the spec does not state.
        (EVEN, "torch.export.Dim.DYNAMIC", set(), {"sizes-are-inferred", "sizes-are-larger-than-one"}),
        (EVEN, "torch.export.Dim.AUTO", set(), {"sizes-are-inferred", "sizes-are-larger-than-one"}),
        (EVEN, "torch.export.Dim.DYNAMIC(max=33)", {(X, 9), (X, 33)}, {"sizes-are-larger-than-one"}),
        # The program says that it takes fewer sizes.
        ("x[:5], y", "torch.export.Dim.DYNAMIC(min=2, max=16)", set(), {"sizes-are-inferred"}),
        # A relation between two dimensions.
        ("x[: y.shape[0]], y", "torch.export.Dim.DYNAMIC(min=2, max=9)", set(), {"sizes-are-inferred"}),
        # All are accepted.
        ("x * 2, y", "torch.export.Dim.DYNAMIC(min=2, max=9)", set(), set()),
        ("x + y, y", "torch.export.Dim('n', min=1, max=9)", set(), set()),
        (HALVES, "2 * torch.export.Dim('n', min=2, max=9)", set(), set()),
        # Eager refuses them as well.
        (HALVES, "torch.export.Dim.DYNAMIC(min=4, max=9)", set(), set()),
    ],
)
def test_a_declared_size_that_is_refused_is_a_finding(
    forward: str, dim: str, sizes: set[tuple[str, int]], limits: set[str]
) -> None:
    found, excused = refused(forward, dim)
    assert found == sizes
    assert excused >= limits if sizes else excused == limits


def test_rows_of_a_jagged_tensor_may_be_more_or_fewer() -> None:
    source = """
import torch

def make():
    rows = [torch.ones(2, 3), torch.zeros(4, 3), torch.ones(3, 3)]
    x = torch.nested.nested_tensor(rows, layout=torch.jagged)
    return torch.nn.Linear(3, 2), (x,)

def dynamic_shapes():
    return {"input": {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}}
"""
    case = replace(case_from_source(source), thorough=True)
    verdict = judge(case, select_paths(["nonstrict:module"]))
    assert verdict.valid and len(verdict.paths) + len(verdict.unjudged) == 1
    rows = with_size(case.build().args[0], 0, 5).unbind()
    assert [len(each) for each in rows] == [2, 4, 3, 2, 4]


def test_a_named_dim_promises_its_range() -> None:
    with IGNORED.plant():
        found, _ = refused("x * 2, y", "torch.export.Dim('n', min=2, max=9)")
    assert {size for _, size in found} == {2, 9}


def test_a_repro_file_shows_a_refused_size(tmp_path: pathlib.Path) -> None:
    source = PAIRS.format(forward=EVEN, dim="torch.export.Dim.DYNAMIC(min=3, max=33)")
    case = replace(case_from_source(source), thorough=True)
    found = judge(case, select_paths(["nonstrict:module"]), ["guards"]).findings
    assert [each.signature for each in found] == [("guards", "crash", "refused", "size", "declared-size")]
    file = tmp_path / "repro.py"
    file.write_text(repro_source(found[0], source))
    code, printed = run(file)
    assert code == 1 and printed.startswith(f"BUG: eager accepts size 3 of {X}, module raises Assertion")
    file.write_text(file.read_text().replace("% 2 == 0", "% 1 == 0"))
    assert run(file) == (0, f"ok: module accepts size 3 of {X}\n")


def test_deferred_checks_may_refuse_probes_and_smaller_sizes() -> None:
    case = program("x + 1 if x.shape[0] % 4 == 0 else x - 1")
    verdict = judge(case, select_paths(["nonstrict+deferred:*"]))
    assert verdict.findings == () and statuses(verdict) == {"ok"}
    assert all("sizes-are-inferred" in result.excused for result in verdict.paths)


def test_a_probe_on_which_eager_raises_is_refused_as_well() -> None:
    verdict = judge(program("x.view(4, 3)", AUTO), EXPORTED)
    assert verdict.valid and verdict.findings == () and statuses(verdict) == {"ok"}


# --- findings and their files ---

IGNORED, FIXED = FAULTS["export_ignores_dynamic_shapes"], FAULTS["the_graph_computes_with_the_examples_size"]


def planted(name: str, source: str, path: str = "nonstrict:module") -> tuple[Finding, ...]:
    with FAULTS[name].plant():
        return judge(case_from_source(source), select_paths([path])).findings


def test_a_silent_specialisation_is_found_on_every_path() -> None:
    for path in map(str, EXPORTED):
        (finding,) = planted(IGNORED.name, IGNORED.source, path)
        assert (str(finding.path), finding.kind, finding.call) == (path, "crash", CALLS)
        assert finding.signature[:3] == ("guards", "crash", "refused") and finding.signature[-1] == "probe"
        assert "call 3 is a probe" in finding.message


def test_a_size_fixed_in_the_graph_is_a_wrong_value() -> None:
    (finding,) = planted(FIXED.name, FIXED.source)
    assert finding.signature == ("outputs", "mismatch", "value", "fresh", "probe")
    # Without probes, only a call that leaves what was exported shows it.
    (finding,) = planted(FIXED.name, FIXED.source.partition("def probes")[0])
    assert finding.signature[:2] == ("guards", "mismatch")


def test_a_hint_excuses_no_wrong_value() -> None:
    source = FIXED.source.replace('torch.export.Dim("n")', "torch.export.Dim.AUTO")
    (finding,) = planted(FIXED.name, source)
    assert finding.signature[0] == "outputs"
    assert planted(IGNORED.name, source) == ()


KEYWORDS = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x, *, scale):
        self.seen.add_(1)
        return x * x.shape[0] * scale + self.seen


def make():
    return Model(), (torch.ones(4, 3),), {"scale": torch.ones(3)}


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=2, max=9)}, "scale": None}


def probes():
    return [((torch.rand(4, 3),), {"scale": torch.ones(3)}), ((torch.rand(6, 3),), {"scale": torch.ones(3)})]
"""


def run(file: pathlib.Path) -> tuple[object, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as end:
        runpy.run_path(str(file), run_name="__main__")
    return end.value.code, printed.getvalue()


@pytest.mark.parametrize("name", [IGNORED.name, FIXED.name])
def test_a_repro_file_makes_the_calls_and_then_the_probes(name: str, tmp_path: pathlib.Path) -> None:
    (finding,) = planted(name, KEYWORDS)
    assert finding.call == CALLS + 1
    file = tmp_path / "repro.py"
    text = repro_source(finding, KEYWORDS)
    file.write_text(text)
    assert "# Shows in call 4, counted from 0, which is probe 1." in text or finding.kind == "crash"
    assert repro_source(finding, text) == text
    with FAULTS[name].plant():
        code, printed = run(file)
    assert code == 1 and re.fullmatch(r"BUG: .+\n", printed)
    code, printed = run(file)
    assert code == 0 and re.fullmatch(r"ok: .+\n", printed)


def test_a_repro_file_that_needs_no_probes_has_none(tmp_path: pathlib.Path) -> None:
    fault = FAULTS["unflatten_swaps_outputs"]
    source = fault.source + KEYWORDS.partition("return Model(), (torch.ones(4, 3),), ")[2].partition("\n")[2]
    source = source.replace(', "scale": None', "")
    assert "def probes" in source
    source = source.partition("def probes")[0] + "def probes():\n    return [((torch.ones(6, 3),), {})]\n"
    (finding,) = planted(fault.name, source, "nonstrict:unflatten")
    text = repro_source(finding, source)
    assert "probes" not in text and "dynamic_shapes=dynamic_shapes(), strict=False" in text
    assert repro_source(finding, text) == text
    file = tmp_path / "repro.py"
    file.write_text(text)
    with fault.plant():
        assert run(file)[0] == 1
    assert run(file)[0] == 0


def test_probes_are_made_on_the_device() -> None:
    (finding,) = planted(FIXED.name, KEYWORDS)
    moved = replace(finding, path=replace(finding.path, device="cuda"))
    text = repro_source(moved, KEYWORDS)
    assert re.search(r'if call >= 3:\n        with torch.device\("cuda"\):\n +torch.manual_seed', text)


NESTED = """
from dataclasses import dataclass


@dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Pair)


class Model(nn.Module):
    def forward(self, x, pair, *rest, scale=2.0):
        return x + pair.left + pair.right + rest[0] * scale
"""


def test_the_spec_of_all_sizes_follows_the_signature(case: Callable[[str, str], Case]) -> None:
    """A registered class has the spec of what it flattens to."""
    one = "torch.ones(2, 3)"
    nested = case(NESTED, f"({one}, Pair({one}, {one}), {one})")
    paths = select_paths(["nonstrict+dynamic:module"])
    spec: Any = varied_case(nested, paths[0]).shapes()
    assert spec.keys() == {"x", "pair", "rest"} and len(spec["pair"]) == 2
    verdict = judge(nested, paths)
    assert verdict.findings == () and [each.status for each in verdict.paths] == ["ok"]


LAYOUT = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1 if x.is_contiguous() else x * 3
"""


@pytest.mark.parametrize("layout", ["{}", "{}.t()", "{}[:, ::2]", "{}[:1].expand(3, 4)"])
def test_the_longer_example_lies_in_memory_as_the_example_does(
    layout: str, case: Callable[[str, str], Case]
) -> None:
    """Export fixes how an input lies in memory: a branch on it must not be taken for one on sizes."""
    branching = case(LAYOUT, f"({layout.format('torch.ones(3, 4)')},)")
    assert judge(branching, select_paths(["nonstrict+dynamic:module"]), ["outputs"]).findings == ()


WRITES_AN_INPUT = """
class Model(nn.Module):
    def forward(self, x):
        x.data = torch.ones(2, 2)
        return x.sum()
"""


def test_trying_a_longer_example_leaves_the_inputs_as_they_are(case: Callable[[str, str], Case]) -> None:
    overlapping = "torch.zeros(3).unfold(0, 2, 1)"  # lies in memory as no longer tensor does
    writing = varied_case(
        case(WRITES_AN_INPUT, f"({overlapping},)"), select_paths(["nonstrict+dynamic:module"])[0]
    )
    built = writing.build()
    assert [probe.args[0].tolist() for probe in built.probes] == [[[0.0, 0.0], [0.0, 0.0]]]


SIZED = """
class Model(nn.Module):
    def forward(self, x, size):
        return x.sum() + len(size)
"""


def test_an_input_that_is_a_size_is_one_in_the_longer_example(case: Callable[[str, str], Case]) -> None:
    sized = case(SIZED, "(torch.ones(3, 4), torch.Size([2, 3]))")
    assert judge(sized, select_paths(["nonstrict+dynamic:module"])).findings == ()


def test_a_size_beyond_a_declared_range_is_refused_or_answered_rightly() -> None:
    ranged = "torch.export.Dim('n', min=2, max=9)"
    case = replace(program("x + 1 if x.shape[0] < 20 else x", ranged), thorough=True)
    made = [one for seen in observed(case)[1:] for one in seen.deviations if one.deviation == "length"]
    assert made and all(one.call.failure for one in made)
    assert judge(case, EXPORTED).findings == ()
