"""Repro files: what is written for each kind of finding. test_faults.py has one for every fault."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

import pytest
from evidence_of import make_finding
from in_process import run_script as run

from harness.case import case_from_source
from harness.faults import FAULTS
from harness.findings import Finding
from harness.inputs.copies import build
from harness.inputs.deviations import DEVIATIONS
from harness.judge.verdict import judge
from harness.known.entry import read_entry
from harness.path import Path
from harness.paths import select_paths
from harness.repro import NoReproError, repro_source

SOURCE = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(2),)
"""


def finding(
    *words: str, path: str = "nonstrict:unflatten@cpu", check: str = "outputs", **changes: Any
) -> Finding:
    call = changes.pop("call", 0)
    return make_finding(*(words or ("value", "fresh")), path=path, check=check, call=call, **changes)


WORDS: dict[str, list[tuple[str, ...]]] = {
    "outputs": [
        ("value", "fresh"),
        ("dtype", "fresh"),
        ("shape", "fresh"),
        ("stride", "fresh"),
        ("kind", "fresh"),
        ("python-value", "fresh"),
        ("structure",),
    ],
    "inputs": [("value",), ("requires-grad",), ("offset",), ("python-value",)],
    "state": [
        ("value", "buffer"),
        ("value", "constant"),
        ("stride", "parameter", "at-start"),
        ("missing", "buffer"),
    ],
    "sharing": [
        ("one-tensor-became-several", "buffer"),
        ("memory-no-longer-shared",),
        ("memory-became-shared",),
        ("call-variant-has-its-own",),
    ],
    "guards": [
        ("refused", "AssertionError", "Guard failed"),
        ("recorded", "stride", "input"),
        ("recorded", "value", "input"),
        ("recorded", "shape", "buffer"),
        ("recorded", "dtype", "parameter"),
    ],
    "purity": [
        (stage, *what)
        for stage in ("export", "lower")
        for what in (
            ("buffer", "value"),
            ("parameter", "missing"),
            ("constant", "value"),
            ("sharing",),
            ("input", "value"),
            ("training flag",),
            ("hooks",),
            ("attribute",),
            ("global", "grad mode"),
        )
    ],
}


@pytest.mark.parametrize("runner", ["module", "unflatten"])
@pytest.mark.parametrize(
    ("check", "what"), [(check, what) for check, words in WORDS.items() for what in words]
)
def test_every_kind_of_mismatch_has_a_file_that_runs(
    check: str, what: tuple[str, ...], runner: str, tmp_path: pathlib.Path
) -> None:
    per_call = check in ("outputs", "inputs", "state") and not {"missing", "at-start"} & {*what}
    for call in (0, 2) if per_call or what[0] == "refused" else (None,):
        shown = finding(
            *what,
            check=check,
            path=f"nonstrict:{runner}@cpu",
            stage=what[0] if check == "purity" else "run",
            call=call,
            message="buffer b is missing",
        )
        file = tmp_path / "repro.py"
        file.write_text(repro_source(shown, STATEFUL))
        code, printed = run(file)
        assert (code, printed[:3]) == (0, "ok:"), printed


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


@pytest.mark.parametrize("path", ["nonstrict:unflatten", "nonstrict+preserve:unflatten"])
@pytest.mark.parametrize("word", ["arguments", "owner"])
def test_calls_with_graphs_of_their_own_are_followed(path: str, word: str, tmp_path: pathlib.Path) -> None:
    transforms = tuple(path.partition(":")[0].split("+")[1:])
    shown = finding("steps", word, check="structure", path=f"{path}@cpu", stage="lower")
    file = tmp_path / "repro.py"
    file.write_text(repro_source(shown, PRESERVED))
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

    def forward(self, x, y, z, n, scale=1.0, flag=True, mode="a", mask=None, sort=Kind.A):
        x = self.drops[0](x) if self.kind == "b" else x + 1
        x = x * 2 if sort is Kind.B else x
        y = y if mask is None else y * mask.sum()
        return {mode: x * n + y.sum() * (scale if flag else 2.0) + z.sum()}


def make():
    x = torch.ones(3, 2)
    given = {"scale": 2.0, "flag": True, "mode": "a", "mask": None, "sort": Kind.A}
    return Model(), (torch.zeros(3, 2), x, x, 3), given
"""


@pytest.mark.parametrize("what", ["accepted", "served", "refused-but-changed", "left"])
@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_every_way_to_leave_the_spec_has_a_file_that_runs(
    deviation: str, what: str, tmp_path: pathlib.Path
) -> None:
    model, examples = build(case_from_source(EVERY_WAY), "cpu")
    calls = examples.deviations({deviation}, "", model)
    assert calls
    # The others are not promised to be noticed, or are not (corpora/open/export_accepts_*).
    noticed = what != "served" and deviation in ("flag", "number", "text", "size")
    for one in calls:
        shown = finding(
            what,
            deviation,
            check="guards",
            message=f"a call in which {one.description} is not refused, and the answer is wrong",
            path="nonstrict:module@cpu" if noticed else "compile:compiled@cpu",
        )
        if what == "left":
            words = f"after a call in which {one.description}: the grad mode differs\naltered: {deviation}"
            shown = finding(
                "run",
                "global",
                "grad mode",
                check="purity",
                message=words,
                call=1,
                path="compile:compiled@cpu",
            )
        file = tmp_path / "repro.py"
        file.write_text(repro_source(shown, EVERY_WAY))
        around = DEVIATIONS[deviation].around
        if isinstance(one.place, str):
            assert f".{one.place.rpartition('.')[2]} = {one.leaf!r}\n" in file.read_text()
        else:
            assert f"with {around}:" in file.read_text() if around else "def other(" in file.read_text()
        code, printed = run(file)
        taken = what == "refused-but-changed" and str(code).endswith("accepts the call")
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
    stage: str, call: int | None, tmp_path: pathlib.Path
) -> None:
    shown = finding(kind="crash", stage=stage, call=call, message="call 0 raised KeyError, eager did not")
    file = tmp_path / "repro.py"
    file.write_text(repro_source(shown, STATEFUL))
    code, printed = run(file)
    assert (code, printed[:3]) == (0, "ok:"), printed


def test_file_is_short_has_metadata_and_stands_alone(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "repro.py"
    text = repro_source(finding(), SOURCE)
    file.write_text(text)
    assert SOURCE.strip() in text.replace("import sys\nimport warnings\n\n", "")
    assert "harness" not in text
    shown = text.partition("return Model()")[2]
    assert len([line for line in shown.splitlines() if line]) <= 25
    entry = read_entry(file)
    assert (entry.status, entry.fingerprint, entry.problem) == ("open", finding().fingerprint, "")
    assert max(map(len, text.splitlines())) <= 100


def test_repro_of_a_repro_replaces_header_and_script() -> None:
    once = repro_source(finding(), SOURCE)
    assert repro_source(finding(), once) == once


def test_other_devices_build_there() -> None:
    text = repro_source(finding(path="nonstrict:unflatten@cuda"), SOURCE)
    assert 'with torch.device("cuda"):' in text


def test_unknown_modes_are_said_to_be_unknown() -> None:
    with pytest.raises(NoReproError, match="later"):
        repro_source(make_finding("value", "fresh", path=Path("later", "module")), SOURCE)


def test_a_purity_file_bears_with_an_export_that_refuses(tmp_path: pathlib.Path) -> None:
    refused = SOURCE.replace("return x + 1", "return x + 1 if x.sum() > 0 else x")
    shown = finding("export", "hooks", check="purity", stage="export")
    file = tmp_path / "repro.py"
    file.write_text(repro_source(shown, refused))
    assert run(file)[0] == 0


def test_what_machine_code_is_compared_as_is_a_module() -> None:
    """What loads a package returns is none, and what looks at state, or at names of memory, needs one."""
    finding = make_finding("value", "fresh", path="aoti:package@cpu")
    program = (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        return x + 1\n\n\ndef make():\n    return Model(), (torch.ones(2),)\n"
    )
    text = repro_source(finding, program)
    assert "class Packaged(torch.nn.Module):" in text and "candidate = packaged(ep)" in text
