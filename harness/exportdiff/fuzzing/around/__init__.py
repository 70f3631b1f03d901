"""Programs around an existing model, which is used in situations that often break: ``fuzz --around``.

A program is text: the source of the model, then what each situation adds, then ``make()``. So it is judged,
shown, minimized and written to a repro file like any drawn program. Each situation is a statement of
``make()``, which the minimizer removes if the finding does not need it.
"""
