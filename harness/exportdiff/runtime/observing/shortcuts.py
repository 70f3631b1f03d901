"""Makes torch leave out work that only measures itself, or finds again what it has found before."""

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
def shortcuts() -> Iterator[None]:
    """Leave out, in the block, work of torch that changes no result.

    - Dynamo collects garbage after each compilation; whoever judges programs collects it between programs.
    - To log a figure, Dynamo times its guards with an empty processor cache.
    - Export looks at each of about 800 operators several times, to see whether it has loaded all.
    """
    with no_garbage_collected(), no_guards_timed(), operators_loaded_once():
        yield
