"""Settings of the process in which a model is exported and lowered; the calls are made outside of them.

A program is what was exported: what export reads from the process must not change afterwards. The reverse, a
call in another setting, is a deviation (``runtime/inputs/deviations.py``).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@transform("setting", "nonstrict:module", cost=40)
def under_no_grad() -> AbstractContextManager[object]:
    """A program that is exported and lowered under no_grad is as any other."""
    return torch.no_grad()


# Not decomposed: in inference mode, equal operators are merged.
@transform("setting", "nonstrict:module", cost=40)
def under_inference_mode() -> AbstractContextManager[object]:
    """A program that is exported and lowered in inference mode is as any other."""
    return torch.inference_mode()


@transform("setting", "nonstrict:module", in_eager=True, not_promised=("deviations", "predictions"), cost=40)
def under_float64() -> AbstractContextManager[object]:
    """A program that is exported while the default dtype is float64 returns what eager returned there."""
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        return stack.pop_all()


@transform("setting", "nonstrict:module", in_eager=True, not_promised=("deviations", "predictions"), cost=40)
def under_autocast() -> AbstractContextManager[object]:
    """A program that is exported under autocast casts as eager did there."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


@transform("setting", "nonstrict:module", cost=40)
def under_other_modes() -> AbstractContextManager[object]:
    """A default device, other numbers of threads and deterministic algorithms change no program."""
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        stack.callback(torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode())
        stack.enter_context(torch.device("cpu"))
        torch.set_num_threads(3)
        torch.set_deterministic_debug_mode("warn")
        return stack.pop_all()
