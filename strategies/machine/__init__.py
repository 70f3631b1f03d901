"""The abstract machine: runs a Program on types only, so that only programs that eager accepts are drawn.

It tracks object identity, storage sharing, gradient history and Python control flow exactly. It tracks sizes
and strides if the op itself decides them, and values only by a bound on their magnitude.
"""

from strategies.machine.binding import bind
from strategies.machine.inputs import arguments
from strategies.machine.limits import CALLS, FUEL
from strategies.machine.machine import Machine
from strategies.machine.statements import Raised
from strategies.machine.tensors import LAYOUTS, LAZY, new_tensor

__all__ = ["CALLS", "FUEL", "LAYOUTS", "LAZY", "Machine", "Raised", "arguments", "bind", "new_tensor"]
