"""Changes torch while a ``with`` block runs: candidate fixes and planted faults."""
