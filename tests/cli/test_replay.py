"""``exportdiff replay``: it prints one word for each file, and no file affects another file."""

from __future__ import annotations

import pathlib

import pytest

from exportdiff.cli import main
from exportdiff.core.torch_versions import torch_version

HEADER = """\
# /// script
# dependencies = ["torch"]
#
# [tool.exportdiff]
# status = "{}"
# ///
def make():
    return None
"""


def tried_here(shown: str) -> str:
    """Return a header that says what the file shows on the torch that runs the tests."""
    table = f'#\n# [tool.exportdiff.versions]\n# "{torch_version()}" = "{shown}"\n# ///\ndef'
    return HEADER.format("open").replace("# ///\ndef", table)


FILES = {
    "fixed_here": (tried_here("fixed") + "print('ok')\n", "as recorded"),
    "shows_again": (tried_here("fixed") + "import sys\nsys.exit(1)\n", "BROKEN"),
    "other_here": (tried_here("other") + "import os\nos._exit(3)\n", "as recorded"),
    "mended_here": (tried_here("shows") + "print('ok')\n", "FIXED"),
    "ok_open": (HEADER.format("open") + "import sys\nprint('BUG')\nsys.exit(1)\n", "as recorded"),
    "ok_seed": (HEADER.format("seed") + "import sys\nprint('ok')\nsys.exit(0)\n", "as recorded"),
    "fixed": (HEADER.format("open") + "print('ok')\n", "FIXED"),
    "again": (HEADER.format("fixed") + "import sys\nsys.exit(1)\n", "BROKEN"),
    "syntax": (HEADER.format("open") + "def f(:\n", "BROKEN"),
    "raises": (HEADER.format("open") + "made()\n", "BROKEN"),
    "no_make": (HEADER.format("open").replace("make", "mock"), "BROKEN"),
    "imports_numpy": (HEADER.format("open") + "import numpy\n", "BROKEN"),
    "null": (HEADER.format("open") + "\0", "BROKEN"),
    "endless": (HEADER.format("open") + "import time\nwhile True:\n    time.sleep(1)\n", "BROKEN"),
    "segfault": (HEADER.format("open") + "import ctypes\nctypes.string_at(0)\n", "BROKEN"),
    "odd_exit": (HEADER.format("open") + "import os\nos._exit(3)\n", "BROKEN"),
    "no_header": ("print('hello')\n", "BROKEN"),
    "no_status": (HEADER.format("whatever"), "BROKEN"),
    "bad_toml": ("# /// script\n# a = = 1\n# ///\n", "BROKEN"),
    "after_failures": (HEADER.format("seed") + "print('ok')\n", "as recorded"),
}

DETAILS = {
    "syntax": "SyntaxError",
    "raises": "NameError: name 'made' is not defined (line 9)",
    "no_make": "defines no make()",
    "imports_numpy": "imports numpy",
    "fixed": "exportdiff corpus close",
    "fixed_here": "(fixed on this torch) ok",
    "shows_again": "(was fixed on this torch)",
    "endless": "no answer within 2 s",
    "segfault": "SIGSEGV",
    "odd_exit": "exit code 3",
    "no_header": "header",
    "no_status": "'whatever'",
}


def test_replay_prints_the_status_of_every_file(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, (text, _) in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
    missing = tmp_path / "gone.py"
    assert main(["replay", "--limit", "2s", str(tmp_path), str(missing)]) == 1
    lines = {pathlib.Path(line[13:].split("  ")[0]).stem: line for line in _lines(capsys)}
    assert {name: line[:11].strip() for name, line in lines.items()} == {
        **{name: word for name, (_, word) in FILES.items()},
        "gone": "BROKEN",
    }
    for name, detail in DETAILS.items():
        assert detail in lines[name]


def test_replay_exits_with_0_if_all_files_are_as_recorded(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.py"
    file.write_text(FILES["ok_open"][0])
    assert main(["replay", str(file)]) == 0
    assert _lines(capsys) == [f"as recorded  {file}  (open) BUG"]


NEEDS = HEADER.replace('# status = "{}"', '# status = "open"\n# {} = ["add_rightly"]')


@pytest.fixture
def corpora(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a corpus with a fix that a file can see."""
    import torch.nn.modules.linear

    file = pathlib.Path(torch.nn.modules.linear.__file__)
    lines = file.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line == "class Identity(Module):")
    at = next(n for n in range(at, len(lines)) if lines[n].strip() == "return input")
    hunk = f"@@ -{at + 1},1 +{at + 1},1 @@\n-{lines[at]}\n+        return input + 1\n"
    name = "torch/nn/modules/linear.py"
    folder = tmp_path / "corpora" / "fixes"
    folder.mkdir(parents=True)
    (folder / "add_rightly.patch").write_text(f"text\n\n---\n--- a/{name}\n+++ b/{name}\n{hunk}")
    return folder.parent


SEES_THE_FIX = """\
import sys
import torch

sys.exit(int(torch.nn.Identity()(torch.zeros(1)).item()))
"""


@pytest.mark.parametrize("key", ["unmasked-by", "caused-by"])
def test_replay_holds_the_fixes_that_a_file_names(
    key: str, tmp_path: pathlib.Path, corpora: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, plain = tmp_path / "needs.py", tmp_path / "plain.py"
    file.write_text(NEEDS.format(key) + SEES_THE_FIX)
    plain.write_text(HEADER.format("seed") + SEES_THE_FIX)
    assert main(["replay", str(file), str(plain), "--corpora", str(corpora)]) == 0
    with_fix, without = _lines(capsys)
    assert with_fix == f"as recorded  {file}  (open, with 1 fix in place)"
    assert without == f"as recorded  {plain}  (seed)"
    file.write_text(NEEDS.format(key))
    assert main(["replay", str(file), "--corpora", str(corpora)]) == 1
    assert _lines(capsys) == [f"FIXED        {file}  (was open, with 1 fix in place)"]


def test_a_file_whose_fix_is_missing_is_2_and_one_line(
    tmp_path: pathlib.Path, corpora: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "needs.py"
    file.write_text(NEEDS.format("unmasked-by").replace("add_rightly", "gone"))
    assert main(["replay", str(file), "--corpora", str(corpora)]) == 2
    error = capsys.readouterr().err
    assert f"{file} shows its bug only with fixes in place" in error and error.count("\n") == 1
    assert f"{corpora}/fixes has no gone.patch; name the corpus that has it with --corpora" in error


def test_replay_is_2_if_no_file_can_be_run(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "needs.py"
    file.write_text(NEEDS.format("unmasked-by").replace('["add_rightly"]', "3"))
    assert main(["replay", str(file), str(tmp_path / "gone.py")]) == 2
    wrong, gone = _lines(capsys)
    assert "'unmasked-by' in [tool.exportdiff], which is no list of names of fixes" in wrong
    assert "there is no such file" in gone


def test_replay_without_any_file_is_a_usage_error(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replay", "--corpora", "none"]) == 2
    assert "there is no none/ here" in capsys.readouterr().err


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()
