"""Records everything that is seen while a model runs, as plain data: tensors, state, aliasing, graphs.

``observation`` has the classes of observations. Nothing here compares two of them.
"""
