"""How large a Program may be, in what it executes."""

FUEL = 14
"""Tensor ops that one call of the model may execute: small programs are fast to test and easy to read."""

CALLS = 3
"""Consecutive calls that a Program must survive, because the harness calls every model this often."""

ELEMENTS = 64
"""No tensor has more elements."""

NESTING = 12
"""No call nests deeper. This stops a method that calls itself without end."""

ROUNDS = 4
"""No counted loop has more rounds."""
