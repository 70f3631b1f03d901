"""Starts a process with the torch of another environment, and sends it questions."""

from __future__ import annotations

import itertools
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import Future
from typing import IO, TYPE_CHECKING

from exportdiff.core.own_code import packages
from exportdiff.fuzzing.other_torch.messages import ErrorAnswer, decoded, encoded
from exportdiff.fuzzing.other_torch.probe import environment
from exportdiff.runtime.processes import scratch

if TYPE_CHECKING:
    from exportdiff.fuzzing.other_torch.messages import Answer, Question
    from exportdiff.fuzzing.other_torch.probe import Interpreter

SERVER = "exportdiff.fuzzing.other_torch.server"
PATIENCE = 10.0
"""Seconds for which the process may take to end by itself."""


class OtherTorch:
    """Answers questions with the torch of another environment.

    Leaving the ``with`` block ends its processes. Questions may come from several threads.
    """

    def __init__(self, interpreter: Interpreter, workers: int, hash_seed: int | None = None) -> None:
        """Start nothing yet.

        ``workers``: how many questions are answered at a time. ``hash_seed``: the PYTHONHASHSEED there; None:
        the one of this environment, or else 0.
        """
        self.interpreter = interpreter
        self._settings = {} if hash_seed is None else {"PYTHONHASHSEED": str(hash_seed)}
        self._workers = workers
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._open: dict[int, Future[Answer]] = {}
        self._ended = ""

    def __enter__(self) -> OtherTorch:
        """Start the process; its workers start with the first questions."""
        # Links to exportdiff's packages only: the folder around them may have the torch of this environment.
        self._links = scratch.make()
        for folder in packages():
            pathlib.Path(self._links.name, folder.name).symlink_to(folder, target_is_directory=True)
        self._said = tempfile.TemporaryFile()
        command = [str(self.interpreter.python), "-m", SERVER, "--workers", str(self._workers)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment(PYTHONPATH=self._links.name, **self._settings),
            cwd=self._links.name,
            text=True,
            encoding="utf-8",
            # Ctrl-C in this command must not end the process in the middle of an answer.
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whatever it is doing."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()  # the process ends at the end of its input
            self._process.wait(0.0 if self._open else PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join()
        self._said.close()
        self._links.cleanup()

    def ask(self, question: Question) -> Future[Answer]:
        """Send a question; answers come in any order. If the process ends, the answer is ErrorAnswer."""
        future: Future[Answer] = Future()
        with self._lock:
            number = next(self._numbers)
            self._open[number] = future
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(encoded(number, question) + "\n")
                self._process.stdin.flush()
            except OSError:
                del self._open[number]
                future.set_result(ErrorAnswer(self._ended or "its process ended"))
        return future

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            number, answer = decoded(line)
            with self._lock:
                future = self._open.pop(number)
            future.set_result(answer)  # type: ignore[arg-type]  # only answers come back
        self._said.seek(0)
        last = self._said.read().decode(errors="replace").strip().splitlines()[-1:]
        with self._lock:
            self._ended = ": ".join(["its process ended", *last])
            left, self._open = list(self._open.values()), {}
        for future in left:
            future.set_result(ErrorAnswer(self._ended))
