"""The command line: exit codes, one line for each mistake, JSON."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

import pytest

from exportdiff.cli import main, make_parser
from exportdiff.cli.arguments import duration, shard
from exportdiff.known.corpus.entry import FIXES
from exportdiff.lab.faults import FAULTS, detection
from exportdiff.lab.faults.detection import Detection
from exportdiff.runtime.processes.usage import process_tree
from exportdiff_strategies.tags import TAGS
from support.evidence_of import make_finding
from support.folders import ROOT


@pytest.mark.parametrize(
    "arguments",
    [
        ["--paths", "nothing:*"],
        ["--out", "{file}"],
        ["--out", "{file}/below"],
        ["--out", "/proc/none"],
        ["--device", "cuda"],
        ["--profile", "wild"],
    ],
)
def test_fuzz_mistakes_are_2_and_one_line(
    arguments: list[str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    if "cuda" in arguments and torch.cuda.is_available():
        pytest.skip("cuda is there: no mistake")
    file = tmp_path / "file"
    file.touch()
    assert main(["fuzz", "--examples", "1", *(a.format(file=file) for a in arguments)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["fuzz", "--time", "soon"],
        ["fuzz", "--examples", "0"],
        ["fuzz", "--examples", "3", "--time", "1m"],
        ["fuzz", "--shard", "3/2"],
        ["fuzz", "--workers", "none"],
        ["fuzz", "--memory", "4T"],
        ["fuzz", "--memory", "100M"],
        ["fuzz", "--engine", "slurm"],
        ["show"],
        [],
    ],
)
def test_arguments_that_argparse_refuses_are_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2


def test_durations_and_shards() -> None:
    assert [duration(text) for text in ("90s", "10m", "1h", "2.5")] == [90, 600, 3600, 2.5]
    assert shard("2/5") == (2, 5)


def test_show_prints_a_program_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--seed", "1", "--example", "2", "--features"]) == 0
    source = capsys.readouterr().out
    assert "\n# features: " in source
    namespace: dict[str, object] = {}
    exec(source, namespace)
    assert callable(namespace["make"])


def test_show_draws_by_the_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--example", "3", "--profile", "dynamic"]) == 0
    assert "def dynamic_shapes():" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["fuzz --examples 1", "show --example 1", "features --examples 1"])
def test_an_unknown_profile_is_2_and_the_names_are_given(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--profile", "wild"]) == 2
    error = capsys.readouterr().err
    assert "no such profile; there are default, " in error and "dynamic" in error and error.count("\n") == 1


def test_paths_are_listed_with_what_they_found(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = '# [tool.exportdiff]\n# status = "open"\n# path = "nonstrict+reload:module@cpu"\n'
    (tmp_path / "one.py").write_text(f"# /// script\n{header}# ///\ndef make():\n    ...\n")
    assert main(["paths", "--paths", "nonstrict+reload:*", "--corpora", str(tmp_path), "--json"]) == 0
    flat, rebuilt = json.loads(capsys.readouterr().out)
    assert flat["path"] == "nonstrict+reload:module@cpu" and flat["found"] == 1 and rebuilt["found"] == 0
    assert flat["promise"].endswith(".") and flat["milliseconds"] > 0 and flat["every"] > 1
    assert main(["paths", "--corpora", str(tmp_path / "none")]) == 0
    printed = capsys.readouterr().out
    assert "pipeline:stages@cpu" in printed and "aoti:package@cpu" in printed


def test_in_any_folder_the_corpus_that_was_installed_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    # Without it, every known bug would be reported as new.
    monkeypatch.chdir(tmp_path)
    chosen = make_parser().parse_args(["fuzz"]).corpora
    assert chosen.is_absolute() and (chosen / FIXES).is_dir()


def test_features_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["features", "--examples", "6", "--seed", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document.keys() == {"examples", "seconds", "tags", "pairs"}
    assert document["examples"] == 6 and document["seconds"] > 0
    tags: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for index in range(6):
        main(["show", "--seed", "1", "--example", str(index), "--features"])
        drawn = capsys.readouterr().out.strip().splitlines()[-1].removeprefix("# features: ").split()
        tags.update(drawn)
        pairs.update(f"{one}|{other}" for one in drawn for other in drawn if one < other)
    assert {tag: number for tag, number in document["tags"].items() if number} == tags
    assert document["pairs"] == pairs
    assert document["tags"].keys() == TAGS.keys()


def test_features_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["features", "--examples", "2", "--profile", "core"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["tag", "meaning", "count", "percent"]
    counts = [int(line.split()[-2]) for line in lines[1 : 1 + len(TAGS)]]
    assert counts == sorted(counts) and counts[0] == 0
    assert re.fullmatch(r"pairs of tags: \d+ of \d+ possible ones were drawn \(\d+\.\d %\)", lines[-2])
    assert re.fullmatch(r"\d+\.\d ms to draw and render a program", lines[-1])


MODULE = "nonstrict:module@cpu"


def test_faults_are_listed_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(FAULTS)
    for line, fault in zip(lines, FAULTS.values(), strict=True):
        assert line.startswith(fault.name) and fault.check in line and fault.why in line
        assert fault.cites in line
    assert main(["faults", "--list", "--fault", "export_leaves_a_h*", "--fault", "unflatten_swaps*"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_an_unknown_fault_is_2_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--fault", "export_*", "--fault", "nope*"]) == 2
    output = capsys.readouterr()
    assert output.out == "" and "'nope*' names no fault" in output.err
    assert len(output.err.splitlines()) == 1


def test_faults_caught_are_0_and_the_table_says_by_whom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    caught = Detection("export_leaves_a_hook", (make_finding("hook", path=MODULE, check="purity"),), 2, 0.5)
    monkeypatch.setattr(detection, "detect_all", lambda *_: [caught])
    assert main(["faults", "--fault", "export_leaves_a_h*", "--examples", "2"]) == 0
    header, row, total = capsys.readouterr().out.splitlines()
    assert header.split() == ["fault", "caught", "by", "check", "programs", "seconds"]
    assert row.split() == ["export_leaves_a_hook", MODULE, "purity", "2", "0.5"]
    assert total == "1 of 1 caught"


def test_faults_missed_are_1_and_json_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    missed = "every_call_runs_the_first_calls_graph"  # the first program calls nothing twice
    globs = ["--fault", "export_leaves_a_h*", "--fault", missed, "--paths", "nonstrict:module"]
    assert main(["faults", *globs, "--examples", "1", "--workers", "1", "--json"]) == 1
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert (document["caught"], document["missed"]) == (1, 1)
    entries = {entry["fault"]: entry for entry in document["faults"]}
    assert entries[missed]["caught_by"] == [] and entries[missed]["programs"] == 1
    first, *_ = entries["export_leaves_a_hook"]["caught_by"]
    assert (first["path"], first["check"], first["kind"]) == (MODULE, "purity", "mismatch")
    assert len(output.err.splitlines()) == 2


def test_help_does_not_import_torch() -> None:
    code = """
import sys
from exportdiff.cli import main, make_parser
try:
    main(["--help"])
finally:
    assert "torch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "fuzz" in done.stdout


def test_fuzz_writes_its_folder_and_show_agrees(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["fuzz", "--examples", "5", "--seed", "2", "--workers", "1", "--out", str(out)]
    arguments += ["--profile", "core", "--minimize", "0"]
    code = main([*arguments, "--paths", "nonstrict:*"])
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["examples"], summary["harness_errors"]) == (5, 0)
    assert set(summary["paths"]) == {"nonstrict:module@cpu", "nonstrict:unflatten@cpu"}
    assert code == (0 if all(finding["known"] for finding in summary["findings"]) else 1)
    for finding in summary["findings"]:
        assert (out / finding["repro"]).is_file()
    lines = [json.loads(line) for line in (out / "events.ndjson").read_text().splitlines()]
    done = [e for e in lines if e["event"] == "example_done"]
    assert [e["index"] for e in done] == [0, 1, 2, 3, 4]
    assert summary["profile"] == lines[0]["profile"] == "core"
    capsys.readouterr()
    main(["show", "--seed", "2", "--example", "4", "--profile", "core", "--features"])
    assert "# features: " + " ".join(done[4]["features"]) in capsys.readouterr().out


def ctrl_c(pid: int) -> None:
    os.killpg(pid, signal.SIGINT)  # a terminal sends it to the whole group


def terminate(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def both(pid: int) -> None:
    terminate(pid)
    ctrl_c(pid)


@pytest.mark.parametrize("ask", [ctrl_c, pytest.param(terminate, marks=pytest.mark.nightly), both])
def test_a_signal_ends_a_campaign_and_a_second_one_at_once(
    ask: Callable[[int], None], tmp_path: pathlib.Path
) -> None:
    out, empty = tmp_path / "out", tmp_path / "corpus"
    empty.mkdir()  # no known bugs: to read and to install the fixes takes seconds
    command = [sys.executable, "-m", "exportdiff", "fuzz", "--workers", "1", "--out", str(out)]
    command += ["--corpora", str(empty)]
    process = subprocess.Popen(
        [*command, "--paths", "nonstrict:module"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    log = out / "events.ndjson"
    wait_until(lambda: log.exists() and "example_done" in log.read_text())
    started = process_tree(process.pid)
    if sys.platform == "linux":
        assert len(started) >= 3  # the command, the fork server, the worker
    ask(process.pid)
    output, _ = process.communicate(timeout=120)
    wait_until(lambda: not any(map(is_running, started)))
    if ask is both:
        assert process.returncode == 130
        assert not (out / "summary.json").exists()
        # Nothing is lost: the journal is whole, and has what was done.
        assert main(["merge", str(out), "--out", str(tmp_path / "joint")]) in (0, 1)
        assert json.loads((tmp_path / "joint" / "summary.json").read_text())["examples"] >= 1
        return
    assert process.returncode in (0, 1)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["finished"] == "interrupted"
    assert "interrupted" in output


def is_running(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 300.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.1)
