"""Says whether a script failed because this torch lacks something that the script names.

The exception decides it: its type, and what it carries. Its message is not read.
"""

from __future__ import annotations

import dis
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


def torch_lacks_it(error: BaseException, file: str) -> bool:
    """Say whether ``error`` means that torch lacks a module, a name or an argument that ``file`` uses."""
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] == "torch"
    innermost = _innermost(error.__traceback__)
    raised_by_file = innermost is not None and innermost.tb_frame.f_code.co_filename == file
    if isinstance(error, AttributeError):
        # torch's modules and operator namespaces look names up in functions of torch.
        return _of_torch(error.obj) and (raised_by_file or isinstance(error.obj, ModuleType | type))
    # A call whose function did not begin: it does not take these arguments.
    return isinstance(error, TypeError) and raised_by_file and innermost is not None and _calls(innermost)


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _of_torch(thing: object) -> bool:
    if isinstance(thing, ModuleType):
        name = thing.__name__
    else:
        name = (thing if isinstance(thing, type) else type(thing)).__module__
    return name.partition(".")[0] == "torch"


def _calls(trace: TracebackType) -> bool:
    """Say whether the instruction that failed is a call."""
    return any(
        instruction.offset == trace.tb_lasti and instruction.opname.startswith("CALL")
        for instruction in dis.get_instructions(trace.tb_frame.f_code)
    )
