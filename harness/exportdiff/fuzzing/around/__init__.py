"""A model that exists, put into the situations that break things: ``fuzz --around``.

A program is text here too: the model's own source, then what each situation adds, then ``make()``. So it is
judged, shown, minimized and written to a repro file like any drawn program, and each situation is a statement
of ``make()`` that the minimizer takes away where the finding does not need it.
"""
