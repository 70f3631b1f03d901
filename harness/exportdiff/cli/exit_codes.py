"""The exit codes of all commands: one table for ``--help`` and for the reference."""

from __future__ import annotations

ALL_COMMANDS = {
    0: "something was compared, and nothing that fails was found",
    1: "findings",
    2: "a mistake in the arguments or the environment, or nothing could be judged",
    3: "an error of exportdiff itself",
    130: "interrupted by Ctrl-C or SIGTERM",
}
"""What the codes mean for every command."""

WRONG_ARGUMENT = "an argument is wrong"

EACH_COMMAND: dict[str, dict[int, str]] = {
    "fuzz": {
        0: "nothing new",
        1: "new or masked findings, or a regression",
        2: f"no program was judged, or {WRONG_ARGUMENT}",
    },
    "merge": {
        0: "nothing new",
        1: "new or masked findings, or a regression",
        2: "no program was judged, or the folders do not belong together",
    },
    "report": {0: "the page is written", 2: "a folder cannot be read"},
    "check": {
        0: "the model was judged and nothing fails",
        1: "a finding fails",
        2: f"the model was not judged, or {WRONG_ARGUMENT}",
    },
    "judge": {
        0: "a call was judged and nothing fails; the exit code of the command itself is ignored",
        1: "a finding fails",
        2: f"no call was judged, or {WRONG_ARGUMENT}",
    },
    "minimize": {
        0: "the result shows the difference in a fresh process",
        1: "it does not, or there is no difference",
        2: f"the file or {WRONG_ARGUMENT}",
    },
    "replay": {
        0: "every file is as recorded",
        1: "a file is not as recorded",
        2: "no file can be run, or a fix is missing",
    },
    "corpus list": {0: "the list is printed", 2: "there is no corpus"},
    "corpus add": {0: "the file is added", 2: f"it cannot be added, or {WRONG_ARGUMENT}"},
    "corpus close": {0: "the entry is moved", 2: f"it does not pass, or {WRONG_ARGUMENT}"},
    "corpus fit": {
        0: "each fix is usable, or its bug is fixed upstream",
        1: "a fix is not usable",
        2: WRONG_ARGUMENT,
    },
    "corpus bisect": {
        0: "the headers are written",
        1: "an entry fails in another way than its bug on some version",
        2: WRONG_ARGUMENT,
    },
    "corpus verify": {0: "all entries are as they should be", 1: "an entry has a problem", 2: WRONG_ARGUMENT},
    "bisect": {
        0: "no version has the bug",
        1: "a version has the bug",
        2: f"the file or {WRONG_ARGUMENT}, or the file fails in another way on every version",
    },
    "known": {0: "a bug matches", 1: "no bug matches", 2: f"there is no corpus, or {WRONG_ARGUMENT}"},
    "issue": {0: "the report is printed", 2: "the file does not show its bug"},
    "upstream": {
        0: "the commits are written, and verified if that was asked for",
        1: "a test passes without its commit, or fails with it",
        2: f"no bug shows on this torch, or {WRONG_ARGUMENT}",
    },
    "show": {0: "the program is printed", 2: WRONG_ARGUMENT},
    "features": {0: "the tags are counted", 2: WRONG_ARGUMENT},
    "faults": {0: "every fault was detected", 1: "a fault was not detected", 2: WRONG_ARGUMENT},
    "bench": {
        0: "all is measured; for `gpu`: nothing differs; for `refusals`: no fix is wrong; for `edits`: a "
        "comment breaks nothing",
        1: "`gpu`: something differs on the device alone; `refusals`: a fix is wrong; `edits`: a comment "
        "breaks something",
        2: f"{WRONG_ARGUMENT}; `gpu`, `refusals`, `edits`: nothing could be judged",
    },
    "paths": {0: "the paths are listed", 2: WRONG_ARGUMENT},
    "zoo": {
        0: "every model is as recorded",
        1: "a model is not as recorded",
        2: f"a package is missing, or {WRONG_ARGUMENT}",
    },
}
"""What the codes mean for one command. Every command also ends with 3 and 130 as in ``ALL_COMMANDS``."""


def exit_codes(command: str) -> str:
    """Return the sentence for ``exportdiff COMMAND --help``."""
    codes = {**EACH_COMMAND[command], 3: ALL_COMMANDS[3]}
    return f"Exit codes: {'; '.join(f'{code}: {meaning}' for code, meaning in codes.items())}."
