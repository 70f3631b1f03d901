"""Add the new findings of a night to the corpus, and write the text of a pull request.

``proposal.py nights --corpora corpora --body body.md`` reads every ``summary.json`` below ``nights`` (of
shards and of joined nights), adds a file for each new difference that the corpus lacks, writes the text with
a ready report for each, and prints ``new=N``. A file that shows nothing on the torch in use (the bug is in
another) is named in the text, and not added.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SIZE = 60_000
"""Characters of a text that GitHub accepts, with some to spare."""

Run = Callable[[list[str]], subprocess.CompletedProcess[str]]


@dataclass(frozen=True)
class New:
    """One difference that no entry explains, and the smallest file that shows it."""

    fingerprint: str
    path: str
    message: str
    file: pathlib.Path
    where: str
    """The leg that found it, and whether torch broke it since the good one."""

    @property
    def name(self) -> str:
        """The name of its entry, until a person gives it a better one."""
        return f"found_{self.fingerprint}"


def exportdiff(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of exportdiff."""
    return subprocess.run(["exportdiff", *arguments], capture_output=True, text=True, check=False)


def new_findings(nights: pathlib.Path) -> list[New]:
    """Return one for each signature: the one with the smallest file."""
    best: dict[tuple[str, ...], New] = {}
    for signature, found in _listed(nights):
        before = best.get(signature)
        if before is None or found.file.stat().st_size < before.file.stat().st_size:
            best[signature] = found
    return sorted(best.values(), key=lambda each: each.fingerprint)


def _listed(nights: pathlib.Path) -> Iterator[tuple[tuple[str, ...], New]]:
    for summary in sorted(nights.rglob("summary.json")):
        document = json.loads(summary.read_text(encoding="utf-8"))
        against = document.get("against") or {}
        good = f", right on torch {against.get('torch')}"
        leg = f"torch {document['torch']}"
        fresh = [(each, leg) for each in document["findings"] if not each["known"]]
        fresh += [(each, leg + good) for each in against.get("torch_regressions", ())]
        for each, where in fresh:
            file = summary.parent / each["repro"]
            if file.is_file():
                yield tuple(each["signature"]), _new(each, file, where)


def _new(each: dict[str, Any], file: pathlib.Path, where: str) -> New:
    return New(file.stem, each["path"], each["message"].strip().partition("\n")[0], file, where)


def known(corpora: pathlib.Path) -> str:
    """Return the text of all entries, in which the fingerprints of earlier nights are."""
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(corpora.rglob("*.py")))


def propose(found: list[New], corpora: pathlib.Path, run: Run) -> tuple[list[str], list[str]]:
    """Add what the corpus lacks. Return a paragraph for each added file, and one for each that was not."""
    added: list[str] = []
    left: list[str] = []
    before = known(corpora)
    for each in found:
        if each.fingerprint in before or (corpora / "open" / f"{each.name}.py").exists():
            continue
        head = f"**`{each.path}`**: {each.message} ({each.where})"
        # On two lines: what the file is called changes once a person has named it.
        done = run(["corpus", "add", str(each.file), "--name", each.name])
        if done.returncode:
            left.append(f"{head}\nnot added: {done.stderr.strip() or done.stdout.strip()}")
            continue
        report = run(["issue", str(each.file)])
        text = report.stdout if not report.returncode else f"no report: {report.stderr.strip()}"
        added.append(
            f"{head}\n`corpora/open/{each.name}.py`\n\n<details><summary>ready report</summary>\n\n{text}\n"
            "</details>"
        )
    return added, left


def body(added: list[str], left: list[str]) -> str:
    """Return the text; what does not fit is counted."""
    parts = ["Give each file a name, and fill in its header, as CONTRIBUTING.md says."] if added else []
    parts += added
    parts += ["Shown on another torch only, or already explained:"] * bool(left) + left
    text = ""
    for number, part in enumerate(parts):
        if len(text) + len(part) > SIZE:
            return f"{text}\nand {len(parts) - number} more: see the artifacts of the run\n"
        text += part + "\n\n"
    return text


def main() -> None:
    """Read the arguments, write the files, print how many findings are new."""
    parser = argparse.ArgumentParser()
    parser.add_argument("nights", type=pathlib.Path)
    parser.add_argument("--corpora", type=pathlib.Path, required=True)
    parser.add_argument("--body", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    added, left = propose(new_findings(arguments.nights), arguments.corpora, exportdiff)
    arguments.body.write_text(body(added, left), encoding="utf-8")
    print(f"new={len(added) + len(left)}")


if __name__ == "__main__":
    main()
