"""Caches what files did under a version of torch, because a corpus has hundreds of files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.fuzzing.other_torch.messages import FileAnswer
from exportdiff.known.corpus.trial_results import code_of
from exportdiff.runtime.processes.child import ended_from_outside

if TYPE_CHECKING:
    import pathlib

    from exportdiff.fuzzing.other_torch.probe import Interpreter


def cached_run(interpreter: Interpreter, text: str, hash_seed: int = 0) -> FileAnswer | None:
    """Return what a file with this code did under a torch; None: it is not in the cache."""
    try:
        fields = json.loads(_file(interpreter, text, hash_seed).read_text(encoding="utf-8"))
        return FileAnswer(int(fields["code"]), str(fields["line"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def store_run(interpreter: Interpreter, text: str, ran: FileAnswer, hash_seed: int = 0) -> None:
    """Cache what a file did, if it exited by itself. A folder that cannot be written is no error."""
    if ran.code is None or ran.code < 0 or ended_from_outside(ran.code):
        return
    write_cache_file(_file(interpreter, text, hash_seed), json.dumps(asdict(ran)).encode())


def _file(interpreter: Interpreter, text: str, hash_seed: int) -> pathlib.Path:
    parts = "\0".join(("3", interpreter.torch, interpreter.digest, code_of(text), str(hash_seed)))
    return cache_folder() / "runs" / f"{hashlib.sha256(parts.encode()).hexdigest()}.json"
