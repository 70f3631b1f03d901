"""What to test: Hypothesis strategies that draw random models, and their rendering to Python source.

A random model is a **Program**: plain data that lists module classes, their code, and example inputs. How one
is drawn::

    drawing/   draws classes, inputs and statements with Hypothesis. The abstract machine executes each
               statement on types as soon as it is drawn; a statement that eager would reject is dropped
    naming     gives some parts names that torch uses itself
    machine/   runs the finished Program on types; a Trace records which statements ran
    tidy       removes what the trace shows to be unused
    render/    writes the Python source, which is the model

``draw_program(seed, index)`` does all of this but the last step, the same on every machine. The tables in
ops/, layers/, control, conditions, failures and regions say what may be drawn, and profiles says how often.
tags/ says what a finished Program contains. This package knows nothing of ``exportdiff``, which runs the
source.
"""

from exportdiff_strategies.drawing.programs import programs
from exportdiff_strategies.program import Program
from exportdiff_strategies.render import render
from exportdiff_strategies.seeds import draw_program
from exportdiff_strategies.tags import tags_of

__all__ = ["Program", "draw_program", "programs", "render", "tags_of"]
