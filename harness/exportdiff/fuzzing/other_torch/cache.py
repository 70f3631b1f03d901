"""What files did under a torch, kept in the user's cache: a corpus has hundreds of them."""

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
from exportdiff.known.corpus.fix_trials import cache_folder
from exportdiff.runtime.processes.child import ended_from_outside

if TYPE_CHECKING:
    from exportdiff.fuzzing.other_torch.probe import Interpreter


def cached_run(interpreter: Interpreter, text: str) -> FileAnswer | None:
    """Return what a file with this code did under a torch; None: nobody has kept it."""
    try:
        fields = json.loads(_place(interpreter, text).read_text(encoding="utf-8"))
        return FileAnswer(int(fields["code"]), str(fields["line"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def store_run(interpreter: Interpreter, text: str, ran: FileAnswer) -> None:
    """Keep it, if the file exited by itself; if the folder cannot be written, only time is lost."""
    if ran.code is None or ran.code < 0 or ended_from_outside(ran.code):
        return
    place = _place(interpreter, text)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, encoding="utf-8") as written:
            json.dump(asdict(ran), written)
        # Nobody ever reads half a file.
        pathlib.Path(written.name).replace(place)


def _code(text: str) -> str:
    """Return what matters for a run: neither the header nor the explanation, which people edit."""
    tree = parse(text)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return ast.dump(tree)


def _place(interpreter: Interpreter, text: str) -> pathlib.Path:
    digest = hashlib.sha256(f"1\0{interpreter.torch}\0{_code(text)}".encode()).hexdigest()
    return cache_folder() / "runs" / f"{digest}.json"
