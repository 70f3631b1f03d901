"""Finds the entries that a finding resembles. They explain it where no fix can be installed.

An entry without a fix has a trigger: the tags that a program needs. The finding must have the mode and the
signature of the entry, on such a program, on a path with the transforms of the entry, or with others that
include them: a bug of swapping needs a swap. An entry may name the only runners that show it; entries of
different runners can explain a finding together. An entry may also say which calls of an operator are wrong:
then the program must make one. A program that was made by editing the entry's file needs no other tag.

An entry whose fix does not work on this torch has no trigger. A signature alone would hide new bugs, because
hundreds of bugs end in the same few signatures ("outputs, mismatch, value"). So

- mode, transforms and signature must agree. A backend that exports as another mode does has the other's bugs
  of export as well: at export, in the values of the outputs if the exported program is wrong as it is, and in
  the containers of the outputs, which export records. If it decomposes the program, it has those of
  decompositions too;
- the program must have ``ALIKE`` of the words of the entry's program, where rare words count more (see
  ``likeness``). The rare words are the operators and attributes that the bug needs.

An entry that passes on this torch explains nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.exemptions.backend import backend_of
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause
from exportdiff.known.attribution.wrong_calls import makes_wrong_call
from exportdiff.known.corpus.trigger import triggered
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.backends import mode_of
from exportdiff.runtime.paths.transforms import TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.known.attribution.knowledge import Knowledge
    from exportdiff.known.corpus.entry import Entry

NEAR = "near."
"""Begins the tag of a program that was made by editing a corpus file; the name of the file follows."""
DECOMPOSE = "decompose"
"""The transform that calls ``ep.run_decompositions``."""
ALIKE = 0.9
"""The weighted share of the words of an entry's program that a similar program must contain."""


def resembling(
    finding: Finding, case: Case, tags: Collection[str], known: Knowledge
) -> ExplainedFinding | None:
    """Return the finding with the entries that it resembles; None if there is none."""
    alike = [
        entry
        for entry in known.entries
        if _triggered(entry, finding, tags) and makes_wrong_call(entry, case, finding)
    ]
    owners = {entry.name: entry.root for entry in _covering(alike, finding)}
    if owners:
        causes = tuple(KnownCause(name, root, known.bug(root)) for name, root in sorted(owners.items()))
        return ExplainedFinding(finding, causes, by="resemblance")
    entry = _most_alike(finding, case, known)
    if entry is None:
        return None
    cause = KnownCause(entry.fix, entry.root, known.bug(entry.root))
    return ExplainedFinding(finding, (cause,), by="resemblance")


def shows_as(entry: Entry, finding: Finding) -> bool:
    """Whether mode and signature agree. The runner may differ: the corpus names one path of several."""
    return _same_mode(entry, finding) and any(map(finding.matches, entry.signatures))


def _same_mode(entry: Entry, finding: Finding) -> bool:
    """Whether the modes are one, or call the same function of torch at the stage that shows the finding.

    A bug of a backend is never that of another mode.
    """
    path = parse(entry.path)
    if path.mode == finding.mode:
        return True
    export = mode_of(path.mode).export
    if backend_of(path) is not None or export is None or export is not mode_of(finding.mode).export:
        return False
    in_export = finding.stage == "export"
    in_decomposing = finding.stage == "lower" and DECOMPOSE in {*path.transforms} & _transforms(finding)
    in_outputs = _is_of_outputs(finding, as_exported=not path.transforms)
    return in_export or in_decomposing or in_outputs


def _is_of_outputs(finding: Finding, *, as_exported: bool) -> bool:
    """Whether a backend shows it if export makes a wrong program: it has its containers and its values.

    ``as_exported``: whether the program shows the bug as it is, and not after transforms.
    """
    different = finding.signature[:2] == ("outputs", "mismatch")
    return different and finding.stage == "run" and (finding.signature[2] == "structure" or as_exported)


def _transforms(finding: Finding) -> set[str]:
    """Return the transforms of the path, and what they and the backend include."""
    included = (name for each in finding.transforms for name in TRANSFORMS[each].includes)
    backend = backend_of(finding.path)
    own = (DECOMPOSE,) if backend is not None and backend.decomposes else ()
    return {*finding.transforms, *included, *own}


def _triggered(entry: Entry, finding: Finding, tags: Collection[str]) -> bool:
    if entry.fix:
        return False
    edited = NEAR + entry.name in tags
    if not entry.trigger and not edited:
        return entry.fingerprint == finding.fingerprint
    on_path = set(parse(entry.path).transforms) <= _transforms(finding)
    tagged = edited or triggered(entry.trigger, tags)
    return on_path and tagged and shows_as(entry, finding)


def _covering(entries: Sequence[Entry], finding: Finding) -> Sequence[Entry]:
    """Return the entries whose runners are all that show the finding.

    If no entry knows all of them, several may do so together: each path has a bug of its own then, and the
    bugs look alike.
    """
    runners = {each.runner for each in finding.shown_on}
    alone = [entry for entry in entries if not entry.runners or runners <= {*entry.runners}]
    some = [entry for entry in entries if runners & {*entry.runners}]
    together = runners <= {runner for entry in some for runner in entry.runners}
    return alone or (some if together else ())


def _most_alike(finding: Finding, case: Case, known: Knowledge) -> Entry | None:
    """Return the most similar entry whose fix does not work here; None if none is similar enough."""
    owners = [
        (number, entry)
        for number, entry in enumerate(known.entries)
        if entry.fix in known.unusable
        and shows_as(entry, finding)
        and parse(entry.path).transforms == finding.transforms
    ]
    if not owners:
        return None
    scores = known.likeness.of(case.source)
    number, entry = max(owners, key=lambda owner: (scores[owner[0]], -owner[0]))
    return entry if scores[number] >= ALIKE else None
