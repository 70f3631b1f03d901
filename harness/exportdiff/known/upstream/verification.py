"""Runs the test of a commit, without the commit and with it, on copies of the files that it changes."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.known.upstream.patch_series import installed
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

RESULTS = "verified.json"
"""The file with the results. A run that was interrupted goes on from there."""

SECONDS = 600.0
"""Time limit of one test with the commit."""

_RUNNER = """\
import importlib.util, sys, unittest

sys.path.insert(0, {folder!r})
spec = importlib.util.spec_from_file_location("test_of_commit", {file!r})
sys.modules["test_of_commit"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
loader = unittest.TestLoader()
loader.testNamePatterns = ["*." + {name!r}]
result = unittest.TextTestRunner(stream=sys.stdout).run(loader.loadTestsFromModule(module))
sys.exit(not (result.wasSuccessful() and result.testsRun == 1 and not result.skipped))
"""


@dataclass(frozen=True)
class Verified:
    """What the test of a commit did."""

    digest: str
    """Of the mail."""
    fails_without: bool
    passes_with: bool
    output: str
    """The end of what the test printed with the commit."""

    @property
    def problem(self) -> str:
        """What is wrong; empty if nothing is."""
        if not self.passes_with:
            return f"its test fails with it: {self.output}"
        return "" if self.fails_without else "its test passes without it"


def verify(
    mails: Collection[pathlib.Path], sources: pathlib.Path | None, workers: int
) -> Iterator[tuple[pathlib.Path, Verified]]:
    """Yield each mail and what its test did; read and write the results in the mails' folder.

    ``sources``: the tree that the commits are made for; None: the installed torch.
    """
    known = {file: _read(file) for file in {mail.with_name(RESULTS) for mail in mails}}
    with ThreadPoolExecutor(workers) as pool:
        tried = pool.map(
            lambda mail: _verified(mail, known[mail.with_name(RESULTS)].get(mail.name), sources), mails
        )
        for mail, verified in zip(mails, tried, strict=True):
            file = mail.with_name(RESULTS)
            known[file][mail.name] = verified
            fields = {name: asdict(each) for name, each in known[file].items()}
            file.write_text(json.dumps(fields, indent=1), encoding="utf-8")
            yield mail, verified


def _read(results: pathlib.Path) -> dict[str, Verified]:
    if not results.exists():
        return {}
    return {n: Verified(**each) for n, each in json.loads(results.read_text(encoding="utf-8")).items()}


def _verified(mail: pathlib.Path, known: Verified | None, sources: pathlib.Path | None) -> Verified:
    """Run the test of a mail, unless the known result is that of the same mail."""
    digest = hashlib.sha256(mail.read_bytes()).hexdigest()
    if known is not None and known.digest == digest:
        return known
    try:
        return _run_test(mail, digest, sources)
    except UsageError as error:
        return Verified(digest, fails_without=False, passes_with=False, output=str(error))


def _run_test(mail: pathlib.Path, digest: str, sources: pathlib.Path | None) -> Verified:
    site = installed("torch").parent
    with scratch.make() as folder:
        tree = pathlib.Path(folder)
        changed = apply(mail, tree, sources or site)
        runner = tree / "run_test.py"
        runner.write_text(_runner(mail, tree), encoding="utf-8")
        without = run_file(runner)  # The child has the installed torch.
        link(site / "torch", tree / "torch", "torch", changed)
        if sources is not None:
            link(sources / "test", tree / "test", "test", changed)
        code, output = _run_with(runner, tree)
        return Verified(digest, without.code == 1, code == 0, output)


def apply(mail: pathlib.Path, tree: pathlib.Path, sources: pathlib.Path) -> set[str]:
    """Apply a mail to copies of the files that it changes, in a new repository; return their paths."""
    changed = set(re.findall(r"^--- a/(\S+)$", mail.read_text(encoding="utf-8"), re.MULTILINE))
    for path in changed:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sources / path, tree / path)
    _git(tree, "init", "-q")
    _git(tree, "add", "-A")
    _git(tree, "commit", "-q", "--allow-empty", "-m", "before")
    _git(tree, "am", "--keep-non-patch", str(mail.absolute()))
    return changed


def link(source: pathlib.Path, target: pathlib.Path, name: str, changed: Collection[str]) -> None:
    """Make links to all that is in a folder, but what is changed. Bytecode of what is not saves a minute."""
    target.mkdir(exist_ok=True)
    for each in source.iterdir():
        path = f"{name}/{each.name}"
        if any(other.startswith(f"{path}/") for other in changed):
            link(each, target / each.name, path, changed)
        elif each.name == "__pycache__":
            _link_bytecode(each, target / each.name, name, changed)
        elif path not in changed and not (target / each.name).exists():
            (target / each.name).symlink_to(each)


def _link_bytecode(source: pathlib.Path, target: pathlib.Path, name: str, changed: Collection[str]) -> None:
    target.mkdir()
    for each in source.iterdir():
        if f"{name}/{each.name.partition('.')[0]}.py" not in changed:
            (target / each.name).symlink_to(each)


def _runner(mail: pathlib.Path, tree: pathlib.Path) -> str:
    """Return a program that runs the test of a mail; it exits with 0 if the test passes, else with 1."""
    text = mail.read_text(encoding="utf-8")
    path = re.findall(r"^\+\+\+ b/(test/\S+)$", text, re.MULTILINE)
    name = re.findall(r"^\+    def (test_\w+)\(", text, re.MULTILINE)
    if len(path) != 1 or len(name) != 1:
        raise UsageError(f"{mail} adds no test, or several")
    file = tree / path[0]
    return _RUNNER.format(folder=str(file.parent), file=str(file), name=name[0])


def _run_with(runner: pathlib.Path, tree: pathlib.Path) -> tuple[int | None, str]:
    """Run a program with the torch of a tree; return its exit code and the end of its output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), *filter(None, sys.path)])}
    command = [sys.executable, "-P", str(runner)]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None, "no end within the time limit"
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip(" -=")]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
    return done.returncode, (errors or lines or [""])[-1]


def _git(tree: pathlib.Path, *words: str) -> None:
    author = ["-c", "user.name=exportdiff", "-c", "user.email=exportdiff@localhost"]
    try:
        done = subprocess.run(["git", *author, *words], cwd=tree, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UsageError("git applies the commits, and is missing") from None
    if done.returncode:
        raise UsageError(f"git {words[0]}: {(done.stderr or done.stdout).strip()}")
