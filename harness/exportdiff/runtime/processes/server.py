"""The fork server: a process that has imported torch and has run nothing else (see ``preload``)."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import contextmanager
from multiprocessing import forkserver
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.core.own_code import import_folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import ForkServerContext


SAFE_PATH = "exportdiff"
"""The value of PYTHONSAFEPATH for the server; any text has the same effect. Children do not inherit it."""


def server(*modules: str) -> ForkServerContext:
    """Return the context that forks children from the server; the first call starts the server.

    The first call may name ``modules`` that the server, and so each child, imports as well as torch. A server
    that is killed and starts again imports them too. Raises UsageError on a platform without fork.
    """
    try:
        context = multiprocessing.get_context("forkserver")
    except ValueError:
        raise UsageError("this platform has no fork server: run on Linux or macOS") from None
    _modules.update(dict.fromkeys(modules))
    context.set_forkserver_preload(
        ["exportdiff.runtime.processes.preload", *_modules, "exportdiff.runtime.processes.freeze"]
    )
    with _starting, _environment():
        forkserver.ensure_running()
    return context


_modules: dict[str, None] = {}
"""The modules that calls of ``server`` have named, in order."""


def server_pid() -> int:
    """Return the id of the fork server's process, which must have been started."""
    pid = vars(forkserver._forkserver)["_forkserver_pid"]
    assert isinstance(pid, int)
    return pid


_starting = threading.Lock()
"""Taken while the environment variables are changed, because several threads may start children."""


@contextmanager
def _environment() -> Iterator[None]:
    """Set the environment variables that the server starts with, and restore ours afterwards.

    PYTHONSAFEPATH: without it, Python would import a json.py of the current folder instead of its own.

    PYTHONPATH: the server finds this package by it, not by our ``sys.path``. What the user has put there
    comes first, as it does for us: it may have another torch than the folder where exportdiff is installed.

    PYTHONHASHSEED: torch iterates over sets of strings, so only a fixed hash seed gives every campaign the
    same findings. PYTHONWARNINGS: a child that is killed cannot give back its semaphores (tqdm makes one, and
    torch.fx uses tqdm where it is installed); multiprocessing's resource tracker does that, and need not warn
    the user of it.
    """
    before = dict(os.environ)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (before.get("PYTHONPATH"), *import_folders())))
    os.environ.setdefault("PYTHONHASHSEED", "0")
    os.environ.setdefault("PYTHONSAFEPATH", SAFE_PATH)
    quiet = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before.get("PYTHONWARNINGS"), quiet)))
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONSAFEPATH", "PYTHONWARNINGS"):
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]
