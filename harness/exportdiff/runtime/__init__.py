"""Runs a case along paths and records what happens, in child processes with limits.

The result is an observation for each path: outputs, state, aliasing, gradients, graphs, errors. This package
does not know what is right: it compares nothing, and knows no finding, no corpus and no campaign.
"""
