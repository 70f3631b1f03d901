"""Templates of repro files: how they become text, and what the functions do."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from exportdiff.core.case import case_from_source
from exportdiff.core.finding import Finding
from exportdiff.judging.checks.outputs import OutputStructure
from exportdiff.repro import repro_source
from exportdiff.repro.parts import Deviating
from exportdiff.repro.paste import Template, Values, with_helpers
from exportdiff.repro.program import program_of
from exportdiff.repro.script import ScriptSetting, script
from exportdiff.repro.templates import inputs as input_templates
from exportdiff.repro.templates import observers, pairs, scripts
from exportdiff.repro.templates.properties import PROPERTIES
from exportdiff.repro.templates.stand_ins import (
    FACT,
    HAS_KWARGS,
    SEED,
    altered,
    export,
    inputs,
    lower,
    make,
    when,
)
from exportdiff.repro.writers import gradients
from exportdiff.repro.writers.structure import calls, modules
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch


def _helper(number: int) -> int:
    return number + 1


def typed(numbers: list[int], *, more: int = 2) -> list[int]:
    """Add NAME."""
    kept: list[int] = []
    # A comment for people.
    if SEED:
        kept = [_helper(n) for n in numbers]
    elif HAS_KWARGS:
        kept = numbers
    with when(HAS_KWARGS, torch.no_grad()):
        return [FACT(t) for t in kept] if SEED else kept


def test_text_has_no_types_and_all_replacements() -> None:
    values: Values = {"NAME": "one", "SEED": True, "HAS_KWARGS": False, "FACT": PROPERTIES["shape"]}
    assert Template(typed, values, name="observe").text == (
        "def observe(numbers, *, more=2):\n"
        '    """Add one."""\n'
        "    kept = []\n"
        "    # A comment for people.\n"
        "    kept = [_helper(n) for n in numbers]\n"
        "    return [list(t.shape) for t in kept]"
    )


def test_body_has_neither_docstring_nor_last_return() -> None:
    assert Template(scripts.both_models).body.splitlines()[::3] == [
        "eager, args, kwargs = make()",
        "candidate = lower(ep)",
    ]


def test_helpers_come_first() -> None:
    assert [text.partition("(")[0] for text in with_helpers(typed)] == ["def _helper", "def typed"]


CALLS = {"make": "fresh()", "export": "EXPORTED", "lower": "ep.module()", "inputs": "fresh()[1:]"}


def filled(function: Any, **changes: Any) -> str:
    setting: dict[str, Any] = {"calls": CALLS, "names": {}, "has_kwargs": True}
    return script([Template(function)], ScriptSetting(**{**setting, **changes}))


def called() -> None:
    """Call."""
    eager, args, kwargs = make()
    ep = export(eager)

    candidate = lower(ep)
    args, kwargs = inputs()
    args, kwargs = inputs(1)
    with altered(candidate):
        print(candidate(*args, **kwargs), (args, kwargs))


HEAD = [
    'if __name__ == "__main__":',
    "    # Exit code 1 means that the bug is there: any other error exits with 3.",
    "    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)",
    '    warnings.simplefilter("ignore")',
]


def test_stand_ins_of_scripts_are_replaced() -> None:
    assert filled(called).splitlines() == [
        *HEAD,
        "    eager, args, kwargs = fresh()",
        "    ep = EXPORTED",
        "",
        "    candidate = ep.module()",
        "    args, kwargs = fresh()[1:]",
        "    args, kwargs = inputs(1)",
        "    args, kwargs = other(args, kwargs)",
        "    print(candidate(*args, **kwargs), (args, kwargs))",
    ]


def test_programs_without_kwargs_have_none() -> None:
    text = filled(called, has_kwargs=False)
    assert "kwargs" not in text
    assert "    eager, args = fresh()\n" in text
    assert "    args, _ = other(args, {})\n" in text
    assert "    print(candidate(*args), (args,))" in text


def test_statements_are_added_and_dropped() -> None:
    text = filled(
        called,
        exports=False,
        reseed="torch.manual_seed(0)",
        leaves_only=True,
        done_to_eager=("retie(eager)",),
        deviating=Deviating(attribute="l.scale", value="4.0"),
    )
    assert text.splitlines() == [
        *HEAD,
        "    eager, args, kwargs = fresh()",
        "    eager = retie(eager)",
        "",
        "    candidate = ep.module()",
        "    args, kwargs = fresh()[1:]",
        "    args, kwargs = inputs(1)",
        '    candidate.get_submodule("l").scale = 4.0',
        "    torch.manual_seed(0)",
        "    print(torch.utils._pytree.tree_leaves(candidate(*args, **kwargs)), (args, kwargs))",
    ]


def test_calls_are_made_under_a_context_manager() -> None:
    text = filled(called, deviating=Deviating(around="torch.no_grad()"))
    last = "print(candidate(*args, **kwargs), (args, kwargs))"
    assert text.splitlines()[-2:] == ["    with torch.no_grad():", f"        {last}"]


@pytest.mark.parametrize(
    ("made", "draws"),
    [
        ("nn.ReLU(), (torch.ones(2),)", set()),
        ("nn.Linear(2, 2), (torch.ones(2),)", {"build"}),
        ("nn.ReLU(), (torch.rand(2),)", {"build"}),
        ("nn.Dropout(), (torch.ones(2),)", {"calls"}),
        ("nn.Dropout().eval(), (torch.ones(2),)", set()),
        ("nn.Sequential(nn.Linear(2, 2), nn.Dropout()), (torch.ones(2),)", {"build", "calls"}),
    ],
)
def test_a_run_of_eager_shows_where_a_program_draws_random_numbers(made: str, draws: set[str]) -> None:
    case = case_from_source(f"import torch\nfrom torch import nn\ndef make():\n    return {made}\n")
    assert observe_eager(case, "cpu", Stopwatch()).draws == draws


def test_only_programs_that_draw_random_numbers_are_seeded() -> None:
    source = "import torch\n\n\ndef make():\n    return torch.nn.ReLU(), (torch.ones(2),)\n"
    finding = Finding(parse("nonstrict:module@cpu"), "outputs", OutputStructure(0, "a", "b"))
    assert "manual_seed" in repro_source(finding, source)
    assert "manual_seed" not in repro_source(replace(finding, draws=frozenset()), source)


def test_program_of_any_source_is_the_source() -> None:
    source = "def make():\n    return 1\n\n\ndef probes():\n    return []"
    assert program_of(source) == source
    assert program_of(source, probes=False) == "def make():\n    return 1"


def test_a_program_keeps_the_imports_that_it_uses_itself() -> None:
    header = "# /// script\n# requires-python = '>=3.10'\n# ///\nimport copy\nimport io\n\nimport torch\n"
    program = "\n\ndef make():\n    return copy.copy(torch.nn.ReLU()), (torch.ones(2),)\n"
    script = "\n\ndef main():\n    return copy, io\n"
    expected = f"import copy\n\n\nimport torch\n{program}".strip()
    assert program_of(header + program + script) == expected


# --- what the functions do ---


@pytest.mark.parametrize("word", sorted(PROPERTIES.keys() - {"python-value"}))
def test_properties_are_those_of_a_tensor(word: str) -> None:
    assert PROPERTIES[word](torch.ones(2, 3)) is not None


class Model(nn.Module):
    """Two modules, one of which has two names."""

    def __init__(self) -> None:
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.again = self.l
        self.k = torch.ones(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Call one twice."""
        out: torch.Tensor = self.l(x) + self.again(x * self.k)
        return out


def test_observers_name_what_they_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "FACT", PROPERTIES["shape"])
    monkeypatch.setattr(observers, "OF_PARTS", False)
    tree = {"a": torch.ones(2), "b": 3}
    assert observers.tensors(tree) == {"WORD of LEAF 0": "[2]"}
    assert observers.state(Model())["WORD of again.bias"] == "[2]"
    assert observers.constants(Model()) == {"WORD of .k": "[2]"}
    assert observers.everything(tree, (), Model())["output 0"] == "torch.float32 [2] [1.0, 1.0]"


def test_split_and_merged_names_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = object(), object()
    together, apart = {"output 0": one, "b": one}, {"output 0": one, "b": other}
    assert pairs.object_split(*pairs.all_pairs(together, apart)) == [("b", "output 0")]
    assert pairs.objects_merged(*pairs.pairs_with_output(apart, together)) == [("b", "output 0")]
    assert pairs.memory_split(*pairs.all_pairs(together, together)) == []
    with pytest.raises(SystemExit) as end:
        pairs.verdict([])
    assert end.value.code is False
    assert "ok:" in capsys.readouterr().out


def test_later_inputs_keep_what_shares_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    base = torch.ones(4)
    monkeypatch.setattr(input_templates, "make", lambda: (None, (base, base[:2], torch.tensor([True])), {}))
    monkeypatch.setattr(input_templates, "PROBES", False)
    (whole, part, flag), _ = input_templates.inputs(1)
    assert whole.tolist() == [-0.25] * 4
    assert part.untyped_storage()._cdata == whole.untyped_storage()._cdata
    assert flag.tolist() == [False]


def test_gradients_are_observed_by_name() -> None:
    model, x = Model(), torch.ones(2, requires_grad=True)
    seen = gradients.observe(model(x), (x,), model)
    assert gradients.observe_whether(model(x), (x,), model) == {"backward pass": "works"}
    assert "gradient of again.weight" in seen and "gradient of input 0" in seen


def test_calls_are_recorded_and_made() -> None:
    ep = torch.export.export(Model(), (torch.ones(2),), strict=False)
    recorded = calls.recorded_calls(ep.graph_module, ep.graph, {"l": "l", "again": "l", "": ""})
    model = Model()
    made = calls.calls_during(lambda: model(torch.ones(2)), {model.l: "l"})
    assert recorded == made == [("l", []), ("l", [])]
    assert calls.fits(recorded, recorded[:1]) and not calls.fits(recorded[:1], recorded)


def test_modules_and_their_graphs_have_texts() -> None:
    model = Model()
    assert modules.module_names(model) == {"", "l", "again"}
    model.l.add_module("above", model)
    assert None in modules.module_names(model)
    traced = torch.fx.symbolic_trace(nn.ReLU())
    assert re.fullmatch(r"placeholder .*; call_function .*; output .*", modules.graph_text(traced))
