from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.observing.tensors import TensorSnapshot
from exportdiff.runtime.paths import MODES, RUNNERS, all_paths, core_paths, parse, select_paths
from exportdiff.runtime.paths.run.by_export import observe_paths
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch
from exportdiff.runtime.paths.transforms.apply import extra_arguments
from exportdiff.runtime.paths.transforms.table import TRANSFORMS

NAMES = ["nonstrict:module@cpu", "nonstrict:unflatten@cpu", "strict:module@cpu", "strict:unflatten@cpu"]
COMPILED = "compile:compiled@cpu"

MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, flag, *, scale):
        self.count.add_(1)
        x.mul_(0.5)
        return {"out": self.linear(x) * scale if flag else x, "in": x}
"""
ARGS = "(torch.ones(2, 3), True), {'scale': torch.full((3,), 0.5)}"


def observations(case: Case, *globs: str) -> list[ExportedObservation]:
    seen = observe_paths(case, select_paths(globs), Stopwatch())
    return [each for each in seen if isinstance(each, ExportedObservation)]


def test_canonical_order_and_names() -> None:
    assert [str(path) for path in core_paths()] == [*NAMES, COMPILED]
    assert all_paths()[:5] == core_paths() and len(set(all_paths())) == len(all_paths())
    assert [path.device for path in core_paths(["cpu", "cuda"])] == ["cpu"] * 5 + ["cuda"] * 5


def test_runners_fit_their_modes() -> None:
    assert {mode for runner in RUNNERS.values() for mode in runner.modes} == set(MODES)
    for runner in RUNNERS.values():
        exports = {MODES[mode].export is not None for mode in runner.modes}
        assert runner.promise and exports == {re.search(r"\bep\b", runner.expression) is not None}


@pytest.mark.parametrize("name", list(map(str, all_paths())))
def test_parse_undoes_str(name: str) -> None:
    assert str(parse(name)) == name
    assert parse(name.removesuffix("@cpu")) == parse(name)


@pytest.mark.parametrize(
    "text",
    [
        "nonstrict",
        "lazy:module",
        "strict:run",
        "strict+swop:module@cpu",
        "compile+reload:compiled",
        "nonstrict+reload+preserve:module",
        "nonstrict+reload+reload:module",
        "nonstrict+preserve+preserve_leaves:unflatten",
        "nonstrict+preserve+swap:module",
        "nonstrict+swap:unflatten",
        "nonstrict+preserve+reexport+swap:unflatten",
        "aoti+retie:package",
        "",
    ],
)
def test_what_is_no_path_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"not a path|no mode|no runner|no transform|exports nothing|come in the order|named twice"
        r"|would undo|transforms what unflatten returns|needs 'preserve'|keeps nothing|with state",
    ):
        parse(text)


def test_globs() -> None:
    assert [str(path) for path in select_paths(["nonstrict:*"])] == NAMES[:2]
    assert [str(path) for path in select_paths(["*strict:unflatten"])] == [NAMES[1], NAMES[3]]
    assert {path.transforms for path in select_paths(["nonstrict+decompose:*"])} == {("decompose",)}
    assert select_paths([]) == all_paths()
    assert select_paths(["*@cuda"], ["cpu", "cuda"]) == all_paths(["cuda"])
    with pytest.raises(ValueError, match="matches no listed path"):
        select_paths(["nonesuch*"])


def test_a_path_outside_the_lists_is_taken_where_it_is_written_out() -> None:
    chain = "nonstrict+decompose+reload:unflatten"
    assert chain not in {path.without_device for path in all_paths()}
    assert list(map(str, select_paths([chain, "strict:module"]))) == ["strict:module@cpu", f"{chain}@cpu"]
    assert [path.device for path in select_paths([chain], ["cpu", "cuda"])] == ["cpu", "cuda"]
    assert select_paths([f"{chain}@cuda"], ["cpu", "cuda"]) == (parse(f"{chain}@cuda"),)
    with pytest.raises(ValueError, match="paths run on cpu here"):
        select_paths([f"{chain}@cuda"])


def test_every_path_sees_what_eager_sees(case: Callable[[str, str], Case]) -> None:
    model = case(MODEL, ARGS)
    eager = observe_eager(model, "cpu", Stopwatch())
    assert len(eager.calls) == 3 and not (eager.invalid or eager.first_call_only or eager.prints)
    first = eager.calls[0].outputs
    assert first is not None and [leaf.where for leaf in first.leaves] == ["['out']", "['in']"]
    assert [leaf.role for leaf in first.leaves] == ["fresh", "output-is-input"]
    for seen in observations(model, "*strict:*"):
        assert seen.failure is None and len(seen.calls) == 3
        assert [spot.where for spot in seen.placeholders if spot.kind == "input"] == [
            "[0][0]",
            "[0][1]",
            "[1]['scale']",
        ]
        assert len(seen.placeholders) == 3 + 3


def test_calls_see_other_values_and_a_moving_state(case: Callable[[str, str], Case]) -> None:
    calls = observe_eager(case(MODEL, ARGS), "cpu", Stopwatch()).calls
    counts = [call.state.tensors["count"].values for call in calls]
    assert [str(count) for count in counts] == ["1.0", "2.0", "3.0"]
    inputs = [call.inputs.leaves[0].value for call in calls]
    texts = [str(leaf.values) for leaf in inputs if isinstance(leaf, TensorSnapshot)]
    assert all(one != other for one, other in pairwise(texts))


def test_one_export_serves_both_runners(
    case: Callable[[str, str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    exports: list[object] = []
    export = torch.export.export

    def counted(*args: object, **kwargs: object) -> object:
        exports.append(kwargs["strict"])
        return export(*args, **kwargs)  # type: ignore[arg-type]  # passed through as they come

    monkeypatch.setattr(torch.export, "export", counted)
    observations(case(MODEL, ARGS), "nonstrict:*", "strict:*", "nonstrict+reload:*", "*+retie:*")
    assert exports == [False, True]


def test_a_failed_export_ends_all_its_paths(case: Callable[[str], Case]) -> None:
    branches = """
class Model(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else x + 1
"""
    for seen in observations(case(branches), "nonstrict:*"):
        assert seen.failure is not None and seen.failure.stage == "export"
        assert seen.calls == () and seen.before is None and len(seen.stage_effects) == 1


def test_a_change_of_python_state_is_noted(case: Callable[[str], Case]) -> None:
    counts = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + self.calls
"""
    eager = observe_eager(case(counts), "cpu", Stopwatch())
    assert eager.first_call_only and eager.assigned == {"calls"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cuda(case: Callable[[str, str], Case]) -> None:
    model = case(MODEL, ARGS)
    for seen in observe_paths(model, core_paths(["cuda"]), Stopwatch()):
        assert seen.failure is None and len(seen.calls) == 3
        outputs = seen.calls[0].outputs
        assert outputs is not None
        assert all(leaf.value.device == "cuda" for leaf in outputs.leaves if not isinstance(leaf.value, str))


def test_an_output_that_has_no_leaves_to_give_is_a_failure(case: Callable[[str], Case]) -> None:
    body = """
class Hollow:
    pass


torch.utils._pytree.register_pytree_node(Hollow, lambda it: ([it.leaf], None), lambda leaves, _: Hollow())


class Model(nn.Module):
    def forward(self, x):
        return Hollow()
"""
    failed = observe_eager(case(body), "cpu", Stopwatch()).calls[0].failure
    assert failed is not None and failed.name == "AttributeError"


def test_a_transform_gets_the_fresh_model_on_the_device_of_the_path(case: Callable[[str], Case]) -> None:
    model = case(
        "class Model(nn.BatchNorm1d):\n    def __init__(self):\n        super().__init__(3, affine=False)"
    )
    path = replace(parse("nonstrict+preserve+swap:unflatten"), device="meta")
    fresh = extra_arguments(path, model).model
    assert fresh is not None
    assert {buffer.device.type for buffer in fresh.buffers()} == {"meta"}


def test_a_program_without_state_moves_to_the_device_of_its_inputs() -> None:
    class Plain(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    program = torch.export.export(Plain(), (torch.ones(2, device="meta"),))
    moved = TRANSFORMS["todevice"].function(program)
    fakes = [node.meta["val"] for node in moved.graph.nodes if node.op != "output"]
    assert {fake.device.type for fake in fakes} == {"meta"}
