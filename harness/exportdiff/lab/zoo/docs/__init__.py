"""Models from the examples in the docstrings of torch."""
