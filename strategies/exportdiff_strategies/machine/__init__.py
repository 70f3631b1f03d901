"""The abstract machine: runs a Program on types only, so that only programs that eager accepts are drawn.

For example, it knows that ``x.t_()`` turns a tensor of shape (2, 3) into one of shape (3, 2) under all of its
names, and that eager raises if ``x`` is a leaf that requires grad. It tracks object identity, storage
sharing, gradient history and Python control flow exactly. It tracks sizes and strides if the op itself
decides them, and values only by a bound on their magnitude. It raises Rejected where eager would raise.

The class Machine is built in steps: OperatorRunner (operators) executes ops and layers, ExpressionRunner
evaluates expressions, CallRunner calls modules, StatementRunner executes statements, and Machine runs whole
Programs. Builder (construction) executes ``__init__``; autograd and memory hold the rules that eager checks.
"""

from exportdiff_strategies.machine.binding import bind
from exportdiff_strategies.machine.inputs import arguments
from exportdiff_strategies.machine.limits import CALLS, FUEL
from exportdiff_strategies.machine.machine import Machine
from exportdiff_strategies.machine.statements import Raised
from exportdiff_strategies.machine.tensors import LAYOUTS, LAZY, new_tensor

__all__ = ["CALLS", "FUEL", "LAYOUTS", "LAZY", "Machine", "Raised", "arguments", "bind", "new_tensor"]
