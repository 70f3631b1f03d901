"""The Program: an immutable description of a random model. Plain data, no torch objects.

A Program lists its classes bottom-up (a class uses only earlier ones; the root class ``Model`` is last), the
arguments that the model is called with, its training flag, and its dynamic shapes. Other modules import this
package as ``ir`` and write ``ir.Assign``, as code on Python's syntax writes ``ast.Assign``. For example,
``return self.a(x + 1)`` is::

    ir.Return(ir.Call(("a",), (ir.Op("add_one", (ir.Var("x"),)),)))
"""

from exportdiff_strategies.program.classes import *
from exportdiff_strategies.program.construction import *
from exportdiff_strategies.program.expressions import *
from exportdiff_strategies.program.inputs import *
from exportdiff_strategies.program.literals import *
from exportdiff_strategies.program.model import *
from exportdiff_strategies.program.statements import *
from exportdiff_strategies.program.walking import *
