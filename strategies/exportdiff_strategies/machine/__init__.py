"""The abstract machine: runs a Program on types only, so that only programs that eager accepts are drawn.

It tracks object identity, storage sharing, gradient history and Python control flow exactly. It tracks sizes
and strides if the op itself decides them, and values only by a bound on their magnitude.
"""

from exportdiff_strategies.machine.binding import bind
from exportdiff_strategies.machine.inputs import arguments
from exportdiff_strategies.machine.limits import CALLS, FUEL
from exportdiff_strategies.machine.machine import Machine
from exportdiff_strategies.machine.statements import Raised
from exportdiff_strategies.machine.tensors import LAYOUTS, LAZY, new_tensor

__all__ = ["CALLS", "FUEL", "LAYOUTS", "LAZY", "Machine", "Raised", "arguments", "bind", "new_tensor"]
