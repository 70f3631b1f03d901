"""The scripts of the nightly job: what it runs, and what it proposes."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import re
import shlex
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from exportdiff.cli import make_parser
from exportdiff.known.corpus.versions import age
from support.folders import ROOT

FOLDER = ROOT / ".github" / "nightly"


def script(name: str) -> ModuleType:
    """Import one of the scripts; they are in no package."""
    spec = importlib.util.spec_from_file_location(f"nightly_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def commands() -> list[str]:
    """What the workflows call exportdiff with; variables are replaced by what they hold."""
    text = "\n".join(file.read_text() for file in sorted((FOLDER.parent / "workflows").glob("*.yml")))
    text = re.sub(r"\\\n\s*", " ", text)
    held = {
        "TIME": "4h",
        "SHARDS": "4",
        "SHARD": "1",
        "SEED": "7",
        "DEVICE": "auto",
        "SINCE": "--since before",
        "LEARNED": "--learned before",
        "BACKEND": "onnx",
    }
    found = []
    for line in re.findall(r"^\s*(exportdiff .*?)(?: \|\| .*)?$", text, re.MULTILINE):
        line = re.sub(r'"\$\{against\[@\]\}"', "--against python", line)
        found.append(re.sub(r"\$(\w+)", lambda name: held.get(name[1], "file"), line))
    return found


@pytest.mark.parametrize("command", commands())
def test_the_commands_of_the_workflows_exist(command: str) -> None:
    make_parser().parse_args(shlex.split(command)[1:])


def test_the_workflows_fuzz_judge_models_merge_and_report() -> None:
    assert [command.split()[1] for command in commands()] == ["fuzz", "fuzz", "zoo", "merge", "report"]


SETTINGS = {
    "TORCHES": "pinned newest nightly",
    "GPU_RUNNER": "big",
    "NIGHTLY_INDEX": "https://index",
    "NIGHTLY": "3.1.0.dev20261101",
}


def test_each_torch_runs_on_each_device() -> None:
    plan = script("plan")
    legs = plan.legs(SETTINGS)
    assert [leg["leg"] for leg in legs] == [
        "pinned-cpu",
        "pinned-cuda",
        "newest-cpu",
        "newest-cuda",
        "nightly-cpu",
        "nightly-cuda",
    ]
    assert (legs[3]["version"], legs[3]["runner"]) == ("newest", "big")
    assert legs[4]["version"] == "3.1.0.dev20261101"
    assert (legs[0]["version"], legs[0]["runner"]) == ("pinned", "ubuntu-latest")
    jobs = plan.jobs(legs, 3)
    assert len(jobs) == 18 and [job["shard"] for job in jobs[:4]] == ["1", "2", "3", "1"]


def test_what_is_not_there_is_left_out() -> None:
    plan = script("plan")
    legs = plan.legs(SETTINGS | {"GPU_RUNNER": "", "NIGHTLY_INDEX": "", "NIGHTLY": ""})
    assert [leg["leg"] for leg in legs] == ["pinned-cpu", "newest-cpu"]
    with pytest.raises(ValueError, match="TORCHES: old; there are pinned, newest, nightly"):
        plan.legs(SETTINGS | {"TORCHES": "old"})
    with pytest.raises(ValueError, match="SHARDS"):
        plan.jobs(legs, 0)


def test_both_matrices_are_lines_for_a_job() -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "plan.py")],
        env=SETTINGS | {"SHARDS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    named = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert len(json.loads(named["legs"])) == 6 and len(json.loads(named["jobs"])) == 12


def test_the_constraints_name_the_torch_of_the_leg() -> None:
    chosen = script("choose_torch").chosen
    written, newest = "# note\ntorch==2.13.0\nnumpy==2\n", "torch==3.0.0\n"
    assert chosen(written, newest, "pinned") == written
    assert chosen(written, newest, "newest") == newest
    assert chosen(written, newest, "2.11.0") == "# note\ntorch==2.11.0\nnumpy==2\n"
    with pytest.raises(ValueError, match="torch=="):
        chosen("numpy==2\n", newest, "3.0.0")


def test_the_constraints_of_the_newest_torch_differ_in_torch_alone() -> None:
    pinned, newest = (
        [line for line in (ROOT / name).read_text().splitlines() if line[0] != "#"]
        for name in ("constraints.txt", "constraints-newest.txt")
    )
    (before, after) = ([line for line in pins if line.startswith("torch==")] for pins in (pinned, newest))
    assert age(before[0][7:]) < age(after[0][7:])
    assert [line for line in pinned if line not in before] == [line for line in newest if line not in after]


def test_the_version_of_tonight_comes_from_a_report_of_pip() -> None:
    report = {"install": [{"metadata": {"name": "torch", "version": "3.0.0"}}]}
    assert script("resolve").version_in(json.dumps(report)) == "3.0.0"


def night(folder: pathlib.Path, *found: dict[str, Any], broken: tuple[dict[str, Any], ...] = ()) -> None:
    """Write the folder of a campaign, with a file for each finding."""
    (folder / "findings").mkdir(parents=True)
    against = {"torch": "2.13.0", "torch_regressions": list(broken)} if broken else None
    for each in (*found, *broken):
        (folder / each["repro"]).write_text("#" * each.pop("size"))
    document = {"torch": "3.0.0", "findings": list(found), "against": against}
    (folder / "summary.json").write_text(json.dumps(document))


def finding(fingerprint: str, *signature: str, size: int = 5, known: bool = False) -> dict[str, Any]:
    return {
        "fingerprint": fingerprint,
        "path": "nonstrict:module@cpu",
        "message": f"differs\n{fingerprint}",
        "signature": list(signature),
        "known": known,
        "repro": f"findings/{fingerprint}.py",
        "size": size,
    }


def test_a_difference_is_proposed_once_with_its_smallest_file(tmp_path: pathlib.Path) -> None:
    nights = tmp_path / "nights"
    night(nights / "one", finding("aaa", "value", size=9), finding("kkk", "known", known=True))
    night(nights / "two" / "out", finding("bbb", "value", size=3), broken=(finding("ccc", "crash"),))
    found = script("proposal").new_findings(nights)
    assert [each.fingerprint for each in found] == ["bbb", "ccc"]
    assert found[0].message == "differs" and found[0].where == "torch 3.0.0"
    assert found[1].where == "torch 3.0.0, right on torch 2.13.0"


def test_known_findings_are_not_proposed(tmp_path: pathlib.Path) -> None:
    proposal = script("proposal")
    corpora = tmp_path / "corpora"
    (corpora / "open").mkdir(parents=True)
    (corpora / "open" / "a_bug.py").write_text('# fingerprint = "aaa"\n')
    (corpora / "open" / "found_bbb.py").write_text("")
    night(tmp_path / "night", *(finding(name, name) for name in ("aaa", "bbb", "ccc", "ddd")))
    asked: list[list[str]] = []

    def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
        asked.append(arguments)
        if arguments[0] == "issue":
            return subprocess.CompletedProcess(arguments, 0, "the report\n", "")
        code = 0 if arguments[-1] == "found_ccc" else 2
        return subprocess.CompletedProcess(arguments, code, "", "does not show its bug\n" if code else "")

    added, left = proposal.propose(proposal.new_findings(tmp_path / "night"), corpora, run)
    assert [words[-1] for words in asked if words[0] == "corpus"] == ["found_ccc", "found_ddd"]
    assert len(added) == len(left) == 1
    assert "corpora/open/found_ccc.py" in added[0] and "the report" in added[0]
    assert left[0].endswith("not added: does not show its bug")
    text = proposal.body(added, left)
    assert text.index("found_ccc") < text.index("another torch only") < text.index("not added")


def test_the_text_is_never_too_long() -> None:
    proposal = script("proposal")
    text = proposal.body(["x" * 40_000, "y" * 40_000], ["z"])
    assert len(text) < 65_000 and "and 3 more" in text
    assert proposal.body([], []) == ""


def test_the_command_writes_its_answers_without_a_finding(tmp_path: pathlib.Path) -> None:
    night(tmp_path / "night")
    body = tmp_path / "body.md"
    done = subprocess.run(
        [sys.executable, FOLDER / "proposal.py", tmp_path, "--corpora", tmp_path, "--body", body],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, body.read_text()) == ("new=0\n", "")
