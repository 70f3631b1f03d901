"""The abstract machine as a whole: it builds and calls models."""

from __future__ import annotations

from collections.abc import Iterable

from exportdiff_strategies import program as ir
from exportdiff_strategies.flow import DataFlow
from exportdiff_strategies.machine.construction import Builder
from exportdiff_strategies.machine.inputs import arguments
from exportdiff_strategies.machine.limits import CALLS, FUEL
from exportdiff_strategies.machine.statements import StatementRunner
from exportdiff_strategies.ops import Rejected
from exportdiff_strategies.values import Value, tensors_in


class Machine(StatementRunner):
    """Builds and runs instances of a Program's classes. Every method raises Rejected where eager raises."""

    def __init__(self, classes: Iterable[ir.ClassDef], training: bool = False) -> None:
        """Prepare to run instances of these classes; ``training``: the model is in train mode."""
        super().__init__(training)
        self.classes: dict[str, ir.ClassDef] = {cls.name: cls for cls in classes}
        self.builder = Builder(self.classes, training)

    def accepts(self, program: ir.Program) -> bool:
        """Whether eager runs the Program for CALLS consecutive calls, and then for every probe."""
        try:
            self.run_program(program)
        except Rejected:
            return False
        return True

    def run_program(self, program: ir.Program) -> list[Value]:
        """The results of CALLS consecutive calls and of every probe. Raises Rejected where eager raises."""
        model = self.builder.build(ir.New(program.root.name), None, self.trace)
        if self.trace is not None:
            self.trace.model = model
        results = []
        probes = program.dynamic.probes if program.dynamic is not None else ()
        for sizes in (*((),) * CALLS, *probes):
            args, kwargs = arguments(program, sizes)
            if self.trace is not None:
                self.trace.flow = DataFlow()
            results.append(self.call(model, args, kwargs, [FUEL]))
            if self.trace is not None:
                given = [*tensors_in([*args, *kwargs.values()])]
                for output in tensors_in([results[-1]]):
                    self.trace.marks.update(self.trace.flow.note_output(output, given))
                self.trace.results.append(([*args, *kwargs.values()], results[-1]))
        return results
