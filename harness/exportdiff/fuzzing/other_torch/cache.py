"""Caches what files did under a version of torch, because a corpus has hundreds of files."""

from __future__ import annotations

import ast
import hashlib
import json
import pathlib
import tempfile
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.fuzzing.other_torch.messages import FileAnswer
from exportdiff.known.corpus.trial_results import cache_folder
from exportdiff.runtime.processes.child import ended_from_outside

if TYPE_CHECKING:
    from exportdiff.fuzzing.other_torch.probe import Interpreter


def cached_run(interpreter: Interpreter, text: str) -> FileAnswer | None:
    """Return what a file with this code did under a torch; None: it is not in the cache."""
    try:
        fields = json.loads(_file(interpreter, text).read_text(encoding="utf-8"))
        return FileAnswer(int(fields["code"]), str(fields["line"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def store_run(interpreter: Interpreter, text: str, ran: FileAnswer) -> None:
    """Cache what a file did, if it exited by itself. A folder that cannot be written is no error."""
    if ran.code is None or ran.code < 0 or ended_from_outside(ran.code):
        return
    file = _file(interpreter, text)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as written:
            json.dump(asdict(ran), written)
        # Atomic, so that another process never reads half a file.
        pathlib.Path(written.name).replace(file)


def _code(text: str) -> str:
    """Return the code without comments and docstring, which do not matter for a run."""
    tree = parse(text)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return ast.dump(tree)


def _file(interpreter: Interpreter, text: str) -> pathlib.Path:
    digest = hashlib.sha256(f"1\0{interpreter.torch}\0{_code(text)}".encode()).hexdigest()
    return cache_folder() / "runs" / f"{digest}.json"
