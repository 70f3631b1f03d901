"""Makes torch skip work that changes no result."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from exportdiff.core.torch_versions.running import (
    no_garbage_collected,
    no_guards_timed,
    operators_loaded_once,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def faster_torch() -> Iterator[None]:
    """Skip three things in the block.

    - Dynamo collects garbage after each compilation. exportdiff does that between programs.
    - Dynamo times its guards with an empty processor cache, for a log.
    - Export looks at about 800 operators several times, to see whether it has loaded them all.
    """
    with no_garbage_collected(), no_guards_timed(), operators_loaded_once():
        yield
